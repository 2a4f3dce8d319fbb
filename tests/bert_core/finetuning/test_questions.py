"""Windows of passages: answers at exactly their tokens, in every window that contains them."""

import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

from bert_core.errors import InputError
from bert_core.finetuning import Batch, Question, question_batch
from bert_core.text.encoding import Encoding
from bert_core.text.tokenizer import BertTokenizer

PASSAGE = "the old mill stands by the green river and the red boat is near the mill"


class Drawn(NamedTuple):
    """A row whose answer is made of whole tokens, and how many."""

    row: Question
    tokens: int


def draw(tokenizer: BertTokenizer, chooser: random.Random, words: list[str]) -> Drawn | None:
    """Choose an answer that begins and ends where tokens do; None where there is no token."""
    context = "".join(word + chooser.choice([" ", " ", "", "\n", "  "]) for word in words)
    offsets = tokenizer.encode(context).offsets[1:-1]
    if not offsets:
        return None
    first = chooser.randrange(len(offsets))
    last = min(first + chooser.randrange(6), len(offsets) - 1)
    start = min(at for at, _ in offsets[first : last + 1])
    end = max(to for _, to in offsets[first : last + 1])
    if not context[start:end].strip():
        return None
    covered = sum(at < end and to > start for at, to in offsets)
    return Drawn(Question("where is it?", context, context[start:end], start), covered)


def read(batch: Batch, number: int, window: Encoding) -> str | None:
    """The characters that the positions of a window point at; None for "no answer"."""
    start, end = int(batch["start_positions"][number]), int(batch["end_positions"][number])
    if (start, end) == (0, 0):
        return None
    spans = window.offsets[start : end + 1]
    assert set(window.sequence_ids[start : end + 1]) == {1}
    assert window.text_pair is not None
    return window.text_pair[min(at for at, _ in spans) : max(to for _, to in spans)]


def test_positions_give_back_exactly_the_answer_s_characters(
    tokenizer: BertTokenizer, strange_word: Callable[[], str]
) -> None:
    chooser = random.Random(11)
    held = outside = 0
    for _ in range(120):
        words = [strange_word() for _ in range(chooser.randrange(1, 30))]
        drawn = draw(tokenizer, chooser, words)
        if drawn is None:
            continue
        row, tokens = drawn
        length = chooser.randrange(18, 40)
        stride = chooser.randrange(length - 12)  # the question has 5 tokens
        batch = question_batch(tokenizer, [row], max_length=length, stride=stride)
        windows = tokenizer.encode_windows(
            row.question, row.context, max_length=length, stride=stride
        )
        found = [read(batch, number, window) for number, window in enumerate(windows)]
        assert len(batch["input_ids"]) == len(windows)
        assert set(found) <= {None, row.answer}
        if tokens <= stride + 1 or len(windows) == 1:
            assert row.answer in found
        assert batch.missed == (row.answer not in found)
        held += len(found) - found.count(None)
        outside += found.count(None)
    assert held > 80
    assert outside > 80


def test_windows_are_those_of_the_tokenizer(tokenizer: BertTokenizer) -> None:
    rows = [
        Question("where is the mill?", PASSAGE, "by the green river", 20),
        Question("who?", "a cat", None),
        Question("who?", "", None),
    ]
    batch = question_batch(tokenizer, rows, max_length=18, stride=4)
    windows = [
        window
        for row in rows
        for window in tokenizer.encode_windows(row.question, row.context, max_length=18, stride=4)
    ]
    assert len(windows) == 4
    for number, window in enumerate(windows):
        length = len(window)
        assert batch["input_ids"][number, :length].tolist() == window.input_ids
        assert batch["token_type_ids"][number, :length].tolist() == window.token_type_ids
        assert batch["attention_mask"][number].sum() == length
        assert not batch["input_ids"][number, length:].any()
        assert not batch["token_type_ids"][number, length:].any()


def test_the_marked_one_of_two_equal_answers_counts_and_tokens_are_covered_whole(
    tokenizer: BertTokenizer,
) -> None:
    row = Question("where?", PASSAGE, "the mill", PASSAGE.rindex("the mill"))
    batch = question_batch(tokenizer, [row], max_length=32, stride=3)
    last = int(batch["attention_mask"].sum()) - 1
    assert batch["start_positions"].tolist() == [last - 2]
    assert batch["end_positions"].tolist() == [last - 1]
    inside = Question("what?", "the bridge", "ridg", 5)
    batch = question_batch(tokenizer, [inside], max_length=12, stride=2)
    (token,) = batch["start_positions"].tolist()
    assert batch["end_positions"].tolist() == [token]
    assert tokenizer.ids_to_tokens[int(batch["input_ids"][0, token])] == "bridge"


def test_a_question_too_long_is_cut_and_counted(tokenizer: BertTokenizer) -> None:
    row = Question("the cat " * 100, PASSAGE, "river", 33)
    batch = question_batch(tokenizer, [row], max_length=23, stride=4)
    first = batch["token_type_ids"][0].tolist().index(1)
    assert first == 8 + 2
    assert batch.truncated == 200 - 8
    assert batch["input_ids"].shape[1] <= 23
    assert batch["start_positions"].any()


def test_windows_that_cannot_move_on_and_answers_without_tokens_are_refused(
    tokenizer: BertTokenizer,
) -> None:
    row = Question("who?", PASSAGE, None)
    for stride in (12, -1):
        with pytest.raises(InputError, match=f"12 tokens.*stride={stride} .*from 0 to 10"):
            question_batch(tokenizer, [row], max_length=15, stride=stride)
    assert len(question_batch(tokenizer, [row], max_length=15, stride=10)["input_ids"]) > 1
    row = Question("who?", "the \x07\u200b cat", "\x07\u200b", 4)
    with pytest.raises(InputError, match="characters give no token"):
        question_batch(tokenizer, [row], max_length=15, stride=2)

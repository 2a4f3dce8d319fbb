"""Batches of texts, words and choices: ids of the tokenizer, labels where they belong."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from bert_core.errors import InputError
from bert_core.finetuning import (
    Choices,
    LabelledText,
    TaggedWords,
    choice_batch,
    text_batch,
    word_batch,
)
from bert_core.text.tokenizer import BertTokenizer

Word = Callable[[], str]
NAMES = ("input_ids", "token_type_ids", "attention_mask")


def tagged(words: Sequence[str]) -> TaggedWords:
    """Words whose tags are their own numbers."""
    return TaggedWords(tuple(words), tuple(range(len(words))))


def inputs_of(batch: dict[str, torch.Tensor], row: int) -> tuple[list[int], list[int]]:
    """Ids and labels of one input without its padding."""
    length = int(batch["attention_mask"][row].sum())
    return batch["input_ids"][row, :length].tolist(), batch["labels"][row, :length].tolist()


def check_rows(
    tokenizer: BertTokenizer, batch: dict[str, torch.Tensor], texts: Sequence[Any]
) -> None:
    """Check that every input is the encoding of its text or pair, padded with zeros."""
    flat = {name: batch[name].flatten(0, -2) for name in NAMES}
    for number, (first, second) in enumerate(texts):
        encoding = tokenizer.encode(first, second)
        padding = [0] * (flat["input_ids"].shape[1] - len(encoding))
        for name in NAMES:
            assert flat[name][number].tolist() == getattr(encoding, name) + padding


def test_texts_are_encoded_as_the_tokenizer_does_and_padded(tokenizer: BertTokenizer) -> None:
    rows = [
        LabelledText("the old mill", 2),
        LabelledText("the cat sat on the hill", 0, "who sat ?"),
        LabelledText("", 1),
    ]
    batch = text_batch(tokenizer, rows, max_length=32)
    assert list(batch) == [*NAMES, "labels"]
    assert batch["labels"].tolist() == [2, 0, 1]
    assert batch["input_ids"].shape == (3, 12)
    check_rows(tokenizer, batch, [(row.text, row.text_pair) for row in rows])
    assert batch.truncated == 0


def test_every_choice_is_paired_with_its_context(tokenizer: BertTokenizer) -> None:
    rows = [
        Choices("the cat sat", ("on the hill", "by the old mill"), 1),
        Choices("a boat", ("flies", "is red"), 0),
    ]
    batch = choice_batch(tokenizer, rows, max_length=20)
    assert batch["input_ids"].shape == (2, 2, 10)
    assert batch["labels"].tolist() == [1, 0]
    check_rows(tokenizer, batch, [(row.context, each) for row in rows for each in row.choices])
    assert choice_batch(tokenizer, rows, max_length=9).truncated == 1


def test_what_is_cut_off_is_counted(tokenizer: BertTokenizer) -> None:
    rows = [LabelledText("the cat sat on the hill", 1), LabelledText("the cat", 0)]
    batch = text_batch(tokenizer, rows, max_length=5)
    assert batch["input_ids"].shape == (2, 5)
    assert batch.truncated == 3
    pair = [LabelledText("the cat", 0, "sat on the hill")]
    batch = text_batch(tokenizer, pair, max_length=7, truncation="only_second")
    assert tokenizer.convert_ids_to_tokens(batch["input_ids"][0]) == [
        *("[CLS]", "the", "cat", "[SEP]", "sat", "on", "[SEP]")
    ]
    assert batch.truncated == 2


def test_the_first_piece_of_a_word_bears_its_tag(tokenizer: BertTokenizer) -> None:
    row = TaggedWords(("Unhappy", "dogs", "\x07", "played", "."), (3, 4, 5, 6, -100))
    ids, labels = inputs_of(word_batch(tokenizer, [row], max_length=32), 0)
    tokens = tokenizer.convert_ids_to_tokens(ids)
    assert tokens == ["[CLS]", "un", "##happy", "dog", "##s", "play", "##ed", ".", "[SEP]"]
    assert labels == [-100, 3, -100, 4, -100, 6, -100, -100, -100]


def test_long_rows_go_on_in_further_inputs_and_lose_nothing(
    tokenizer: BertTokenizer, strange_word: Word
) -> None:
    chooser = random.Random(4)
    for _ in range(100):
        rows = [tagged([strange_word() for _ in range(chooser.randrange(30))]) for _ in range(3)]
        length = chooser.randrange(3, 20)
        cut = word_batch(tokenizer, rows, max_length=length)
        whole = word_batch(tokenizer, rows, max_length=5000)
        assert cut["input_ids"].shape[1] <= length
        assert cut.truncated == 0
        pieces = [inputs_of(cut, row) for row in range(len(cut["labels"]))]
        for kind in (0, 1):
            together = [value for piece in pieces for value in piece[kind][1:-1]]
            apart = [value for row in range(3) for value in inputs_of(whole, row)[kind][1:-1]]
            assert together == apart


def test_a_word_longer_than_an_input_goes_on_in_the_next(tokenizer: BertTokenizer) -> None:
    batch = word_batch(tokenizer, [tagged(["the", "ABC-xyz", "cat"])], max_length=5)
    assert [tokenizer.decode(inputs_of(batch, number)[0]) for number in range(4)] == [
        *("the", "abc", "- xy", "##z cat")
    ]
    labels = [[0, -100, -100], [1, -100, -100], [-100, -100, -100], [-100, 2, -100]]
    assert batch["labels"][:, 1:4].tolist() == labels


REFUSED: list[tuple[Callable[[BertTokenizer], object], str]] = [
    *(
        (lambda tokenizer, make=make: make(tokenizer, [], max_length=8), "no rows")
        for make in (text_batch, word_batch, choice_batch)
    ),
    (
        lambda tokenizer: choice_batch(
            tokenizer, [Choices("a", ("b", "c"), 0), Choices("a", ("b", "c", "d"), 0)], max_length=8
        ),
        "from 2 to 3 choices",
    ),
    (
        lambda tokenizer: word_batch(tokenizer, [tagged(["cat"])], max_length=2),
        r"max_length is 2.*at least 3",
    ),
    (
        lambda tokenizer: text_batch(tokenizer, [LabelledText("cat", 0)], max_length=1),
        "max_length is 1",
    ),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_batches_without_rows_or_room_are_refused(
    make: Callable[[BertTokenizer], object], says: str, tokenizer: BertTokenizer
) -> None:
    with pytest.raises(InputError, match=says):
        make(tokenizer)

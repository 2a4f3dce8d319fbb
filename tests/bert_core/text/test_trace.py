"""The step-by-step view ends where the tokenizer ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bert_core.text.tokenizer import BertTokenizer
from bert_core.text.trace import Trace, WordTrace


def replayed(word: WordTrace) -> tuple[str, ...]:
    """What the attempts alone say."""
    if word.special:
        return (word.text,)
    found = tuple(attempt.piece for attempt in word.attempts if attempt.found)
    return found if word.attempts and word.attempts[-1].found else ("[UNK]",)


def check(tokenizer: BertTokenizer, text: str) -> None:
    trace, encoding = tokenizer.trace(text), tokenizer.encode(text)
    found = (trace.tokens, trace.ids, trace.offsets)
    inside = slice(1, -1)
    expected = encoding.tokens[inside], encoding.input_ids[inside], encoding.offsets[inside]
    assert found == expected, text
    assert [piece for word in trace.words for piece in replayed(word)] == trace.tokens, text
    numbers = [at for at, word in enumerate(trace.words) for _ in word.pieces]
    assert numbers == encoding.word_ids[inside], text
    for word in trace.words:
        assert word.text == text[word.start : word.end]
        assert (word.unknown_reason is None) == (word.pieces != ("[UNK]",) or word.special)


def test_running_text_and_strange_texts_replayed(
    peers: Any, running_text: list[str], strange_texts: list[str]
) -> None:
    for text in (*running_text[:100], *strange_texts[-400:]):
        check(peers.ours, text)


def test_texts_replayed_without_basic_tokenization(
    vocab_file: Path, strange_texts: list[str]
) -> None:
    tokenizer = BertTokenizer(vocab_file, do_basic_tokenize=False)
    for text in strange_texts[:300]:
        check(tokenizer, text)


@pytest.fixture
def small(make_vocab: Callable[..., Path]) -> BertTokenizer:
    return BertTokenizer(make_vocab(["un", "##aff", "##able", "creme", "x", "y", "!", "海"]))


def test_every_stage_is_shown(small: BertTokenizer) -> None:
    trace = small.trace("\u200bCrème\t海[MASK]!")
    assert isinstance(trace, Trace)
    assert trace.text == "\u200bCrème\t海[MASK]!"
    assert trace.cleaned == "Crème  海 [MASK]!"
    assert trace.stripped == "Creme  海 [MASK]!"
    assert trace.normalized == "creme  海 [MASK]!"
    assert [word.normalized for word in trace.words] == ["creme", "海", "[MASK]", "!"]
    assert [word.special for word in trace.words] == [False, False, True, False]
    assert (trace.words[0].start, trace.words[0].end) == (1, 6)


def test_every_failed_look_up_is_shown(small: BertTokenizer) -> None:
    (word,) = small.trace("Unaffx").words
    assert [(attempt.piece, attempt.found) for attempt in word.attempts] == [
        ("unaffx", False),
        ("unaff", False),
        ("unaf", False),
        ("una", False),
        ("un", True),
        ("##affx", False),
        ("##aff", True),
        ("##x", False),
    ]
    assert word.pieces == ("[UNK]",)
    assert word.offsets == ((0, 6),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * 101, "101 characters; none of more than 100"),
        ("unя", "No piece of the vocabulary contains “я” (U+044F)"),
        ("affable", "none of them begins this word"),
        ("unaffx", "After “unaff” no continuation (a piece with ##) fits “x”"),
    ],
)
def test_the_reason_of_an_unknown_word(small: BertTokenizer, text: str, reason: str) -> None:
    (word,) = small.trace(text).words
    assert word.unknown_reason is not None
    assert reason in word.unknown_reason


def test_unk_written_in_the_text_is_no_unknown_word(small: BertTokenizer) -> None:
    (word,) = small.trace("[UNK]").words
    assert word.special
    assert word.unknown_reason is None

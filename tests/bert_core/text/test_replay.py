"""The replay of BPE and Unigram ends in the pieces of `tokenizers`."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from bert_core.text.family import FamilyTokenizer
from bert_core.text.replay import LONGEST, BpeWord, Merge, UnigramWord, merges_of
from tests.bert_core.text.conftest import strange_text
from tests.bert_core.text.test_tokenizer_parity import NASTY


@pytest.fixture(scope="module")
def words(running_text: list[str]) -> list[str]:
    """Different words: of texts, put together from them, and of all scripts."""
    chooser = random.Random(7)
    real = sorted({word for line in running_text for word in line.split()})
    found = dict.fromkeys(real)
    while len(found) < 2_000:
        first, second = chooser.choices(real, k=2)
        cut = chooser.randrange(len(first) + 1)
        found[first[:cut] + second[chooser.randrange(len(second)) :]] = None
    while len(found) < 2_500:
        found["".join(strange_text(chooser).split())] = None
    found.pop("", None)
    return list(found)


ALIKE = ("xlm-roberta", "camembert")  # their pieces are chosen as ALBERT's are
KINDS = ["roberta", "albert", *(pytest.param(each, marks=pytest.mark.slow) for each in ALIKE)]


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest, files: dict[str, Path]) -> FamilyTokenizer:
    return FamilyTokenizer.from_pretrained(files[request.param])


def test_two_thousand_words_are_cut_as_by_rust(
    tokenizer: FamilyTokenizer, words: list[str]
) -> None:
    rust: Any = Tokenizer.from_str(tokenizer.saved_files()["tokenizer.json"].decode())
    seen, steps = 0, 0
    for word in words:
        peer = rust.encode(f"a {word}", add_special_tokens=False)
        trace = tokenizer.trace(f"a {word}")
        assert (trace.ids, trace.offsets) == (peer.ids, peer.offsets), word
        assert trace.tokens == [rust.id_to_token(number) for number in peer.ids]
        for each in trace.words:
            if each.special:
                continue
            seen += 1
            steps += check(tokenizer, each)
    assert seen > 2_000 and steps > 2_000


def check(tokenizer: FamilyTokenizer, word: Any) -> int:
    """Follow the steps of a word to its pieces; return how many there were."""
    if isinstance(word, BpeWord):
        symbols = list(word.symbols)
        for at, pair, rank in word.merges:
            ranked = [tokenizer.ranks.get(each) for each in pairwise(symbols)]
            assert rank == min(each for each in ranked if each is not None)
            assert ranked.index(rank) == at and tuple(symbols[at : at + 2]) == pair
            symbols[at : at + 2] = ["".join(pair)]
        assert tuple(symbols) == word.pieces
        return len(word.merges)
    assert isinstance(word, UnigramWord)
    scores = [tokenizer.scores[piece] for piece in word.pieces]
    if tokenizer.unk_token in word.pieces:
        assert word.unknown_reason is not None and word.score < min(tokenizer.scores.values())
    else:
        assert word.unknown_reason is None and word.score == pytest.approx(sum(scores))
    return len(scores)


def test_every_nasty_text_is_traced(tokenizer: FamilyTokenizer) -> None:
    for text in (*NASTY.values(), f"a {tokenizer.mask_token} <pad> b", "x" * (LONGEST + 1)):
        trace = tokenizer.trace(text)
        encoding = tokenizer.encode(text)
        assert trace.tokens == tokenizer.tokenize(text)
        own = [
            span for span, n in zip(encoding.offsets, encoding.sequence_ids, strict=True) if n == 0
        ]
        assert trace.offsets == own
        for word in trace.words:
            assert word.text == text[word.start : word.end]


def test_special_tokens_and_long_words_have_no_steps(tokenizer: FamilyTokenizer) -> None:
    mask = tokenizer.mask_token
    words = tokenizer.trace(f"a {mask} {'ab' * LONGEST}").words
    special = next(word for word in words if word.special)
    assert special.pieces == (mask,) and mask in special.text
    for word in (special, words[-1]):
        assert not getattr(word, "merges", ())
    assert mask in tokenizer.trace(f"É {mask}").normalized


def test_equal_pairs_are_merged_from_the_left() -> None:
    merges, pieces = merges_of("aaa", {("a", "a"): 5})
    assert (merges, pieces) == ((Merge(0, ("a", "a"), 5),), ("aa", "a"))
    assert merges_of("", {("a", "a"): 5}) == ((), ())

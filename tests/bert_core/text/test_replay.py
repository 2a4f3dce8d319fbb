"""The replay of BPE and Unigram ends in the pieces of `tokenizers`."""

import random
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from bert_core.text.family import FamilyTokenizer
from bert_core.text.replay import LONGEST, BpeWord, Merge, Segmenter, UnigramWord, merges_of
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
    assert word.best, word
    pieces = [piece if piece in tokenizer.scores else None for piece in word.best[0].pieces]
    known = [piece for piece in pieces if piece is not None]
    assert known == [piece for piece in word.pieces if piece != tokenizer.unk_token]
    assert word.score == pytest.approx(word.best[0].score)
    scores = [each.score for each in word.best]
    assert scores == sorted(scores, reverse=True)
    assert len({each.pieces for each in word.best}) == len(scores)
    for each in word.best:
        assert "".join(each.pieces) == word.normalized
        assert sum(each.scores) == pytest.approx(each.score)
    if None not in pieces:
        assert word.score == pytest.approx(sum(tokenizer.scores[piece] for piece in word.pieces))
    assert (word.unknown_reason is None) == (None not in pieces)
    return len(pieces)


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
        assert not (word.merges if isinstance(word, BpeWord) else word.best)  # type: ignore[attr-defined]
    assert mask in tokenizer.trace(f"É {mask}").normalized


def test_equal_pairs_are_merged_from_the_left() -> None:
    merges, pieces = merges_of("aaa", {("a", "a"): 5})
    assert (merges, pieces) == ((Merge(0, ("a", "a"), 5),), ("aa", "a"))
    assert merges_of("", {("a", "a"): 5}) == ((), ())


def test_a_segmentation_by_hand() -> None:
    (best, *_) = Segmenter({"a": -1.0, "b": -2.0, "ab": -2.5, "bc": -4.0}).best("abc")
    assert (best.pieces, best.score) == (("a", "bc"), -5.0)
    (unknown,) = Segmenter({"a": -1.0, "b": -2.0}).best("ax")
    assert unknown.score == -1.0 + (-2.0 - 10.0)


def test_the_best_segmentations_are_the_best_of_all() -> None:
    chooser = random.Random(5)
    pieces = {"".join(each) for n in (1, 2, 3) for each in product("ab", repeat=n)} - {"b"}
    scores = {piece: -chooser.uniform(1, 9) for piece in sorted(pieces)}
    unknown = min(scores.values()) - 10.0
    for word in ("abba", "bbbab", "aabbabab"):
        every = {}
        for cuts in product((0, 1), repeat=len(word) - 1):
            ends = [at for at, cut in enumerate(cuts, 1) if cut]
            parts = [word[a:b] for a, b in pairwise([0, *ends, len(word)])]
            if all(part in scores or len(part) == 1 for part in parts):
                every[tuple(parts)] = sum(scores.get(part, unknown) for part in parts)
        found = Segmenter(scores).best(word, 7)
        assert len({each.pieces for each in found}) == 7
        largest = sorted(every.values(), reverse=True)[:7]
        assert [every[each.pieces] for each in found] == pytest.approx(largest)
        assert [each.score for each in found] == pytest.approx(largest)

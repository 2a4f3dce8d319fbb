"""Ids, offsets and every other list equal those of the reference."""

import random
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tokenizers import BertWordPieceTokenizer

from bert_core.errors import InputError
from bert_core.text.encoding import Encoding
from bert_core.text.tokenizer import BertTokenizer

NASTY = {
    "empty": "",
    "one blank": " ",
    "blanks": "   \t\n \u3000 ",
    "blanks around": "  the cat  sat ",
    "nothing visible": "\u200b\u200d\ufeff",
    "a NUL": "a\x00b \x00 c",
    "controls": "a\x07b\x1b[31m d\u202etxt.exe\u200b e\x7f",
    "line breaks": "the cat\n\n\tsat\r\non the mat\u2028x\u2029y\x85z",
    "capitals with dots": "İSTANBUL Istanbul ıI",
    "sharp s": "straße STRAẞE",
    "ligatures": "ﬁne ﬂow eﬃcient ǅ",
    "sigma at the end": "ΣΟΦΟΣ ΣΑΣ Σ",
    "composed accents": "Ünïcödé naïve Å résumé",
    "decomposed accents": "U\u0308ni\u0308 re\u0301sume\u0301",
    "a pile of accents": "Z\u0351\u036b\u0343\u036a\u0302a\u0349\u034b\u036clgo",
    "accent first": "\u0301a \u0301 \u0301\u0302",
    "Chinese": "我们明天去看海。",
    "Chinese extensions": "\U00020000\U0002a6d6\U0002b740x\U0002b920\U0002ceb0\U0002f800\uf900",
    "Japanese": "カタカナとひらがな、漢字「テスト」ｶﾞ",
    "Hangul": "한국어 ᄒ각 한\u302e국",
    "right to left": "القطة تنام והכלב ישן the cat",
    "points and marks": "שָׁלוֹם عَرَبِيّ हिन्दी ไทย བོད་",
    "emoji": "👩‍🚀🍀 cat ☕️ 👍🏽🇩🇪1️⃣",
    "mathematics": "x≮y ≠ ½ ² 𝒜𝓁 ∑∫ ﹤",
    "private use": "a\ue000b \U000f0000 \U0010fffd",
    "no characters": "a\ufffeb\uffff\ufdd0\U0001ffff",
    "special tokens": "[CLS] the [SEP] cat [PAD] [UNK] [MASK]",
    "special tokens close together": "[MASK][MASK]cat[MASK]. [mask] [ MASK ] [MASK",
    "special tokens and marks": "[MASK]\u0301 \u0301[MASK] [MA\u200dSK] 中[MASK]中",
    "brackets": "[[MASK]] [[SEP]x]]",
    "continuations": "##ing cat##s # ## ###",
    "punctuation": "don't U.S.A. e-mail@x.org $3.50 (50%) `a` ¿qué? «oui» ‘x’ … — ؟ 、",
    "markup": "<script>alert('hi')</script> &amp; **bold**",
    "99, 100 and 101 letters": f"{'a' * 99} {'a' * 100} {'a' * 101}",
    "a word of 300 letters": "a" * 300 + " " + "é" * 300 + "b\u0301" * 100,
    "long without blanks": "the,cat." * 40 + "的" * 90 + "кот" * 50 + "[MASK]" + "คน" * 60,
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY.keys())
def test_nasty_strings(peers: Any, text: str) -> None:
    assert peers.differences([text]) == []
    assert peers.ours.tokenize(text) == peers.ours.encode(text).tokens[1:-1]
    assert peers.ours.encode_ids([text]) == [peers.ours.encode(text).input_ids]


def test_twenty_thousand_strange_texts(peers: Any, strange_texts: list[str]) -> None:
    assert peers.differences(strange_texts) == []


def test_running_text_in_many_scripts(peers: Any, running_text: list[str]) -> None:
    assert peers.differences(running_text) == []
    assert peers.differences(["\n".join(running_text)]) == []


def test_many_texts_at_once_are_the_texts_one_by_one(peers: Any, strange_texts: list[str]) -> None:
    texts = [*NASTY.values(), *strange_texts[:2_000]]
    assert peers.ours.encode_batch(texts) == [peers.ours.encode(text) for text in texts]
    assert peers.ours.encode_ids(texts) == [peers.ours.encode(text).input_ids for text in texts]


def test_a_real_vocabulary(minilm: Path, running_text: list[str], strange_texts: list[str]) -> None:
    path = str(minilm / "vocab.txt")
    ours, rust = BertTokenizer(path), BertWordPieceTokenizer(path)
    texts = [*running_text, *NASTY.values(), *strange_texts[:2_000]]
    for text, peer in zip(texts, rust.encode_batch(texts), strict=True):
        found = ours.encode(text)
        assert (found.input_ids, found.offsets) == (peer.ids, peer.offsets), text


def test_options_of_the_normalizer(vocab_file: Path, strange_texts: list[str]) -> None:
    texts = [*NASTY.values(), *strange_texts[:700]]
    for lower, strip, chinese in product((True, False), (True, False), (True, False)):
        ours = BertTokenizer(vocab_file, lower, strip_accents=strip, tokenize_chinese_chars=chinese)
        rust = BertWordPieceTokenizer(
            str(vocab_file), lowercase=lower, strip_accents=strip, handle_chinese_chars=chinese
        )
        for text, peer in zip(texts, rust.encode_batch(texts), strict=True):
            found = ours.encode(text)
            assert (found.input_ids, found.offsets) == (peer.ids, peer.offsets), text


def test_special_tokens_that_the_vocabulary_lacks_are_ordinary_text(
    make_vocab: Callable[..., Path],
) -> None:
    path = make_vocab(["the", "mask", "[", "]", "pad"], ["[UNK]", "[CLS]", "[SEP]"])
    ours, rust = BertTokenizer(path), BertWordPieceTokenizer(str(path))
    for text in ("[MASK]", "the [MASK] the[PAD]. [UNK]"):
        assert ours.encode(text).tokens == rust.encode(text).tokens
        assert ours.encode(text).offsets == rust.encode(text).offsets


def test_added_special_tokens(vocab_file: Path) -> None:
    added = ["[unused1]", "river", "mat"]
    ours = BertTokenizer(
        vocab_file, never_split=["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]", *added]
    )
    rust = BertWordPieceTokenizer(str(vocab_file))
    rust.add_special_tokens(added)
    texts = ["the [unused1] riverbank. matrivermat RIVER [unused1", "x" * 60 + "river" * 20]
    for text, peer in zip(texts, rust.encode_batch(texts), strict=True):
        found = ours.encode(text)
        assert (found.tokens, found.offsets) == (peer.tokens, peer.offsets)


def flattened(encoding: Any) -> tuple[Any, ...]:
    if isinstance(encoding, Encoding):
        ids = encoding.input_ids
    else:
        ids = encoding.ids
    words, sequences = encoding.word_ids, encoding.sequence_ids
    return ids, encoding.offsets, words, sequences, encoding.special_tokens_mask


PAIRS = [
    ("", ""),
    ("the cat", ""),
    ("", "the mat"),
    ("the cat sat on the mat", "it was"),
    ("it was", "the cat sat on the mat and played."),
    ("unhappyness [MASK] 中国", "the riverbank, the cat and İstanbul"),
    ("one two", "one two"),
]


@pytest.mark.parametrize("rule", ["longest_first", "only_first", "only_second"])
def test_truncation_of_pairs(uncased: Any, vocab_file: Path, rule: str) -> None:
    rust = BertWordPieceTokenizer(str(vocab_file))
    compared = 0
    for length, (text, pair) in product(range(3, 40), PAIRS):
        rust.enable_truncation(length, strategy=rule)
        try:
            found = uncased.ours.encode(text, pair, max_length=length, truncation=rule)
        except InputError:
            with pytest.raises(Exception, match="too short"):
                rust.encode(text, pair)
            continue
        expected = rust.encode(text, pair)
        assert flattened(found) == flattened(expected)
        assert found.truncated == len(uncased.ours.encode(text, pair)) - len(found)
        compared += 1
    assert compared > 100


def test_truncation_of_single_texts(uncased: Any, vocab_file: Path) -> None:
    rust = BertWordPieceTokenizer(str(vocab_file))
    for length, (text, pair) in product(range(2, 30), PAIRS):
        rust.enable_truncation(length)
        for single in (text, pair):
            found = uncased.ours.encode(single, max_length=length)
            assert flattened(found) == flattened(rust.encode(single))


def overflowing(rust: Any, texts: Sequence[str]) -> list[Any]:
    first = rust.encode(*texts)
    return [first, *first.overflowing]


@pytest.mark.parametrize("stride", [0, 1, 3])
def test_windows_over_one_text(uncased: Any, vocab_file: Path, stride: int) -> None:
    rust = BertWordPieceTokenizer(str(vocab_file))
    text = "the cat sat on the mat, and unhappyness [MASK] was in the riverbank 中国 it won"
    tokens = len(uncased.ours.tokenize(text))
    for length in range(stride + 3, tokens + 5):
        rust.enable_truncation(length, stride=stride)
        windows = uncased.ours.encode_windows(text, max_length=length, stride=stride)
        expected = overflowing(rust, [text])
        assert [flattened(w) for w in windows] == [flattened(e) for e in expected]


@pytest.mark.parametrize("stride", [0, 2])
def test_windows_cut_only_the_second_text(uncased: Any, vocab_file: Path, stride: int) -> None:
    rust = BertWordPieceTokenizer(str(vocab_file))
    question, passage = (
        "it was the cat?",
        "the cat sat on the mat and the river was in the bank " * 3,
    )
    added = len(uncased.ours.tokenize(question)) + 3
    tokens = len(uncased.ours.tokenize(passage))
    for length in range(added + stride + 1, added + tokens + 3):
        rust.enable_truncation(length, stride=stride, strategy="only_second")
        windows = uncased.ours.encode_windows(question, passage, max_length=length, stride=stride)
        # The peer repeats windows in a way of its own when the first text has to be repeated.
        expected = overflowing(rust, [question, passage])
        assert [flattened(w) for w in windows] == [flattened(e) for e in expected]


def test_decode(peers: Any, running_text: list[str], strange_texts: list[str]) -> None:
    chooser = random.Random(5)
    size = len(peers.ours)
    rows = [peers.ours.encode(text).input_ids for text in [*running_text, *strange_texts[:2_000]]]
    rows += [[chooser.randrange(size) for _ in range(12)] for _ in range(500)]
    for ids in rows:
        assert peers.ours.decode(ids) == peers.rust.decode(ids)
        kept = peers.ours.decode(ids, skip_special_tokens=False)
        assert kept == peers.rust.decode(ids, skip_special_tokens=False)

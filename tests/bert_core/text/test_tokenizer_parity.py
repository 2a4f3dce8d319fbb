"""Every list of an encoding equals that of `tokenizers`, for BERT and for every family."""

import random
from collections.abc import Callable
from itertools import product
from operator import itemgetter
from pathlib import Path

import pytest
from tokenizers import BertWordPieceTokenizer, Tokenizer

from bert_core import InputError, load_tokenizer
from bert_core.text.tokenizer import BertTokenizer
from tests.bert_core.text.conftest import FAMILIES, SPECIALS, Peers, lists_of, peer_lists_of

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
SPECIAL = [
    "a <mask> b",
    "a<mask>b",
    " <mask>  <mask>",
    "<mask>[MASK] [MASK]",
    "<s> a </s></s> b <pad><unk>",
    "[CLS] a [SEP] b",
    "<s>NOTUSED <unk>NOTUSED x",
    "＜mask＞ ＜ｍask＞",
    "``quoted'' 3, 1,5, 12,",
    "👩\u200d🚀👍🏽🇩🇪 1️⃣ é ﬁ ㎏ ½ \u2581 \u2581x Ġ Ġx",
    "x" * 300 + " " + "的" * 120,
]
PAIRS = [
    ("", ""),
    ("the cat", ""),
    ("", "the mat"),
    ("the cat sat on the mat", "it was"),
    ("it was", "the cat sat on the mat and played."),
    ("unhappyness [MASK] 中国", "the riverbank, the cat and İstanbul"),
    ("running unhappy 👍🏽 <mask> x", "one two"),
    *zip(SPECIAL, reversed(SPECIAL), strict=True),
]
TEXTS = [*NASTY.values(), *SPECIAL]


@pytest.fixture(params=["uncased", "cased", *FAMILIES])
def both(request: pytest.FixtureRequest, published: dict[str, Path]) -> Peers:
    """Our tokenizer and the reference: BERT's in both casings, and each family's as published."""
    if request.param not in FAMILIES:
        found: Peers = request.getfixturevalue(request.param)
        return found
    folder = published[request.param]
    return Peers(load_tokenizer(folder), Tokenizer.from_file(str(folder / "tokenizer.json")))


def test_texts_are_encoded_as_by_rust(
    both: Peers, running_text: list[str], strange_texts: list[str]
) -> None:
    texts = [*TEXTS, *running_text, *strange_texts[:1_000]]
    assert both.differences(texts) == []
    assert both.differences(["\n".join(running_text)]) == []


def test_many_texts_at_once_are_the_texts_one_by_one(both: Peers, strange_texts: list[str]) -> None:
    ours, texts = both.ours, [*TEXTS, *strange_texts[:300]]
    assert ours.encode_batch(texts) == [ours.encode(text) for text in texts]
    assert ours.encode_ids(texts) == [ours.encode(text).input_ids for text in texts]
    bare = ours.encode_ids(texts, add_special_tokens=False)
    assert [ours.convert_ids_to_tokens(row) for row in bare] == [*map(ours.tokenize, texts)]


def test_tokens_are_entries_of_the_vocabulary(both: Peers) -> None:
    for text in TEXTS:
        found = both.ours.encode(text)
        assert found.tokens == [both.rust.id_to_token(number) for number in found.input_ids]
        assert [both.ours.vocab[token] for token in found.tokens] == found.input_ids
        inside = zip(found.tokens, found.special_tokens_mask, strict=True)
        assert both.ours.tokenize(text) == [token for token, added in inside if not added]


def test_pairs_are_encoded_as_by_rust(both: Peers) -> None:
    for pair in PAIRS:
        assert lists_of(both.ours.encode(*pair)) == peer_lists_of(both.rust.encode(*pair))


@pytest.mark.parametrize("rule", ["longest_first", "only_first", "only_second"])
def test_inputs_are_cut_as_by_rust(both: Peers, rule: str) -> None:
    ours, rust = both
    cut = 0
    texts = [*PAIRS[:7], *((text, None) for pair in PAIRS[3:7] for text in pair)]
    for size, (first, second) in product(range(2, 40), texts):
        rust.no_truncation()
        try:
            found = ours.encode(first, second, max_length=size, truncation=rule)
        except InputError:
            if second is not None and size > 4:
                rust.enable_truncation(size, strategy=rule)
                with pytest.raises(Exception, match="too short"):
                    rust.encode(first, second)
            continue
        whole = len(rust.encode(first, second).ids)
        rust.enable_truncation(size, strategy=rule)
        assert lists_of(found) == peer_lists_of(rust.encode(first, second))
        assert found.truncated == whole - len(found)
        cut += bool(found.truncated)
    rust.no_truncation()
    assert cut > 20


@pytest.mark.parametrize("stride", [0, 1, 3])
@pytest.mark.parametrize("question", ["it was the cat?", None])
def test_windows_are_those_of_rust(both: Peers, question: str | None, stride: int) -> None:
    ours, rust = both
    passage = "the cat sat, and unhappyness [MASK] was in the riverbank 中国 👍🏽 it won " * 2
    texts = (passage,) if question is None else (question, passage)
    strategy = "longest_first" if question is None else "only_second"
    added = len(ours.encode(*texts)) - len(ours.tokenize(passage))
    # Rust gives the token type 1 to second texts of later windows, whatever its template says.
    same = itemgetter(0, *range(2, 7))
    types = {*ours.encode(*texts).token_type_ids}
    for size in range(added + stride + 1, len(ours.encode(*texts)) + 3, 2):
        rust.enable_truncation(size, stride=stride, strategy=strategy)
        peer = rust.encode(*texts)
        found = ours.encode_windows(*texts, max_length=size, stride=stride)
        windows = [same(lists_of(each)) for each in found]
        assert windows == [same(peer_lists_of(each)) for each in (peer, *peer.overflowing)]
        assert [{*each.token_type_ids} for each in found] == [types] * len(found)
    rust.no_truncation()


def test_texts_are_put_together_again_as_by_rust(
    both: Peers, running_text: list[str], strange_texts: list[str]
) -> None:
    chooser = random.Random(5)
    size = len(both.ours)
    texts = [*TEXTS, *running_text, *strange_texts[:150]]
    rows = [both.ours.encode(text).input_ids for text in texts]
    rows += [[chooser.randrange(size) for _ in range(12)] for _ in range(300)]
    for ids, skip in product(rows, (True, False)):
        expected = both.rust.decode(ids, skip_special_tokens=skip)
        assert both.ours.decode(ids, skip_special_tokens=skip) == expected
    with pytest.raises(InputError, match="no token with the id"):
        both.ours.decode([size])


def test_a_real_vocabulary(minilm: Path, running_text: list[str], strange_texts: list[str]) -> None:
    path = str(minilm / "vocab.txt")
    peers = Peers(BertTokenizer(path), BertWordPieceTokenizer(path))
    assert peers.moved([*running_text, *NASTY.values(), *strange_texts[:500]]) == []


@pytest.mark.slow
def test_all_strange_texts_are_encoded_as_by_rust(both: Peers, strange_texts: list[str]) -> None:
    assert both.differences(strange_texts) == []


@pytest.mark.parametrize(("lower", "strip", "chinese"), [*product(*[(True, False)] * 3)])
def test_options_of_the_normalizer(
    vocab_file: Path, strange_texts: list[str], lower: bool, strip: bool, chinese: bool
) -> None:
    ours = BertTokenizer(vocab_file, lower, strip_accents=strip, tokenize_chinese_chars=chinese)
    rust = BertWordPieceTokenizer(
        str(vocab_file), lowercase=lower, strip_accents=strip, handle_chinese_chars=chinese
    )
    assert Peers(ours, rust).moved([*NASTY.values(), *strange_texts[:100]]) == []


def test_special_tokens_that_the_vocabulary_lacks_are_ordinary_text(
    make_vocab: Callable[..., Path],
) -> None:
    path = make_vocab(["the", "mask", "[", "]", "pad"], ["[UNK]", "[CLS]", "[SEP]"])
    peers = Peers(BertTokenizer(path), BertWordPieceTokenizer(str(path)))
    assert peers.differences(["[MASK]", "the [MASK] the[PAD]. [UNK]"]) == []


def test_added_special_tokens(vocab_file: Path) -> None:
    added = ["[unused1]", "river", "mat"]
    rust = BertWordPieceTokenizer(str(vocab_file))
    rust.add_special_tokens(added)
    peers = Peers(BertTokenizer(vocab_file, never_split=[*SPECIALS, *added]), rust)
    texts = ["the [unused1] riverbank. matrivermat RIVER [unused1", "x" * 60 + "river" * 20]
    assert peers.moved(texts) == []

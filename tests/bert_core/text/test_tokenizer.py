"""The tokenizer's own promises: options, refusals, threads, long texts, a bounded memory."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bert_core.errors import InputError
from bert_core.text.tokenizer import BasicTokenizer, BertTokenizer

MakeVocab = Callable[..., Path]


@pytest.fixture
def small(make_vocab: MakeVocab) -> Path:
    words = ["who", "Who", "was", "jim", "Jim", "hen", "##son", "?", "creme", "mask", "[", "]"]
    return make_vocab([*words, "a", "##a", "the", ".", "puppet", "##eer", "foo", "##ing", "海"])


def test_a_text_becomes_ids_and_back(small: Path) -> None:
    tokenizer = BertTokenizer(small)
    tokens = tokenizer.tokenize("Who was Jim Henson ?")
    assert tokens == ["who", "was", "jim", "hen", "##son", "?"]
    ids = tokenizer.convert_tokens_to_ids(tokens)
    assert ids == tokenizer.encode_ids(["Who was Jim Henson ?"], add_special_tokens=False)[0]
    assert tokenizer.convert_ids_to_tokens(ids) == tokens
    assert tokenizer.decode(ids) == "who was jim henson?"


def test_vocab_and_ids_to_tokens_mirror_each_other(small: Path) -> None:
    tokenizer = BertTokenizer(small)
    assert tokenizer.vocab["[UNK]"] == 1
    assert {number: token for token, number in tokenizer.vocab.items()} == tokenizer.ids_to_tokens
    assert len(tokenizer) == tokenizer.vocab_size == len(tokenizer.vocab)
    assert sorted(tokenizer.special_ids.values()) == [0, 1, 2, 3, 4]


def test_ids_may_come_in_a_tensor_or_an_array(small: Path) -> None:
    encoding_ids = BertTokenizer(small).encode("who was").input_ids
    tensor = BertTokenizer(small)("who was", return_tensors="pt")["input_ids"]
    array = BertTokenizer(small)("who was", return_tensors="np")["input_ids"]
    for row in (tensor[0], array[0]):
        assert BertTokenizer(small).decode(row) == "who was"
        assert len(BertTokenizer(small).convert_ids_to_tokens(row)) == len(encoding_ids)


@pytest.mark.parametrize("number", [-1, 26, 10**9, "who", None])
def test_an_id_outside_the_vocabulary_is_refused(small: Path, number: Any) -> None:
    with pytest.raises(InputError, match=r"expected 0 to 25"):
        BertTokenizer(small).convert_ids_to_tokens([number])


def test_without_basic_tokenization_special_tokens_in_the_text_work(small: Path) -> None:
    tokenizer = BertTokenizer(small, do_lower_case=False, do_basic_tokenize=False)
    text = "[CLS] Who was Jim henson ? [SEP] Jim henson was the puppeteer [SEP]"
    assert tokenizer.tokenize(text) == [
        *("[CLS]", "Who", "was", "Jim", "hen", "##son", "?", "[SEP]"),
        *("Jim", "hen", "##son", "was", "the", "puppet", "##eer", "[SEP]"),
    ]
    assert tokenizer.tokenize("who?\u200b  a\u3000aa\n海") == ["[UNK]", "a", "a", "##a", "海"]
    encoding = tokenizer.encode(" the  [MASK]x")
    assert encoding.offsets == [(0, 0), (1, 4), (6, 12), (12, 13), (0, 0)]


def test_words_never_to_be_split_are_kept_as_they_stand(small: Path) -> None:
    tokenizer = BertTokenizer(small, never_split=("[MASK]", "foo", "Jim-Jam"))
    assert tokenizer.tokenize("the foo") == ["the", "foo"]
    assert tokenizer.tokenize("the,fooa") == ["the", "[UNK]", "foo", "a"]
    assert tokenizer.tokenize("[SEP]") == ["[", "[UNK]", "]"]
    assert tokenizer.tokenize("Jim-Jam jim") == ["[UNK]", "jim"]
    with pytest.raises(InputError, match="Expected a list of texts, found str"):
        BertTokenizer(small, never_split="[MASK]")
    nothing = BertTokenizer(small, never_split=None)
    assert nothing.tokenize("[MASK]") == ["[", "mask", "]"]


def test_of_special_tokens_at_the_same_place_the_longest_wins(make_vocab: MakeVocab) -> None:
    path = make_vocab(["<a>", "<a><b>", "<b>"])
    tokenizer = BertTokenizer(path, never_split=["<a>", "<b>", "<a><b>"])
    assert tokenizer.tokenize("<a><b><b><a>") == ["<a><b>", "<b>", "<a>"]


def test_basic_tokenizer_gives_words() -> None:
    basic = BasicTokenizer()
    assert basic.tokenize(" Crème brûlée,\tsi![MASK]中文\u200b ") == [
        *("creme", "brulee", ",", "si", "!", "[MASK]", "中", "文")
    ]
    assert BasicTokenizer(do_lower_case=False).tokenize("Crème B") == ["Crème", "B"]
    assert BasicTokenizer(never_split=["Foo"]).tokenize("Foo [MASK]") == ["Foo", "[", "mask", "]"]
    assert BasicTokenizer(never_split=()).tokenize("") == []
    assert BasicTokenizer(strip_accents=False).tokenize("Crème") == ["crème"]
    assert BasicTokenizer(tokenize_chinese_chars=False).tokenize("中文a") == ["中文a"]


def test_basic_tokenizer_and_wordpiece_make_the_tokenizer(
    uncased: Any, running_text: list[str]
) -> None:
    ours = uncased.ours
    for text in running_text:
        words = ours.basic_tokenizer.tokenize(text)
        pieces = [piece for word in words for piece in ours.wordpiece_tokenizer.tokenize(word)]
        assert pieces == ours.tokenize(text)


@pytest.mark.parametrize("text", [b"bytes", None, 5, ["a", "b"], ("a",)])
def test_what_is_not_a_text_is_refused(small: Path, text: Any) -> None:
    tokenizer = BertTokenizer(small)
    kind = type(text).__name__
    for refuse in (
        lambda: tokenizer.encode(text),
        lambda: tokenizer.tokenize(text),
        lambda: tokenizer.encode_ids([text]),
        lambda: tokenizer.encode_batch(["a", text]),
        lambda: tokenizer.trace(text),
        lambda: BasicTokenizer().tokenize(text),
    ):
        with pytest.raises(InputError, match=rf"Expected a text \(str\), found {kind}"):
            refuse()


@pytest.mark.parametrize("texts", ["a text", None, 7])
def test_what_is_not_a_list_of_texts_is_refused(small: Path, texts: Any) -> None:
    tokenizer = BertTokenizer(small)
    for refuse in (lambda: tokenizer.encode_batch(texts), lambda: tokenizer.encode_ids(texts)):
        with pytest.raises(InputError, match="Expected a list of texts"):
            refuse()


@pytest.mark.parametrize("basic", [True, False])
@pytest.mark.parametrize("text", ["ab \ud83d", "ab\ud83d", "[MASK]\ud83d", "海" * 50 + "\udfff"])
def test_half_a_surrogate_pair_is_refused_with_its_place(
    small: Path, text: str, basic: bool
) -> None:
    tokenizer = BertTokenizer(small, do_basic_tokenize=basic)
    message = rf"U\+{ord(text[-1]):04X} at character {len(text) - 1}, half of a surrogate pair"
    for refuse in (tokenizer.encode, tokenizer.tokenize, tokenizer.trace):
        with pytest.raises(InputError, match=message):
            refuse(text)
    with pytest.raises(InputError, match=message):
        tokenizer.encode_ids(["a", text])
    assert len(tokenizer.encode("\U0001f600")) == 3


def test_a_batch_is_the_single_encodings(small: Path) -> None:
    tokenizer = BertTokenizer(small)
    texts, pairs = ["who was", "", "the puppeteer"], ["a", "who", ""]
    short = tokenizer.encode_batch(iter(texts), iter(pairs), max_length=4)
    singles = zip(texts, pairs, strict=True)
    assert short == [tokenizer.encode(text, pair, max_length=4) for text, pair in singles]
    assert tokenizer.encode_batch([]) == tokenizer.encode_ids([]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_length": 1}, "max_length is 1; expected at least 2"),
        (
            {"max_length": 2, "text_pair": "a"},
            "max_length is 2; expected at least 3",
        ),
        ({"max_length": 9, "truncation": "middle"}, "no truncation rule 'middle'.*longest_first"),
        ({"max_length": 4, "truncation": "only_second"}, "4 tokens too many.*needs a second text"),
        (
            {"max_length": 4, "truncation": "only_first", "text_pair": "a a a a"},
            "9 tokens too many.*only a text of 6",
        ),
    ],
)
def test_impossible_truncation_is_refused_with_the_numbers(
    small: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        BertTokenizer(small).encode("who was jim henson ?", **arguments)


@pytest.mark.parametrize(("max_length", "stride"), [(2, 0), (5, 3), (5, -1), (4, 7)])
def test_windows_that_cannot_move_are_refused(small: Path, max_length: int, stride: int) -> None:
    with pytest.raises(InputError, match=f"room for {max_length - 2} tokens.*share {stride}"):
        BertTokenizer(small).encode_windows("a a a a a", max_length=max_length, stride=stride)


@pytest.mark.parametrize("missing", ["[PAD]", "[CLS]", "[SEP]", "[MASK]"])
def test_a_missing_special_token_is_an_error_only_where_needed(
    make_vocab: MakeVocab, missing: str
) -> None:
    specials = [
        token for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if token != missing
    ]
    tokenizer = BertTokenizer(make_vocab(["a"], specials))
    assert tokenizer.tokenize("a b") == ["a", "[UNK]"]
    name = missing.strip("[]").lower()
    with pytest.raises(InputError, match=rf"has no \[{name.upper()}\]"):
        getattr(tokenizer, f"{name}_token_id")
    if missing in ("[CLS]", "[SEP]"):
        with pytest.raises(InputError, match="which is needed here"):
            tokenizer.encode("a")
    else:
        assert len(tokenizer.encode("a a")) == 4


def test_one_tokenizer_serves_many_threads(
    vocab_file: Path, running_text: list[str], strange_texts: list[str]
) -> None:
    texts = [*running_text[:60], *strange_texts[:100]]
    alone = BertTokenizer(vocab_file)
    expected = [alone.encode(text) for text in texts]
    shared = BertTokenizer(vocab_file)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [shared.encode(text) for text in texts], range(4)):
            assert found == expected


LONG = {
    "one word": "a" * 100_000,
    "blanks": " " * 100_000,
    "brackets": "[" * 30_000,
    "marks": "a" + "\u0301" * 50_000,
    "moving marks": "a" + "\u302e\u0301" * 20_000,
    "Thai": "กาน" * 12_000,
    "masks": "[MASK]中" * 5_000,
    "lines": "the cat sat on the mat.\n" * 3_000,
    "special look-alikes": "[MAS" * 10_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_a_very_long_text_is_encoded_whole(uncased: Any, text: str) -> None:
    # In quadratic time one of these would take minutes.
    found = uncased.ours.encode(text)
    assert found.offsets[-2][1] <= len(text)
    assert len(found.offsets) == len(found.input_ids) == len(found.word_ids)
    assert max(map(len, found.tokens[:9])) <= 12


def test_a_tokenizer_can_be_pickled_and_copied(vocab_file: Path, running_text: list[str]) -> None:
    tokenizer = BertTokenizer(vocab_file, do_lower_case=False, max_len=77)
    expected = [tokenizer.encode(text) for text in running_text[:60]]
    for twin in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):  # noqa: S301
        assert [twin.encode(text) for text in running_text[:60]] == expected
        assert (twin.max_len, twin.do_lower_case, twin.vocab) == (77, False, tokenizer.vocab)

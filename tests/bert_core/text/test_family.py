"""`load_tokenizer`: encodings equal those of `tokenizers` for every family's published files."""

import json
import pickle
import shutil
import threading
from collections.abc import Sequence
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer

from bert_core import BertTokenizer, InputError
from bert_core.text.family import FamilyTokenizer, load_tokenizer
from tests.bert_core.text.conftest import SPECIALS, lists_of, peer_lists_of
from tests.bert_core.text.family_folders import (
    cased_albert,
    configured,
    merges_folder,
    published_roberta,
    published_unigram,
    sentencepiece_folder,
)
from tests.bert_core.text.test_tokenizer_parity import NASTY, PAIRS

FAMILIES = ("roberta", "xlm-roberta", "camembert", "albert")
UNIGRAM = FAMILIES[1:]
RULES = ("longest_first", "only_first", "only_second")
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


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory, running_text: list[str]) -> dict[str, Path]:
    """A folder of each family with the files of its first release."""
    root = tmp_path_factory.mktemp("families")
    texts = running_text * 3
    found = {name: sentencepiece_folder(root / name, name, texts) for name in UNIGRAM}
    return {"roberta": merges_folder(root / "roberta", texts), **found}


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Path]) -> dict[str, Path]:
    """A folder of each family with a `tokenizer.json` as published."""
    root = tmp_path_factory.mktemp("published")
    found = {}
    for family, source in files.items():
        found[family] = root / family
        found[family].mkdir()
        bpe = family == "roberta"
        rust = published_roberta(source) if bpe else published_unigram(source, family)
        rust.save(str(found[family] / "tokenizer.json"))
        configured(found[family], family, rust.get_vocab_size())
    return found


@pytest.fixture(params=FAMILIES)
def both(request: pytest.FixtureRequest, published: dict[str, Path]) -> tuple[Any, Any]:
    """Our tokenizer and Rust's, of each family."""
    folder = published[request.param]
    return load_tokenizer(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))


# All lists but the tokens: of unknown ones, Rust gives the characters.
but_tokens = itemgetter(0, 1, 3, 4, 5, 6, 7)


def lists(ours: Any) -> tuple[list[Any], ...]:
    return but_tokens(lists_of(ours))


def rust_lists(peer: Any) -> tuple[list[Any], ...]:
    return but_tokens(peer_lists_of(peer))


def moved(ours: Any, rust: Any, texts: Sequence[str]) -> list[str]:
    """Name every text that the two encode differently in any list."""
    return [
        text
        for text, peer in zip(texts, rust.encode_batch(list(texts)), strict=True)
        if lists(ours.encode(text)) != rust_lists(peer)
    ]


def test_texts_are_encoded_as_by_rust(
    both: tuple[Any, Any], running_text: list[str], strange_texts: list[str]
) -> None:
    texts = [*NASTY.values(), *SPECIAL, *running_text, *strange_texts[:2_000]]
    assert moved(*both, texts) == []


def test_tokens_are_entries_of_the_vocabulary(both: tuple[Any, Any]) -> None:
    ours, rust = both
    for text in (*NASTY.values(), *SPECIAL):
        found = ours.encode(text)
        assert found.tokens == [rust.id_to_token(number) for number in found.input_ids]
        assert [ours.vocab[token] for token in found.tokens] == found.input_ids
        assert ours.tokenize(text) == [
            token
            for token, added in zip(found.tokens, found.special_tokens_mask, strict=True)
            if not added
        ]


def test_pairs_are_encoded_as_by_rust(both: tuple[Any, Any]) -> None:
    ours, rust = both
    for pair in (*PAIRS, *zip(SPECIAL, reversed(SPECIAL), strict=True)):
        assert lists(ours.encode(*pair)) == rust_lists(rust.encode(*pair))


@pytest.mark.parametrize("rule", RULES)
def test_inputs_are_truncated_as_by_rust(both: tuple[Any, Any], rule: str) -> None:
    ours, rust = both
    texts = ["the cat sat on the mat", "we hello", "running unhappy 👍🏽 <mask> x"]
    seen = 0
    for first, second, size in product(texts, [None, *texts], range(2, 40, 3)):
        try:
            found = ours.encode(first, second, max_length=size, truncation=rule)
        except InputError:
            continue
        rust.enable_truncation(size, strategy=rule)
        assert lists(found) == rust_lists(rust.encode(first, second))
        rust.no_truncation()
        assert found.truncated == len(ours.encode(first, second)) - len(found)
        seen += bool(found.truncated)
    assert seen > 10


@pytest.mark.parametrize("pair", [False, True])
def test_windows_are_those_of_rust(both: tuple[Any, Any], pair: bool) -> None:
    ours, rust = both
    texts = ("Who sat?", "the cat sat on the mat and 👍🏽 the dog did not " * 4)
    texts = texts if pair else texts[1:]
    size = len(ours.encode(*texts)) // 2
    found = ours.encode_windows(*texts, max_length=size, stride=3)
    rust.enable_truncation(size, stride=3, strategy="only_second" if pair else "longest_first")
    peer = rust.encode(*texts)
    # Rust gives the token type 1 to second texts of later windows, whatever its template says.
    types = {0, 1} if pair and ours.mask_token == "[MASK]" else {0}
    assert [set(each.token_type_ids) for each in found] == [types] * len(found)
    same = itemgetter(0, 1, 3, 4, 5, 6)
    assert [same(lists(each)) for each in found] == [
        same(rust_lists(each)) for each in (peer, *peer.overflowing)
    ]
    assert len(found) > 2


def test_batches_are_the_texts_one_by_one(both: tuple[Any, Any]) -> None:
    ours, _ = both
    texts = [*NASTY.values()]
    assert ours.encode_batch(texts) == [ours.encode(text) for text in texts]
    assert ours.encode_ids(texts) == [ours.encode(text).input_ids for text in texts]
    bare = ours.encode_ids(texts, add_special_tokens=False)
    assert [ours.convert_ids_to_tokens(row) for row in bare] == [ours.tokenize(t) for t in texts]
    found = ours(["the cat", "a"], ["x", "the mat sat"], padding=True, return_tensors="pt")
    assert found["input_ids"].shape == found["token_type_ids"].shape
    rows = ours.encode_batch(["the cat", "a"], ["x", "the mat sat"])
    for number, row in enumerate(rows):
        mask = found["attention_mask"][number].bool()
        assert found["input_ids"][number][mask].tolist() == row.input_ids
        assert set(found["input_ids"][number][~mask].tolist()) <= {ours.pad_token_id}
    assert isinstance(found["input_ids"], torch.Tensor)


def test_texts_are_put_together_again_as_by_rust(both: tuple[Any, Any]) -> None:
    ours, rust = both
    for text in (*SPECIAL, *NASTY.values()):
        found = ours.encode(text)
        for skip in (True, False):
            expected = rust.decode(found.input_ids, skip_special_tokens=skip)
            assert ours.decode(found.input_ids, skip_special_tokens=skip) == expected
    with pytest.raises(InputError, match="no token with the id"):
        ours.decode([len(ours)])


# -- the files of the first releases, beside `transformers` ----------------------------------------

CLASSES = {
    "roberta": transformers.RobertaTokenizer,
    "xlm-roberta": transformers.XLMRobertaTokenizer,
    "camembert": transformers.CamembertTokenizer,
    "albert": transformers.AlbertTokenizer,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_first_files_and_tokenizer_json_give_the_same(
    family: str, files: dict[str, Path], published: dict[str, Path], strange_texts: list[str]
) -> None:
    ours, other = load_tokenizer(files[family]), load_tokenizer(published[family])
    assert ours.vocab == other.vocab
    for text in (*NASTY.values(), *SPECIAL, *strange_texts[:500]):
        assert ours.encode(text, "the mat") == other.encode(text, "the mat")


@pytest.mark.parametrize("family", FAMILIES)
def test_first_files_give_what_transformers_gives(
    family: str, files: dict[str, Path], running_text: list[str]
) -> None:
    ours = load_tokenizer(files[family])
    peer: Any = CLASSES[family].from_pretrained(files[family])
    for text in (*NASTY.values(), *running_text):
        if "[MASK]" in text:
            continue  # this class's does not take the space before it, the published one does
        found = peer(text, "the mat", return_offsets_mapping=True)
        assert ours.encode(text, "the mat").input_ids == found["input_ids"], text
        assert ours.encode(text, "the mat").offsets == found["offset_mapping"], text


@pytest.mark.parametrize("family", FAMILIES)
def test_what_transformers_saves_is_read(
    family: str, files: dict[str, Path], tmp_path: Path, running_text: list[str]
) -> None:
    peer: Any = CLASSES[family].from_pretrained(files[family])
    peer.save_pretrained(tmp_path)
    ours = load_tokenizer(tmp_path)  # the class says the family
    configured(tmp_path, family, len(peer))
    assert isinstance(load_tokenizer(tmp_path), FamilyTokenizer)
    for text in (*SPECIAL, *running_text[:50]):
        found = peer(text, "x", return_offsets_mapping=True)
        assert ours.encode(text, "x").input_ids == found["input_ids"]
        assert ours.encode(text, "x").offsets == found["offset_mapping"]


def test_albert_keeps_case_and_accents_where_its_files_say_so(
    files: dict[str, Path], tmp_path: Path, strange_texts: list[str]
) -> None:
    shutil.copy(files["albert"] / "spiece.model", tmp_path)
    configured(tmp_path, "albert", 2000)
    options = {"do_lower_case": False, "keep_accents": True, "model_max_length": 77}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(options), encoding="utf-8")
    ours: Any = load_tokenizer(tmp_path)
    assert (ours.do_lower_case, ours.max_len) == (False, 77)
    assert moved(ours, cased_albert(tmp_path), ["Été ÉTÉ", *strange_texts[:500]]) == []
    assert load_tokenizer(files["albert"]).do_lower_case


def test_the_ids_of_fairseq(files: dict[str, Path]) -> None:
    xlm: Any = load_tokenizer(files["xlm-roberta"])
    assert [xlm.vocab[token] for token in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    assert xlm.mask_token_id == len(xlm) - 1
    camembert: Any = load_tokenizer(files["camembert"])
    assert (camembert.pad_token_id, camembert.unk_token_id) == (1, 3)
    assert (camembert.cls_token_id, camembert.sep_token_id) == (5, 6)
    assert camembert.encode("a").input_ids[0] == 5


def test_a_space_before_the_text_where_the_files_say_so(
    files: dict[str, Path], tmp_path: Path
) -> None:
    for name in ("vocab.json", "merges.txt", "config.json"):
        shutil.copy(files["roberta"] / name, tmp_path)
    options = {"add_prefix_space": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(options), encoding="utf-8")
    peer: Any = transformers.RobertaTokenizer.from_pretrained(tmp_path)
    for text in ("the cat", " the", "", "👍🏽"):
        found = peer(text, "x the", return_offsets_mapping=True)
        ours = load_tokenizer(tmp_path).encode(text, "x the")
        assert (ours.input_ids, ours.offsets) == (found["input_ids"], found["offset_mapping"])


# -- token types ----------------------------------------------------------------------------------


def test_token_types_are_zeros_where_the_model_has_none(
    published: dict[str, Path], tmp_path: Path
) -> None:
    for family, folder in published.items():
        types = load_tokenizer(folder).encode("the cat", "sat").token_type_ids
        assert set(types) == ({0, 1} if family == "albert" else {0})
    shutil.copy(published["albert"] / "tokenizer.json", tmp_path)
    configured(tmp_path, "albert", 2000, type_vocab_size=1)
    assert set(load_tokenizer(tmp_path).encode("the cat", "sat").token_type_ids) == {0}


@pytest.mark.parametrize("family", ["bert", "distilbert", "electra"])
def test_wordpiece_families_have_bert_s_tokenizer(family: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIALS, "the", "cat"]), encoding="utf-8")
    configured(tmp_path, family, 7)
    tokenizer = load_tokenizer(tmp_path)
    assert isinstance(tokenizer, BertTokenizer)
    found = tokenizer.encode("the", "cat")
    assert found.tokens == ["[CLS]", "the", "[SEP]", "cat", "[SEP]"]
    ones = 0 if family == "distilbert" else 2
    assert found.token_type_ids == [0] * (5 - ones) + [1] * ones
    batch = tokenizer(["the"], ["cat"], return_tensors="pt")
    assert int(batch["token_type_ids"].sum()) == ones
    saved = tmp_path / "saved"
    tokenizer.save_pretrained(saved)
    again = load_tokenizer(saved)
    assert again.encode("the", "cat") == found
    assert again.encode("the", "cat").token_type_ids == found.token_type_ids
    peer: Any = transformers.AutoTokenizer.from_pretrained(saved)
    assert ("token_type_ids" in peer("the", "cat")) == (family != "distilbert")


# -- one tokenizer for many ----------------------------------------------------------------------


def test_threads_with_limits_of_their_own_get_their_own_encodings(both: tuple[Any, Any]) -> None:
    ours, _ = both
    text = "the cat sat on the mat 👍🏽 " * 5
    limits = [5, 9, 17, 33]
    expected = {size: ours.encode(text, "a b", max_length=size) for size in limits}
    wrong: list[int] = []

    def work(size: int) -> None:
        for _ in range(150):
            if ours.encode(text, "a b", max_length=size) != expected[size]:
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in limits * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_encoding_can_be_pickled_and_cannot_be_changed(both: tuple[Any, Any]) -> None:
    found = both[0].encode("the <mask>", "x")
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert again == found and lists(again) == lists(found) and hash(again) == hash(found)
    with pytest.raises(AttributeError):
        found.truncated = 3
    mask = both[0].mask_token
    assert found.special_id(mask) == both[0].vocab[mask]
    with pytest.raises(InputError, match="not a special token"):
        found.special_id("[NONE]")


def test_a_text_that_is_none_is_refused(both: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match="surrogate pair"):
        both[0].encode("a\ud83d")
    with pytest.raises(InputError):
        both[0].encode(7)
    with pytest.raises(InputError, match="Expected a list of texts"):
        both[0].encode_batch("one text")
    with pytest.raises(InputError, match="added tokens"):
        both[0].encode("a", "b", max_length=2)


# -- saving ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_saved_opens_here_and_in_transformers(
    family: str, files: dict[str, Path], tmp_path: Path, running_text: list[str]
) -> None:
    ours: Any = load_tokenizer(files[family])
    ours.max_len = 123
    paths = ours.save_pretrained(tmp_path)
    assert [Path(path).name for path in paths] == ["tokenizer.json", "tokenizer_config.json"]
    again: Any = load_tokenizer(tmp_path)
    assert (again.vocab, again.max_len) == (ours.vocab, 123)
    assert again.all_special_ids == ours.all_special_ids
    configured(tmp_path, family, len(ours))
    peer: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert peer.model_max_length == 123 and peer.mask_token == ours.mask_token
    for text in (*SPECIAL, *running_text[:100]):
        assert again.encode(text, "x") == ours.encode(text, "x")
        if "NOTUSED" in text:
            continue  # this class finds them in the text, wherever its files come from
        assert peer(text, "x")["input_ids"] == ours.encode(text, "x").input_ids
    path = ours.save_vocabulary(tmp_path)
    assert Tokenizer.from_file(path).get_vocab() == ours.vocab


def test_a_file_by_itself_is_opened_with_what_is_beside_it(files: dict[str, Path]) -> None:
    folder = files["albert"]
    found = load_tokenizer(folder / "spiece.model")
    assert found.encode("the") == load_tokenizer(folder).encode("the")
    assert FamilyTokenizer.from_pretrained(folder).encode("the") == found.encode("the")
    merges = files["roberta"] / "merges.txt"
    assert load_tokenizer(merges).vocab == load_tokenizer(files["roberta"]).vocab

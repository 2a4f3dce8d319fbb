"""Broken tokenizers of other families: one sentence each, quickly, in little memory."""

import json
import re
import shutil
import tracemalloc
from pathlib import Path

import pytest
import transformers

from bert_core import CheckpointError
from bert_core.errors import BertError
from bert_core.text.family import load_tokenizer
from tests.bert_core.text.conftest import GONE, Changes, edited
from tests.bert_core.text.family_folders import configured
from tests.bert_core.text.test_tokenizer_json import changed


@pytest.fixture(scope="module")
def whole(
    files: dict[str, Path], published: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Folders that open."""
    first = {"merges": files["roberta"], "albert": files["albert"], "xlm": files["xlm-roberta"]}
    words = tmp_path_factory.mktemp("words")
    changed(words / "tokenizer.json")
    whole = {"words": words, "bpe": published["roberta"]}
    return {**first, **whole, "unigram": published["xlm-roberta"]}


def refused(folder: Path, kind: type[BertError] = CheckpointError) -> str:
    """Return the sentence with which a folder is refused, in at most 300 MB."""
    tracemalloc.start()
    with pytest.raises(kind) as error:
        load_tokenizer(folder)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 300e6
    text = str(error.value)
    assert "\n" not in text and len(text) < 700 and text.endswith("."), text
    return text


FLAGS = dict.fromkeys(("normalized", "single_word", "lstrip", "rstrip"), False)
TOKEN = {"id": 8, "content": "cats", "special": False, **FLAGS}
# Changes of a WordPiece's `tokenizer.json`, and what is said of it.
WORDPIECE: list[tuple[Changes, str]] = [
    ({"model.type": [1]}, "'unknown'"),
    ({"model.unk_token": "<unk>"}, "8 pieces but no <unk>"),
    ({"model.unk_token": None}, "unk_token is None"),
    ({"model.continuing_subword_prefix": "@@"}, "continuing_subword_prefix is '@@'; expected '##'"),
    (
        {"model.max_input_chars_per_word": 3},
        "max_input_chars_per_word is 3; expected 100",
    ),
    ({"model.vocab": ["a", 5]}, "vocab is "),
    ({"model.vocab.cat": "6"}, "the id of 'cat' is '6'; expected a whole number from 0"),
    ({"model.vocab.cat": True}, "is True"),
    ({"model.vocab.cat": -6}, "is -6"),
    ({"model.vocab.cat": 5}, "'the' and 'cat' have the same id, 5"),
    ({"model.vocab.cat": 10**6}, "the id of 'cat' is 1,000,000; expected .* below 1,000,000"),
    ({"model.vocab.cat": 10**4_000}, "the id of 'cat' is 1000"),
    ({"model.vocab": {"[CLS]": 0, "[SEP]": 1}, "added_tokens": []}, r"2 pieces but no \[UNK\]"),
    ({"model.vocab": {}, "added_tokens": []}, r"0 pieces but no \[UNK\]"),
    ({"added_tokens.0.id": 3}, r"the id of the added token '\[PAD\]' is 3; expected 0"),
    ({"added_tokens.+": [{**TOKEN, "id": 9}]}, "the id of the added token 'cats' is 9; expected 8"),
    ({"added_tokens.+": [TOKEN, TOKEN]}, "an added token is "),
    ({"added_tokens": [1, None, []]}, "an added token is 1"),
    ({"added_tokens": {}}, "added_tokens"),
    ({"added_tokens.4.special": "yes"}, r"special of '\[MASK\]' is 'yes'; expected true or false"),
    (
        {"normalizer": {"type": "Sequence", "normalizers": []}},
        "normalizer.type is 'Sequence'; expected 'BertNormalizer'",
    ),
    ({"normalizer": None}, "normalizer.type is None"),
    ({"normalizer.lowercase": "yes"}, "normalizer.lowercase is 'yes'; expected true or false"),
    ({"normalizer.clean_text": GONE}, "normalizer.clean_text is None"),
    (
        {"pre_tokenizer": {"type": "Whitespace"}},
        "pre_tokenizer.type is 'Whitespace'; expected 'BertPreTokenizer'",
    ),
    ({"decoder": {"type": "ByteLevel"}}, "decoder is .*; expected WordPiece with the prefix ##"),
    (
        {"post_processor": None},
        "post_processor is None; expected one that puts tokens around a text",
    ),
    (
        {"post_processor": {"type": "BertProcessing", "cls": ["[MASK]", 4], "sep": ["[SEP]", 3]}},
        "post_processor is 'BertProcessing'",
    ),
    ({"post_processor": {"type": "RobertaProcessing"}}, "post_processor is 'RobertaProcessing'"),
    (
        {"post_processor": {"type": "TemplateProcessing", "single": 5}},
        "post_processor is 'TemplateProcessing'",
    ),
]
# The same with the folder that is changed.
DOCUMENTS: list[tuple[str, Changes, str]] = [
    *(("words", *row) for row in WORDPIECE),
    (
        "bpe",
        {"model.merges": lambda merges: [*merges[:3], ["qq", "zz"], *merges[3:]]},
        "merge 3 puts 'qq' and 'zz' together, but 'qq' is not in the vocabulary",
    ),
    ("bpe", {"model.merges.+": [["<s>", "a"]]}, "'<s>a' is not in the vocabulary"),
    ("bpe", {"model.merges.+": ["a b c"]}, "expected two pieces"),
    ("bpe", {"model.merges": []}, "model.merges is 'a list of 0'"),
    ("bpe", {"model.merges": 7}, "model.merges is 7"),
    ("bpe", {"model.dropout": 0.1}, "model.dropout is 0.1"),
    ("bpe", {"model.unk_token": "none"}, "model.unk_token is 'none'"),
    ("bpe", {"model.vocab.gap": 99_999}, "100,000 entries"),
    ("bpe", {"model.vocab.gap": 10**6}, "the id of 'gap' is 1,000,000"),
    ("bpe", {"model.vocab.Ġ": 0}, "have the same id"),
    ("bpe", {"added_tokens.0.id": 7}, "the id of the added token '<s>' is 7; expected 0"),
    ("bpe", {"added_tokens.+": [{"id": 10**9, "content": "new"}]}, "expected 1,200"),
    ("bpe", {"added_tokens": 3}, "added_tokens is 3"),
    ("bpe", {"added_tokens.0.lstrip": "yes"}, "lstrip of '<s>' is 'yes'"),
    ("bpe", {"normalizer": {"type": "Magic"}}, "`tokenizers` cannot use"),
    (
        "bpe",
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "(("}, "content": ""}},
        "`tokenizers` cannot use",
    ),
    ("bpe", {"post_processor.cls": ["<s>", 5]}, "The post_processor"),
    ("unigram", {"post_processor.single": []}, "The post_processor|`tokenizers` cannot use"),
    ("unigram", {"post_processor.pair": lambda pair: pair[::-1]}, "The post_processor"),
    ("unigram", {"post_processor": {"type": 3}}, "`tokenizers` cannot use"),
    ("unigram", {"normalizer.precompiled_charsmap": "AAAABBBB"}, "`tokenizers` cannot use"),
    ("unigram", {"model.unk_id": 10**6}, "model.unk_id is 1,000,000; expected an id from 0"),
    ("unigram", {"model.unk_id": None}, "model.unk_id is None"),
    ("unigram", {"model.vocab.+": [["x", "y"]]}, "expected a piece and its score"),
    ("unigram", {"model.vocab.+": [["x", float("nan")]]}, "expected a finite number"),
    ("unigram", {"model.vocab.+": [["x"]]}, "expected a piece and its score"),
    ("unigram", {"model.byte_fallback": True}, "model.byte_fallback is True"),
    ("unigram", {"model.vocab": []}, "expected a list of 1 to"),
    (
        "bpe",
        {"model": {"type": "WordPiece", "vocab": {}, "unk_token": "", "merges": []}},
        "pre_tokenizer.type is 'ByteLevel'; expected 'BertPreTokenizer'|model.unk_token is ''",
    ),
    ("bpe", {"model": GONE}, "'unknown'; expected one of WordPiece, BPE, Unigram"),
]


@pytest.mark.parametrize(("base", "changes", "said"), DOCUMENTS, ids=[row[2] for row in DOCUMENTS])
def test_a_damaged_tokenizer_json_is_refused_in_one_sentence(
    base: str, changes: Changes, said: str, whole: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(whole[base], tmp_path, dirs_exist_ok=True)
    document = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    edited(document, changes)
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    text = refused(tmp_path)
    assert re.search(said, text) and (base != "words" or "tokenizer.json" in text), text


def test_every_beginning_of_a_file_is_refused(whole: dict[str, Path], tmp_path: Path) -> None:
    for base, name in (
        ("words", "tokenizer.json"),
        ("bpe", "tokenizer.json"),
        ("unigram", "tokenizer.json"),
        ("albert", "spiece.model"),
        ("xlm", "sentencepiece.bpe.model"),
        ("merges", "vocab.json"),
    ):
        folder = tmp_path / base
        shutil.copytree(whole[base], folder)
        raw = (folder / name).read_bytes()
        for part in (0.0, 0.01, 0.3, 0.9, 0.9999):
            (folder / name).write_bytes(raw[: int(len(raw) * part)])
            assert name in refused(folder)


@pytest.mark.parametrize("base", ["bpe", "unigram", "merges", "albert", "xlm"])
def test_ids_that_the_model_has_no_vectors_for_are_refused(
    base: str, whole: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(whole[base], tmp_path, dirs_exist_ok=True)
    family = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))["model_type"]
    size = len(load_tokenizer(tmp_path))
    configured(tmp_path, family, size)
    load_tokenizer(tmp_path)
    configured(tmp_path, family, size - 1)
    assert f"the model has room for {size - 1:,}" in refused(tmp_path)


@pytest.mark.parametrize(
    ("base", "family", "other"), [("bpe", "roberta", "bert"), ("words", "bert", "roberta")]
)
def test_a_frame_that_is_missing_is_the_family_s(
    base: str, family: str, other: str, whole: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(whole[base], tmp_path, dirs_exist_ok=True)
    document = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    document["post_processor"], document["added_tokens"] = None, []
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    expected = load_tokenizer(whole[base]).encode("the <mask>", "x")
    configured(tmp_path, family, 5_000)
    assert load_tokenizer(tmp_path).encode("the <mask>", "x") == expected
    peer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert peer("the", "x")["input_ids"] == load_tokenizer(tmp_path).encode("the", "x").input_ids
    configured(tmp_path, other, 5_000)  # nothing says whose
    assert "post_processor" in refused(tmp_path)

"""Broken tokenizers of other families: one sentence each, quickly, in little memory."""

import json
import os
import shutil
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models

from bert_core import CheckpointError, ConfigError
from bert_core.errors import BertError, MissingFileError
from bert_core.text.family import load_tokenizer
from tests.bert_core.text.conftest import SPECIALS
from tests.bert_core.text.family_folders import (
    configured,
    merges_folder,
    published_roberta,
    published_unigram,
    sentencepiece_folder,
)

Document = dict[str, Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, running_text: list[str]) -> dict[str, Path]:
    """Folders that open."""
    root = tmp_path_factory.mktemp("whole")
    found = {
        "merges": merges_folder(root / "merges", running_text, 600),
        "albert": sentencepiece_folder(root / "albert", "albert", running_text),
        "xlm": sentencepiece_folder(root / "xlm", "xlm-roberta", running_text),
    }
    for name, source in (("bpe", found["merges"]), ("unigram", found["xlm"])):
        rust = (
            published_roberta(source) if name == "bpe" else published_unigram(source, "xlm-roberta")
        )
        found[name] = root / name
        found[name].mkdir()
        rust.save(str(found[name] / "tokenizer.json"))
        family = "roberta" if name == "bpe" else "xlm-roberta"
        configured(found[name], family, rust.get_vocab_size())
    for folder in found.values():
        load_tokenizer(folder)
    return found


def refused(folder: Path, kind: type[BertError] = CheckpointError) -> str:
    """Return the sentence with which a folder is refused, after at most 2 s and 300 MB."""
    tracemalloc.start()
    before = time.perf_counter()
    with pytest.raises(kind) as error:
        load_tokenizer(folder)
    took, (_, most) = time.perf_counter() - before, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 10 and most < 300e6  # tracing makes it several times slower
    text = str(error.value)
    assert "\n" not in text and len(text) < 700 and text.endswith("."), text
    return text


DOCUMENTS: dict[str, tuple[str, Callable[[Document], Any], str]] = {
    "a merge of pieces that are not there": (
        "bpe",
        lambda found: found["model"]["merges"].insert(3, ["qq", "zz"]),
        "merge 3 puts 'qq' and 'zz' together, but 'qq' is not in the vocabulary",
    ),
    "a merge whose result is not there": (
        "bpe",
        lambda found: found["model"]["merges"].append(["<s>", "a"]),
        "'<s>a' is not in the vocabulary",
    ),
    "a merge of three": (
        "bpe",
        lambda found: found["model"]["merges"].append("a b c"),
        "expected two pieces",
    ),
    "no merges": (
        "bpe",
        lambda found: found["model"].update(merges=[]),
        "model.merges is 'a list of 0'",
    ),
    "merges that are a number": (
        "bpe",
        lambda found: found["model"].update(merges=7),
        "model.merges is 7",
    ),
    "dropout": ("bpe", lambda found: found["model"].update(dropout=0.1), "model.dropout is 0.1"),
    "an unknown token that is not there": (
        "bpe",
        lambda found: found["model"].update(unk_token="none"),
        "model.unk_token is 'none'",
    ),
    "a gap in the ids": (
        "bpe",
        lambda found: found["model"]["vocab"].update(gap=99_999),
        "so the ids have a gap",
    ),
    "two pieces of one id": (
        "bpe",
        lambda found: found["model"]["vocab"].update({"Ġ": 0}),
        "have the same id|ids have a gap",
    ),
    "an added token of another id": (
        "bpe",
        lambda found: found["added_tokens"][0].update(id=7),
        "the id of the added token '<s>' is 7; expected 0",
    ),
    "an added token far behind": (
        "bpe",
        lambda found: found["added_tokens"].append({"id": 10**9, "content": "new"}),
        "expected 600",
    ),
    "added tokens that are a number": (
        "bpe",
        lambda found: found.update(added_tokens=3),
        "added_tokens is 3",
    ),
    "a flag that is a word": (
        "bpe",
        lambda found: found["added_tokens"][0].update(lstrip="yes"),
        "lstrip of '<s>' is 'yes'",
    ),
    "a normalizer that does not exist": (
        "bpe",
        lambda found: found.update(normalizer={"type": "Magic"}),
        "`tokenizers` cannot use",
    ),
    "a pattern that is none": (
        "bpe",
        lambda found: found.update(
            normalizer={"type": "Replace", "pattern": {"Regex": "(("}, "content": ""}
        ),
        "`tokenizers` cannot use",
    ),
    "frames with ids of another vocabulary": (
        "bpe",
        lambda found: found["post_processor"].update(cls=["<s>", 5]),
        "The post_processor",
    ),
    "frames without the text": (
        "unigram",
        lambda found: found["post_processor"].update(single=[]),
        "The post_processor|`tokenizers` cannot use",
    ),
    "texts in the other order": (
        "unigram",
        lambda found: found["post_processor"]["pair"].reverse(),
        "The post_processor",
    ),
    "a post_processor that is a number": (
        "unigram",
        lambda found: found.update(post_processor={"type": 3}),
        "`tokenizers` cannot use",
    ),
    "a table of the normalizer that is noise": (
        "unigram",
        lambda found: found["normalizer"].update(precompiled_charsmap="AAAABBBB"),
        "`tokenizers` cannot use",
    ),
    "an unknown piece that is not there": (
        "unigram",
        lambda found: found["model"].update(unk_id=10**6),
        "model.unk_id is 1,000,000; expected an id from 0",
    ),
    "no unknown piece": (
        "unigram",
        lambda found: found["model"].update(unk_id=None),
        "model.unk_id is None",
    ),
    "a score that is a word": (
        "unigram",
        lambda found: found["model"]["vocab"].append(["x", "y"]),
        "expected a piece and its score",
    ),
    "a score that is not finite": (
        "unigram",
        lambda found: found["model"]["vocab"].append(["x", float("nan")]),
        "expected a finite number",
    ),
    "a piece without a score": (
        "unigram",
        lambda found: found["model"]["vocab"].append(["x"]),
        "expected a piece and its score",
    ),
    "byte fallback": (
        "unigram",
        lambda found: found["model"].update(byte_fallback=True),
        "model.byte_fallback is True",
    ),
    "no pieces": (
        "unigram",
        lambda found: found["model"].update(vocab=[]),
        "expected a list of 1 to",
    ),
    "WordPiece": (
        "bpe",
        lambda found: found.update(
            model={"type": "WordPiece", "vocab": {}, "unk_token": "", "merges": []}
        ),
        "of the kind 'WordPiece'; expected BPE, which roberta models read",
    ),
    "no model": ("bpe", lambda found: found.pop("model"), "of the kind 'unknown'"),
}


@pytest.mark.parametrize(("base", "change", "said"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_damaged_tokenizer_json_is_refused_in_one_sentence(
    base: str,
    change: Callable[[Document], Any],
    said: str,
    whole: dict[str, Path],
    tmp_path: Path,
) -> None:
    shutil.copytree(whole[base], tmp_path, dirs_exist_ok=True)
    document = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    change(document)
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    text = refused(tmp_path)
    assert any(part in text for part in said.split("|")), text


def test_every_beginning_of_a_file_is_refused(whole: dict[str, Path], tmp_path: Path) -> None:
    for base, name in (
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


@pytest.mark.parametrize("noise", [b"noise", b"\x00" * 4000, b"\xff" * 4000, b"\x0a\x00" * 4000])
def test_noise_is_no_sentencepiece_file(
    noise: bytes, whole: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(whole["albert"], tmp_path, dirs_exist_ok=True)
    for raw in (noise, os.urandom(50_000)):
        (tmp_path / "spiece.model").write_bytes(raw)
        assert "spiece.model" in refused(tmp_path)


def test_files_of_another_family_are_refused(whole: dict[str, Path], tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    (words / "vocab.txt").write_text("\n".join(SPECIALS), encoding="utf-8")
    configured(words, "roberta", 5)
    assert "found: vocab.txt" in refused(words, MissingFileError)
    configured(words, "gpt2", 5)
    assert "model_type is 'gpt2'; implemented are bert, distilbert" in refused(words, ConfigError)
    for base, family, said in (
        ("merges", "albert", "expected tokenizer.json, or sentencepiece.bpe.model or spiece.model"),
        ("albert", "roberta", "expected tokenizer.json, or vocab.json with merges.txt"),
        ("albert", "xlm-roberta", "expected <unk>, <s>, </s>"),
        ("xlm", "albert", "has no '[CLS]', which is put around every text"),
        ("bpe", "camembert", "of the kind 'BPE'; expected Unigram"),
        ("unigram", "roberta", "of the kind 'Unigram'; expected BPE"),
        ("bpe", "bert", "of the kind 'BPE'; expected WordPiece"),
    ):
        folder = tmp_path / f"{base}-{family}"
        shutil.copytree(whole[base], folder)
        configured(folder, family, 5_000)
        assert said in refused(folder)


def test_half_of_a_pair_of_files_is_refused(whole: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(whole["merges"], tmp_path, dirs_exist_ok=True)
    merges = (tmp_path / "merges.txt").read_bytes()
    (tmp_path / "merges.txt").write_bytes(merges + b"Q\xff")
    assert "merges.txt is not UTF-8" in refused(tmp_path)
    (tmp_path / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    assert "model.merges is 'a list of 0'" in refused(tmp_path)
    (tmp_path / "merges.txt").unlink()
    assert "but no merges.txt" in refused(tmp_path, MissingFileError)
    (tmp_path / "merges.txt").write_bytes(merges)
    (tmp_path / "vocab.json").unlink()
    assert "found: merges.txt" in refused(tmp_path, MissingFileError)


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


def test_words_that_the_model_has_no_vectors_for_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIALS, "the"]), encoding="utf-8")
    configured(tmp_path, "electra", 5)
    assert "the model has room for 5" in refused(tmp_path)


def test_a_folder_must_say_its_family(whole: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(whole["bpe"], tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.json").unlink()
    assert "does not say which family" in refused(tmp_path)
    for raw in (b"{", b"[]", b'{"model_type": ["roberta"]}'):
        (tmp_path / "config.json").write_bytes(raw)
        refused(tmp_path, BertError)


def test_a_sentencepiece_model_of_another_kind_is_refused(
    running_text: list[str], tmp_path: Path
) -> None:
    for options in ({"model_type": "bpe"}, {"byte_fallback": True}):
        folder = tmp_path / next(iter(options))
        sentencepiece_folder(folder, "xlm-roberta", running_text, **options)
        assert "is not a plain Unigram model" in refused(folder)


def test_a_frame_that_is_missing_is_the_family_s(whole: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(whole["bpe"], tmp_path, dirs_exist_ok=True)
    document = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    document["post_processor"], document["added_tokens"] = None, []
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    expected = load_tokenizer(whole["bpe"]).encode("the <mask>", "x")
    assert load_tokenizer(tmp_path).encode("the <mask>", "x") == expected


def test_a_quarter_of_a_million_pieces_are_read_in_bounded_memory(tmp_path: Path) -> None:
    vocab = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocab += [(f"\u2581p{number}", -number / 9e4) for number in range(250_000)]
    rust: Any = Tokenizer(models.Unigram([*vocab, ("<mask>", 0.0)], unk_id=3))
    rust.save(str(tmp_path / "tokenizer.json"))
    configured(tmp_path, "xlm-roberta", len(vocab))  # one too few
    assert "has room for 250,004" in refused(tmp_path)

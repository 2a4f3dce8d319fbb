"""Every family with every kind of tokenizer: the two are chosen independently of each other."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bert_core import BertForMaskedLM, load_tokenizer
from bert_core.analysis.head_statistics import fixed_texts
from bert_core.families import FAMILIES
from bert_core.text.tokenizer_class import LAYOUTS, OF_FAMILY
from tests.bert_core.families.conftest import make_peer
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder
from tests.conftest import VOCABULARY

TEXTS = [each if isinstance(each, str) else " ".join(each) for each in fixed_texts()] * 3
ASKED = [*dict.fromkeys(TEXTS)][:20]
ASKED += ["", " two  spaces ", "Été, NFD e\u0301 不 👍🏽", "it's (3,5) — x\ty", "unhappiness"]
CLASSES = [each.tokenizer_class for each in LAYOUTS]
# Each family with its own class and with another one; all pairs take long.
PAIRS = [
    pytest.param(
        family,
        tokenizer,
        marks=()
        if tokenizer in (OF_FAMILY[family].tokenizer_class, CLASSES[n % len(CLASSES)])
        else pytest.mark.slow,
    )
    for n, family in enumerate(FAMILIES)
    for tokenizer in CLASSES
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each class with the files of its first release and no configuration."""
    root = tmp_path_factory.mktemp("files")
    found = {name: root / name for name in CLASSES}
    merges_folder(found["RobertaTokenizer"], TEXTS, 400)
    for family in ("xlm-roberta", "camembert", "albert"):
        folder = found[OF_FAMILY[family].tokenizer_class]
        sentencepiece_folder(folder, family, TEXTS, 400)
    found["BertTokenizer"].mkdir()
    text = "\n".join(VOCABULARY) + "\n"
    (found["BertTokenizer"] / "vocab.txt").write_text(text, encoding="utf-8")
    for folder in found.values():
        (folder / "config.json").unlink(missing_ok=True)
    return found


@pytest.fixture(scope="module")
def whole(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each class with the `tokenizer.json` that `transformers` writes of those."""
    root = tmp_path_factory.mktemp("whole")
    for name, folder in files.items():
        peer: Any = getattr(transformers, name).from_pretrained(folder)
        peer.save_pretrained(root / name)
    return {name: root / name for name in files}


def beside(folder: Path, family: str, source: Path, named: str, name: str = "ForMaskedLM") -> Any:
    """Put a model of a family beside a tokenizer, and name the class; return the peer."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    # Before there is a model, the tokenizer says its size and its padding.
    (folder / "config.json").write_text(json.dumps({"tokenizer_class": named}), encoding="utf-8")
    tokenizer = load_tokenizer(folder)
    peer = make_peer(
        family,
        f"Bert{name}",
        vocab_size=len(tokenizer),
        max_position_embeddings=90,
        pad_token_id=tokenizer.pad_token_id,
    )
    peer.save_pretrained(folder)
    if named != OF_FAMILY[family].tokenizer_class:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config = json.dumps({**config, "tokenizer_class": named})
        (folder / "config.json").write_text(config, encoding="utf-8")
    return peer


def same_ids(ours: Any, peer: Any, texts: Sequence[str]) -> None:
    for text in texts:
        assert ours.encode(text).input_ids == peer(text)["input_ids"], text
        assert ours.encode(text, "on a mat").input_ids == peer(text, "on a mat")["input_ids"], text
    assert ours.pad_token_id == peer.pad_token_id
    assert ours.mask_token_id == peer.mask_token_id


@pytest.mark.parametrize(("family", "named"), PAIRS)
def test_ids_numbers_and_what_is_saved_are_those_of_transformers(
    files: dict[str, Path], tmp_path: Path, assert_close: Any, family: str, named: str
) -> None:
    peer = beside(tmp_path / "a", family, files[named], named)
    ours, model = load_tokenizer(tmp_path / "a"), BertForMaskedLM.from_pretrained(tmp_path / "a")
    same_ids(ours, transformers.AutoTokenizer.from_pretrained(tmp_path / "a"), ASKED)
    types = model.config.type_vocab_size
    batch = ours(
        [*ASKED[:4]],
        [*ASKED[4:8]],
        padding=True,
        truncation=True,
        max_length=80,
        return_tensors="pt",
    )
    assert int(batch["token_type_ids"].max()) < max(types, 1)
    given = {key: batch[key] for key in ("input_ids", "attention_mask")}
    if family != "distilbert":
        given["token_type_ids"] = batch["token_type_ids"]
    with torch.inference_mode():
        found, expected = model.eval().run(**batch).logits, peer(**given).logits
    here = batch["attention_mask"].bool()
    assert_close(found[here], expected[here])
    model.save_pretrained(tmp_path / "b")
    ours.save_pretrained(tmp_path / "b")
    again = load_tokenizer(tmp_path / "b")
    assert [again.encode(text, "x") for text in ASKED] == [ours.encode(text, "x") for text in ASKED]
    saved = transformers.AutoTokenizer.from_pretrained(tmp_path / "b")
    same_ids(again, saved, ASKED)
    for text in ASKED:
        kinds = again.encode(text, "x").token_type_ids
        assert kinds == saved(text, "x").get("token_type_ids", [0] * len(kinds))


@pytest.mark.parametrize(("family", "named"), PAIRS)
def test_a_tokenizer_json_is_enough(
    whole: dict[str, Path], tmp_path: Path, family: str, named: str
) -> None:
    beside(tmp_path, family, whole[named], named)
    peer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    same_ids(load_tokenizer(tmp_path), peer, ASKED)
    (tmp_path / "tokenizer_config.json").unlink()
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config.pop("tokenizer_class", None)
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    same_ids(load_tokenizer(tmp_path), peer, ASKED)

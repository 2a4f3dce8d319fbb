"""A visitor's own model in the browser: the answers of Python, and folders that are refused."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from app.engine.models import Engine
from tests.conftest import VOCABULARY
from tests.live.conftest import Node
from tests.live.test_answers import asked, differences

_SIZES = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 64, "initializer_range": 0.2}
_BERT = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 6,
         "intermediate_size": 72}  # fmt: skip
_DISTIL = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 60}
_NAMES = {0: "O", 1: "B-PER", 2: "I-PER"}
_PAIR = ("the cat [MASK] on the mat", "the dog sat")
_ROWS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "BertForPreTraining": [
        ("fill_mask", {"text": _PAIR[0]}),
        ("next_sentence", {"first": _PAIR[0], "second": _PAIR[1]}),
        ("attention", {"text": _PAIR[0], "text_pair": _PAIR[1], "layer": 1}),
        ("xray", {"text": _PAIR[0], "off": "1.3 0.f", "mode": "zero", "lens": "raw"}),
        ("tokenizer", {"text": "The cat sat."}),
    ],
    "BertForQuestionAnswering": [("qa", {"passage": "the cat sat on a mat", "question": "a dog"})],
    "BertForTokenClassification": [("ner", {"text": "the cat sat on the mat"})],
    "BertForSequenceClassification": [("classification", {"text": "the cat sat"})],
    "BertForMultipleChoice": [("multiple_choice", {"context": "cat", "choices": ["sat", "mat"]})],
    "DistilBertForMaskedLM": [
        ("fill_mask", {"text": _PAIR[0]}),
        ("attention", {"text": _PAIR[0], "text_pair": _PAIR[1]}),
    ],
    "DistilBertForSequenceClassification": [("classification", {"text": "the cat sat"})],
    "DistilBertModel": [("attention", {"text": _PAIR[0]})],
}  # fmt: skip


def saved(folder: Path, name: str, dtype: torch.dtype = torch.float32) -> Path:
    """Write a small random model as `transformers` does."""
    distil = name.startswith("Distil")
    config = getattr(transformers, "DistilBertConfig" if distil else "BertConfig")
    more: Mapping[str, Any] = {"id2label": _NAMES} if "Classification" in name else {}
    torch.manual_seed(3)
    model = getattr(transformers, name)(config(**_SIZES, **(_DISTIL if distil else _BERT), **more))
    model.to(dtype).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, torch.float32) for name in _ROWS),
     *((name, torch.float16) for name in ("BertForPreTraining", "DistilBertForMaskedLM"))],
)  # fmt: skip
def test_a_folder_answers_as_in_python(
    node: Node, bundled: Engine, tmp_path: Path, name: str, dtype: torch.dtype
) -> None:
    folder = saved(tmp_path / name, name, dtype)
    says = node("open", folder=str(folder))["says"]
    assert "layers" in says and "of this tab's memory" in says
    rows = _ROWS[name]
    for (task, given), found in zip(rows, node("ask", rows=rows, folder=True), strict=True):
        wanted = asked(task, {**given, "model": str(folder)})
        answer = found.get("answer", found)
        for each in (answer, wanted):
            each.pop("provenance", None)
            each.pop("model", None)
        assert list(differences(answer, wanted)) == []


def test_a_head_that_a_folder_lacks_is_said(node: Node, bundled: Engine, tmp_path: Path) -> None:
    says = node("open", folder=str(saved(tmp_path / "qa", "BertForQuestionAnswering")))["says"]
    assert "no head for fill-mask, next sentence, names, classification, multiple choice" in says
    (found,) = node("ask", rows=[("fill_mask", {"text": "a [MASK]"})], folder=True)
    assert "no head for this page" in found["refused"]
    rows = [
        ("xray", {"text": _PAIR[1]}),
        ("xray", {"text": _PAIR[1], "ask": "word", "lens": "raw"}),
    ]
    refused = [each["refused"] for each in node("ask", rows=rows, folder=True)]
    assert "missing in the second box" in refused[0]
    assert "no trained head for this question" in refused[1]


def _gone(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _renamed(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / name)

    return change


def _written(name: str, content: bytes, cut: int | None = 0) -> Callable[[Path], None]:
    """Write a file of `cut` bytes of what was there (all but as many, if negative), and more."""

    def change(folder: Path) -> None:
        path = folder / name
        path.write_bytes(path.read_bytes()[:cut] + content)

    return change


def _changed(**values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), "utf-8")

    return change


def _beside(**files: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for name, content in files.items():
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")

    return change


def _tensors(change: Callable[[torch.Tensor], torch.Tensor], part: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder / "model.safetensors"
        found = load_file(path)
        save_file({k: change(v) if part in k else v for k, v in found.items()}, path)

    return write


_BAD: list[tuple[Callable[[Path], None], str]] = [
    (_gone("config.json"), "There is no config.json"),
    (_written("config.json", b"[1, 2"), "not what it should be"),
    (_gone("model.safetensors"), "There is no model.safetensors"),
    (_renamed("pytorch_model.bin"), "a pickle"),
    (_written("model.safetensors", b"PK\x03\x04" + bytes(500)), "its beginning is damaged"),
    (_written("model.safetensors", b"", -1000), "is cut"),
    (_written("model.safetensors", b""), "its beginning is damaged"),
    (_renamed("model-00001-of-00002.safetensors"), "in several files"),
    (_gone("vocab.txt"), "no tokenizer.json and no vocab.txt (one is enough)"),
    (_written("vocab.txt", b"a\nb\n"), "no [UNK], [SEP]"),
    (
        _written("vocab.txt", b"".join(b"more%d\n" % n for n in range(50)), None),
        "do not belong together",
    ),
    (_beside(added_tokens={"newword": len(VOCABULARY)}), "“newword”"),
    (_beside(special_tokens_map={"mask_token": "<mask>"}), "“<mask>”"),
    (_beside(special_tokens_map={"mask_token": {"content": "[MASK]", "lstrip": True}}), "“[MASK]”"),
    (_beside(tokenizer_config={"additional_special_tokens": ["[E1]"]}), "“[E1]”"),
    (_beside(tokenizer_config={"added_tokens_decoder": {"9": {"content": "[E1]"}}}), "“[E1]”"),
    (_beside(tokenizer_config={"never_split": ["the"]}), "“the”"),
    (_beside(tokenizer_config={"do_basic_tokenize": False}), "do_basic_tokenize = false"),
    (_changed(model_type="roberta"), "“roberta”"),
    (_changed(model_type=["bert"]), "family"),
    (_changed(tokenizer_class="BertJapaneseTokenizer"), "BertJapaneseTokenizer"),
    (_changed(hidden_size=None), "hidden_size"),
    (_changed(hidden_size=1e300), "hidden_size"),
    (_changed(num_hidden_layers=9), "lacks"),
    (_changed(intermediate_size=76), "has the shape (72"),
    (_changed(num_attention_heads=5), "multiples of 8"),
    (_changed(hidden_act="relu"), "“relu”"),
    (_changed(position_embedding_type="relative_key"), "positions"),
    (_tensors(lambda each: each.bfloat16(), ""), "BF16"),
    (_tensors(lambda each: each.half(), "query.weight"), "all of one kind"),
    (_tensors(lambda each: each[:-1].clone(), "LayerNorm.weight"), "has the shape (47)"),
]


@pytest.mark.parametrize("number", range(len(_BAD)))
def test_what_does_not_fit_is_refused_in_words(node: Node, tmp_path: Path, number: int) -> None:
    change, says = _BAD[number]
    folder = saved(tmp_path / "model", "BertForMaskedLM")
    change(folder)
    assert says in node("open", folder=str(folder))["refused"]


@pytest.mark.parametrize(
    ("changes", "settings", "refused"),
    [
        ({}, {}, ""),
        ({"clean_text": False}, {}, "cleans or splits"),
        ({"type": "Lowercase"}, {}, "cleans or splits"),
        ({"lowercase": False}, {"tokenizer_class": "BertTokenizer"}, "does not say do_lower_case"),
    ],
)
def test_a_tokenizer_in_one_file_is_read(
    node: Node,
    bundled: Engine,
    tmp_path: Path,
    changes: dict[str, Any],
    settings: dict[str, Any],
    refused: str,
) -> None:
    folder = saved(tmp_path / "model", "BertForMaskedLM")
    transformers.BertTokenizer.from_pretrained(folder).save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    whole = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    whole["normalizer"] |= changes
    _beside(tokenizer=whole, tokenizer_config=settings)(folder)
    opened = node("open", folder=str(folder))
    if refused:
        assert refused in opened["refused"]
        return
    (found,) = node("ask", rows=[("tokenizer", {"text": "The CAT"})], folder=True)
    assert found["answer"]["columns"]["tokens"][1:-1] == ["the", "cat"]


def zipped(folder: Path, out: Path, method: int = ZIP_STORED, inside: str = "") -> Path:
    """Write the files of a folder into a ZIP file."""
    with ZipFile(out, "w", method) as packed:
        for path in folder.iterdir():
            packed.write(path, f"{inside}{path.name}")
    return out


@pytest.mark.parametrize("inside", ["", "mine/"])
def test_a_zip_file_answers_as_its_folder(
    node: Node, bundled: Engine, tmp_path: Path, inside: str
) -> None:
    folder = saved(tmp_path / "model", "BertForMaskedLM")
    asked_for = [("fill_mask", {"text": _PAIR[0]})]
    node("open", folder=str(folder))
    wanted = node("ask", rows=asked_for, folder=True)[0]["answer"]["slots"]
    says = node("open", file=str(zipped(folder, tmp_path / "bert-lab.zip", inside=inside)))["says"]
    assert says.startswith("“bert-lab”: 3 layers")
    assert node("ask", rows=asked_for, folder=True)[0]["answer"]["slots"] == wanted


def test_a_zip_file_that_is_no_model_is_refused_in_words(node: Node, tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", "BertForMaskedLM")
    _gone("config.json")(folder)
    bare = zipped(folder, tmp_path / "bare.zip")
    whole = bare.read_bytes()
    packed = zipped(folder, tmp_path / "packed.zip", ZIP_DEFLATED).read_bytes()
    cases = [(b"A text.", "no ZIP file"), (b"", "no ZIP file"), (whole[:-100], "no ZIP file"),
             (whole[100:], "or it is damaged"), (whole, "There is no config.json"),
             (packed, "is compressed")]  # fmt: skip
    for content, says in cases:
        bare.write_bytes(content)
        assert says in node("open", file=str(bare))["refused"]


def test_settings_that_change_nothing_are_no_reason_to_refuse(node: Node, tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", "BertForMaskedLM")
    names = {f"{role}_token": f"[{role.upper()}]" for role in ("unk", "sep", "pad", "cls", "mask")}
    plain = {"content": "[MASK]", "special": True, "normalized": False, "lstrip": False}
    settings = {**names, "added_tokens_decoder": {"4": plain}, "never_split": None}
    _beside(tokenizer_config=settings, special_tokens_map=names)(folder)
    assert "says" in node("open", folder=str(folder))

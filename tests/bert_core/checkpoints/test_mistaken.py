"""Files and folders that are something else than their names say: each is recognised by name."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from bert_core import BertModel, load_tokenizer
from bert_core.checkpoints.sources.hub_names import Part, needed
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import BertError, CheckpointError

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 440449768\n"
PAGE = b"\n<!DOCTYPE html><html><body>Sign in</body></html>"
FORMS = [
    (POINTER, "Git LFS"),
    (PAGE, "web page"),
    (b"<html><head>", "web page"),
    (b"Entry not found", "server"),
    (b"\x1f\x8b\x08\x00" + bytes(600), "gzip"),
    (b"", ""),
]


@pytest.fixture
def whole(tiny, write_folder, vocabulary_lines):
    """A folder with every file of a model that is read."""

    def write(name="model", **options):
        folder = write_folder(tiny.config, tiny.state_dict(), name=name, **options)
        (folder / "vocab.txt").write_text("\n".join(vocabulary_lines) + "\n", encoding="utf-8")
        (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
        return folder

    return write


@pytest.fixture
def vocabulary_lines():
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(94))]


@pytest.mark.parametrize(("content", "says"), FORMS, ids=[says or "empty" for _, says in FORMS])
@pytest.mark.parametrize(
    ("file", "pickle"),
    [
        ("model.safetensors", False),
        ("model.safetensors.index.json", False),
        ("pytorch_model.bin", True),
        ("config.json", False),
        ("vocab.txt", False),
        ("tokenizer_config.json", False),
        ("tokenizer.json", False),
    ],
)
def test_a_file_that_is_something_else_is_recognised(whole, file, pickle, content, says):
    folder = whole(pickle=pickle)
    if file.endswith("index.json"):
        (folder / "model.safetensors").unlink()
    (folder / file).write_bytes(content)
    with pytest.raises(BertError, match=rf"(?s){file}.*{says}"):
        load_tokenizer(str(folder)), BertModel.from_pretrained(folder)


FOLDERS = [
    (("adapter_config.json", "adapter_model.safetensors"), "merge_and_unload"),
    (("adapter_model.bin",), "merge_and_unload"),
    (("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"), "in parts"),
    (("pytorch_model.bin.index.json", "pytorch_model-00001-of-00001.bin"), "in parts"),
    (("model-00001-of-00002.safetensors",), r"index\.json"),
    (("model.onnx",), "ONNX"),
    (("onnx",), "ONNX"),
    (("bert-q8_0.gguf",), "GGUF"),
    (("tf_model.h5",), "TensorFlow"),
    (("saved_model.pb", "variables"), "TensorFlow"),
    (("flax_model.msgpack",), "Flax"),
    (("openvino_model.xml",), "another program"),
    (("bert-base.zip",), "unpack"),
    (("bert-base.tar",), "unpack"),
    (("last.ckpt",), r"pytorch_model\.bin"),
    (("weights.safetensors",), r"model\.safetensors"),
]


@pytest.mark.parametrize(("names", "says"), FOLDERS, ids=[names[0] for names, _ in FOLDERS])
@pytest.mark.parametrize("configured", [True, False])
def test_a_folder_with_other_weights_is_recognised(tiny, write_folder, names, says, configured):
    folder = write_folder(tiny.config)
    if not configured:
        (folder / "config.json").unlink()
    for name in names:
        (folder / name).write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=rf"Found: .*{names[0]}.*{says}|{says}.*merged"):
        BertModel.from_pretrained(folder)
    with pytest.raises(CheckpointError, match=says):  # the same on the Hub
        needed([path.name for path in folder.iterdir()], Part.MODEL, "someone/model")


# -- sentence-transformers ------------------------------------------------------------------------

KINDS = ("Transformer", "Pooling", "Dense", "Normalize")


def listed(folder, paths):
    modules = [
        {"idx": number, "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(zip(paths, KINDS, strict=False))
    ]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")


@pytest.mark.parametrize("inner", ["0_Transformer", "0_BERT", ""])
@pytest.mark.parametrize("with_list", [True, False])
def test_the_model_of_a_sentence_transformer_is_opened(whole, tmp_path, tiny, inner, with_list):
    folder = tmp_path / "sentences"
    shutil.copytree(whole(), folder / inner if inner else folder)
    if inner:  # as its first releases wrote it
        (folder / "config.json").write_text('{"__version__": "0.2.5"}', encoding="utf-8")
        if not with_list:
            (folder / "config.json").unlink()
    if with_list:
        listed(folder, (inner, "1_Pooling", "2_Dense", "3_Normalize"))
    model = BertModel.from_pretrained(folder)
    expected = load_file(tmp_path / "model" / "model.safetensors")
    assert all(torch.equal(each, expected[name]) for name, each in model.state_dict().items())
    above = ("1_Pooling (Pooling)", "2_Dense (Dense)", "3_Normalize (Normalize)")
    assert model.load_report.unexpected == (above if with_list else ())
    assert load_tokenizer(str(folder)).convert_tokens_to_ids(["w3"]) == [8]
    assert resolve(folder) == (folder / inner if inner else folder)

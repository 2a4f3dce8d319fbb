"""Files and folders that are something else than their names say: each is recognised by name."""

import pytest

from bert_core import BertModel, load_tokenizer
from bert_core.checkpoints.sources.hub_names import Part, needed
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

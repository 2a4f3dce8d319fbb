"""Files of other kinds than those read here, recognised by their names or first bytes."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from bert_core.errors import CheckpointError
from bert_core.small_files import FORM_BYTES, mistaken, open_regular

ADAPTERS = (
    "adapter_config.json",
    "adapter_model.safetensors",
    "adapter_model.bin",
    "pytorch_adapter.bin",
)
_SAVE = "Load it with the program that wrote it, and save it with transformers."
_KINDS = (  # names of files -> what they are
    (
        "|".join(map(re.escape, ADAPTERS)),
        "This is an adapter (LoRA or another of PEFT), without its model. Merge the two "
        "(merge_and_unload) and save the result.",
    ),
    (
        r"pytorch_model-\d{5}-of-\d{5}\.bin|pytorch_model\.bin\.index\.json",
        f"Its weights are pytorch_model.bin in parts, which are not read. {_SAVE}",
    ),
    (
        r"model-\d{5}-of-\d{5}\.safetensors",
        "Its weights are in parts, without model.safetensors.index.json. Get that, too.",
    ),
    (r".+\.onnx|onnx", f"Its weights are in ONNX. {_SAVE}"),
    (r".+\.gguf|ggml.*\.bin", f"Its weights are in GGUF, for llama.cpp. {_SAVE}"),
    (r".+\.h5|.+\.keras|saved_model\.pb", f"Its weights are TensorFlow 2's. {_SAVE}"),
    (r"flax_model\.msgpack", f"Its weights are Flax's. {_SAVE}"),
    (
        r"rust_model\.ot|openvino_.+|.+\.mlmodel|.+\.tflite|model\.bin|.+\.nemo",
        f"Its weights are in the format of another program. {_SAVE}",
    ),
    (r".+\.(zip|tar|tar\.gz|tgz|tar\.bz2|tar\.xz|7z|rar)", "It contains an archive: unpack it."),
    (
        r".+\.(pt|pth|ckpt|safetensors|bin)",
        "Weights are read as model.safetensors or pytorch_model.bin.",
    ),
)


def check_form(path: Path, own: str = "") -> int:
    """Return the size of a file of weights, which must not be another kind of file.

    `own` is how `small_files.mistaken` begins for the format's own files.
    """
    with os.fdopen(open_regular(path), "rb") as file:
        says = mistaken(file.read(FORM_BYTES))
        if says and not (own and says.startswith(own)):
            raise CheckpointError(f"{path.name} is not what its name says. It is {says}")
        return os.fstat(file.fileno()).st_size


def instead(names: Iterable[str]) -> str:
    """Return what a folder without a model has instead, as sentences after a space; or "".

    >>> instead(["README.md"]), instead(["model.gguf", "README.md"])[:36]
    ('', ' Its weights are in GGUF, for llama.')
    """
    found = list(names)
    kinds = (f" {says}" for form, says in _KINDS if any(re.fullmatch(form, each) for each in found))
    return next(kinds, "")

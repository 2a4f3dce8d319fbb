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
_CONVERT = (
    "Load it with the program that wrote it, and save it with transformers: "
    "model.save_pretrained(FOLDER)."
)
_KINDS = (
    (
        "|".join(map(re.escape, ADAPTERS)),
        "This is an adapter (LoRA or another of PEFT): changes to another model, without that "
        "model. Merge the two with PEFT and save the result: "
        "AutoPeftModel.from_pretrained(FOLDER).merge_and_unload().save_pretrained(NEW_FOLDER).",
    ),
    (
        r"pytorch_model-\d{5}-of-\d{5}\.bin|pytorch_model\.bin\.index\.json",
        "Its weights are pytorch_model.bin in parts, which are not read. Load them with "
        "transformers and save them again, which writes model.safetensors.",
    ),
    (
        r"model-\d{5}-of-\d{5}\.safetensors",
        "Its weights are in parts, without model.safetensors.index.json, which says what is "
        "where. Get that file, too.",
    ),
    (r".+\.onnx|onnx", f"Its weights are in ONNX. {_CONVERT}"),
    (r".+\.gguf|ggml.*\.bin", f"Its weights are in GGUF, for llama.cpp. {_CONVERT}"),
    (
        r".+\.h5|.+\.keras|saved_model\.pb",
        "Its weights are TensorFlow 2's. Load them with transformers before version 5 "
        "(from_tf=True) and save them again.",
    ),
    (
        r"flax_model\.msgpack",
        "Its weights are Flax's. Load them with transformers before version 5 (from_flax=True) "
        "and save them again.",
    ),
    (
        r"rust_model\.ot|openvino_.+|.+\.mlmodel|.+\.tflite|model\.bin|.+\.nemo",
        f"Its weights are in the format of another program. {_CONVERT}",
    ),
    (
        r".+\.(zip|tar|tar\.gz|tgz|tar\.bz2|tar\.xz|7z|rar)",
        "It contains an archive: unpack that, or give the archive in place of the folder.",
    ),
    (
        r".+\.(pt|pth|ckpt|safetensors|bin)",
        "It may contain weights under another name: a state_dict is expected as pytorch_model.bin, "
        "or as model.safetensors.",
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

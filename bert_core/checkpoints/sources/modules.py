"""The layout of sentence-transformers: a list of modules, of which the first is a model.

`modules.json` lists them in order; the model is at the root, or in a folder such as
`0_Transformer`. What comes after it (pooling, dense layers, scaling to length 1) makes one vector
of a text and is not computed here; reports name it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from bert_core.checkpoints.settings import CONFIG_NAMES
from bert_core.errors import BertError
from bert_core.small_files import parse_json, read_small

_NAME = "modules.json"
_LARGEST = 64 * 1024  # bytes; it has a few hundred
_FIRST = "0_"  # the folder of the model begins so in the releases before `modules.json`
_MODELS = ("Transformer", "MLMTransformer")


def model_folder(folder: Path) -> Path:
    """Return the folder of the model: that of sentence-transformers' first module, or `folder`."""
    named = [folder / path for path, kind in _modules(folder) if path and kind in _MODELS]
    if not _has_config(folder):
        named += sorted(folder.glob(f"{_FIRST}*"))
    return next(filter(_has_config, named), folder)


def modules_above(folder: Path) -> tuple[str, ...]:
    """Return the modules that come after the model in a folder, each with its kind."""
    inside = folder.parent if folder.name.startswith(_FIRST) else folder
    return tuple(f"{path} ({kind})" for path, kind in _modules(inside) if kind not in _MODELS)


def _modules(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        listed = parse_json(read_small(folder / _NAME, _LARGEST), _NAME)
    except BertError:
        return
    for each in listed if isinstance(listed, list) else ():
        path, kind = (each.get(key) for key in ("path", "type")) if isinstance(each, dict) else "  "
        if isinstance(path, str) and isinstance(kind, str) and not set(path) & set("/\\:\0"):
            yield path, kind.rpartition(".")[2]


def _has_config(folder: Path) -> bool:
    return any(os.path.isfile(folder / name) for name in CONFIG_NAMES)

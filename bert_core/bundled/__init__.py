"""The models included in the package, one folder each.

A folder contains `config.json`, `vocab.txt`, `tokenizer_config.json`, a model card and
`model.safetensors`. `heads/<ClassName>/` contains a `config.json` and the tensors in which that
class differs from the root. This package must not import torch.
"""

from pathlib import Path

from bert_core.errors import MissingFileError

_ROOT = Path(__file__).resolve().parent


def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled models, sorted."""
    return tuple(sorted(entry.parent.name for entry in _ROOT.glob("*/config.json")))


def bundled_folder(name: str) -> Path:
    """Return the folder of a bundled model (MissingFileError: no bundled model has this name)."""
    names = bundled_names()
    if name not in names:
        known = ", ".join(names) or "none in this installation"
        raise MissingFileError(f"No bundled model is called {name!r}. Bundled models: {known}.")
    return _ROOT / name

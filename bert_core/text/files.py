"""A tokenizer's folder: `vocab.txt` and `tokenizer_config.json`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_core.checkpoints.sources.hub_names import Part
from bert_core.checkpoints.sources.resolve import ARCHIVE_ENDINGS, resolve
from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.vocabulary import VOCABULARY_NAME, path_of

if TYPE_CHECKING:
    from bert_core.text.tokenizer import BertTokenizer

CONFIG_NAME = "tokenizer_config.json"
_LARGEST = 4 * 1024 * 1024  # bytes; lists of added tokens may be long
_NO_LIMIT = 1_000_000_000  # configurations write 1e30 where a model has no longest input


def find_tokenizer(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Find a vocabulary and the options that the files and the name beside it imply.

    Raises:
        InputError: what was given is neither a path nor a name.
        MissingFileError: there is no such folder or name, or no vocabulary in it.
        DownloadError: a server did not deliver it.
        CheckpointError: `tokenizer_config.json` cannot be read.
    """
    path = Path(os.path.expanduser(path_of(name_or_path)))
    if os.path.isfile(path) and not path.name.lower().endswith(ARCHIVE_ENDINGS):
        folder, vocab_file = path.parent, path
        name = f"{path.parent.name}/{path.name}"
    else:
        folder = resolve(name_or_path, cache_dir=cache_dir, revision=revision, part=Part.TOKENIZER)
        vocab_file, name = folder / VOCABULARY_NAME, _told_name(path)
        if "cased" not in name.lower():  # an archive may be called anything; its folder tells
            name = _told_name(folder)
    if not os.path.exists(vocab_file):  # unlike Path's own, no error in a folder that is locked
        raise MissingFileError(
            f"There is no {VOCABULARY_NAME} in {folder}; expected the vocabulary beside the "
            "weights. Copy it there, or name the vocabulary file itself."
        )
    options = _options(folder / CONFIG_NAME)
    options.setdefault("do_lower_case", _lower_case_by_name(name))
    return vocab_file, options


def _told_name(folder: Path) -> str:
    """Return the name that says something: a copy from the Hub lies under its commit's number.

    >>> _told_name(Path("models--google-bert--bert-base-cased/snapshots/cd5ef92a"))
    'models--google-bert--bert-base-cased'
    """
    return folder.parent.parent.name if folder.parent.name == "snapshots" else folder.name


def _lower_case_by_name(name: str) -> bool:
    lowered = name.lower()
    return "cased" not in lowered or "uncased" in lowered


def _options(path: Path) -> dict[str, Any]:
    """Read the options of `BertTokenizer` that a configuration states."""
    if not os.path.exists(path):
        return {}
    found = parse_json(read_small(path, _LARGEST), str(path))
    if not isinstance(found, dict):
        raise CheckpointError(
            f"{path} holds {type(found).__name__}; expected an object of options."
        )
    options: dict[str, Any] = {}
    for key in ("do_lower_case", "do_basic_tokenize", "strip_accents", "tokenize_chinese_chars"):
        value = found.get(key)
        if value is None:
            continue
        if not isinstance(value, bool):
            raise CheckpointError(f"{path}: {key} is {shown(value)}; expected true or false.")
        options[key] = value
    length = found.get("model_max_length", found.get("max_len"))
    if isinstance(length, int) and not isinstance(length, bool) and 0 < length < _NO_LIMIT:
        options["max_len"] = length
    return options


def save_tokenizer(tokenizer: "BertTokenizer", folder: Path) -> tuple[str, str]:
    """Write vocabulary and configuration; see `BertTokenizer.save_pretrained`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"Cannot save into {folder}: it is a file. Name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": tokenizer.do_lower_case,
        "do_basic_tokenize": tokenizer.do_basic_tokenize,
        "strip_accents": tokenizer.strip_accents,
        "tokenize_chinese_chars": tokenizer.tokenize_chinese_chars,
    }
    if tokenizer.max_len is not None:
        options["model_max_length"] = tokenizer.max_len
    for name in ("unk", "sep", "pad", "cls", "mask"):
        options[f"{name}_token"] = getattr(tokenizer, f"{name}_token")
    path = folder / CONFIG_NAME
    path.write_text(json.dumps(options, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return tokenizer.save_vocabulary(folder), str(path)

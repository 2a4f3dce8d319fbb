"""From what a caller types to a local folder.

Sources are asked in the order of `_SOURCES`; each returns a folder, or None where the text is
not of its kind. What no source knows ends in an error that says what the text looks like.
"""

import os
from pathlib import Path

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.errors import BertError, CheckpointError, InputError, MissingFileError

_ARCHIVE_ENDINGS = (".tar.gz", ".tgz", ".zip")
_TODAY = "a folder with config.json, weights and vocab.txt, or the name of a bundled model ({})"


def resolve(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> Path:
    """Return the local folder that a checkpoint's name or path stands for.

    Args:
        name_or_path: a folder, or the name of a bundled model. A folder wins over a name.
        cache_dir: where sources that download keep their files; folders and bundled models
            need none.
        revision: the version of a source that has versions; folders and bundled models have
            one only.

    Raises:
        InputError: the argument is not a text or a path, or is empty.
        MissingFileError: nothing of that name exists here.
        CheckpointError: it exists, but is not a folder.
    """
    try:
        text = os.fspath(name_or_path)
    except TypeError:
        text = None
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InputError(
            f"Expected the name of a model or the path of its folder; got {name_or_path!r}."
        )
    for source in _SOURCES:
        folder = source(text)
        if folder is not None:
            return folder
    raise _refusal(text)


def _local_folder(text: str) -> Path | None:
    folder = Path(text).expanduser()
    return folder if folder.is_dir() else None


def _bundled(text: str) -> Path | None:
    return bundled_folder(text) if text in bundled_names() else None


_SOURCES = (_local_folder, _bundled)


def _refusal(text: str) -> BertError:
    """Say what the text looks like, and what can be loaded."""
    today = _TODAY.format(", ".join(bundled_names()) or "none in this installation")
    path = Path(text).expanduser()
    if text.lower().startswith(("http://", "https://")):
        return CheckpointError(
            f"{text} is an address. Download and unpack it, then give the folder. Expected {today}."
        )
    if path.exists():
        archive = text.lower().endswith(_ARCHIVE_ENDINGS)
        found = "an archive; unpack it and give the folder" if archive else "not a folder"
        return CheckpointError(f"{text} is {found}. Expected {today}.")
    return MissingFileError(f"There is no folder or bundled model {text!r}. Expected {today}.")

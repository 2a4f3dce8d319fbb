"""Local copies of models from the Hugging Face Hub, in the layout of the Hub's own cache.

    models--<owner>--<name>/snapshots/<commit>/   the files of one version
    models--<owner>--<name>/refs/<revision>       the commit that a branch or a tag points to

Source: the layout of the cache as the Hub documents it for other programs.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Annotated

from app.settings import settings
from bert_core.checkpoints.sources.cache import cache_folder
from bert_core.checkpoints.sources.hub import remove_leftovers
from bert_core.checkpoints.sources.hub_names import MAIN, Part, checked_revision, is_complete
from bert_core.errors import InputError

_STORAGE = re.compile(r"models--(?:(?P<owner>[\w.-]+?)--)?(?P<name>[\w.-]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class HubId:
    """A model on the Hub; as a text, its id, plus the revision if that is not the main branch."""

    name: Annotated[str, "`owner/name`, or just `name` for the first models of the Hub"]
    revision: Annotated[str, "a branch, a tag or a commit"] = MAIN

    def __str__(self) -> str:
        return self.name if self.revision == MAIN else f"{self.name}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Copy:
    """A local copy of one version of a model from the Hub."""

    model: Annotated[HubId, "with the branch, tag or commit under which it was requested"]
    folder: Annotated[Path, "the folder of its files, named after the commit"]


def downloads_folder() -> Path:
    """Return the folder for visitors' downloads; it need not exist yet.

    It is separate from the cache that all programs share, which may contain models that a user
    fetched with a private token. Visitors must not reach those, even if they know the name.
    """
    named = settings().downloads
    return Path(named).expanduser().absolute() if named else cache_folder(None) / "hub"


def model_of(folder: Path) -> str | None:
    """Return the id of the model whose snapshot is in a folder; None if it is not a snapshot."""
    found = _STORAGE.fullmatch(folder.parent.parent.name)
    if found is None or folder.parent.name != "snapshots":
        return None
    return f"{found['owner']}/{found['name']}" if found["owner"] else found["name"]


def is_storage(folder: Path) -> bool:
    """Return whether a folder has the name of a model in the Hub's cache."""
    return _STORAGE.fullmatch(folder.name) is not None


def main_copy(storage: Path) -> Path | None:
    """Return the snapshot folder that `main` points to; None if there is no local copy."""
    if not is_storage(storage):
        return None
    return _snapshot(storage, storage / "refs" / MAIN)


def copies(root: Path) -> Iterator[Copy]:
    """Yield all complete versions in a folder, each model's main branch first."""
    for storage in sorted(root.glob("models--*")):
        refs = storage / "refs"
        names = [each.relative_to(refs).as_posix() for each in refs.rglob("*") if each.is_file()]
        for name in sorted(names, key=lambda name: (name != MAIN, name)):
            folder = _snapshot(storage, refs / name)
            model = model_of(folder) if folder else None
            if folder and model and _is_revision(name) and is_complete(folder, Part.MODEL):
                yield Copy(HubId(model, name), folder)


def note(folder: Path, revision: str) -> None:
    """Record the branch, tag or commit under which a now complete version was requested."""
    place = folder.parent.parent / "refs" / revision
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(f".{place.name}.{token_hex(4)}")
    try:
        fresh.write_text(folder.name, encoding="ascii")
        os.replace(fresh, place)
    finally:
        fresh.unlink(missing_ok=True)


def forget(folder: Path) -> None:
    """Remove an incomplete version, but keep files that another version needs."""
    storage = folder.parent.parent
    if any(_snapshot(storage, ref) == folder for ref in storage.glob("refs/**/*")):
        return  # it was complete once and may be in use
    others = [path for path in storage.glob("snapshots/*/**/*") if folder not in path.parents]
    needed = {path.resolve() for path in others}
    for path in sorted(folder.rglob("*"), reverse=True):
        blob = path.resolve()
        if path.is_dir():
            path.rmdir()
            continue
        path.unlink(missing_ok=True)
        if blob not in needed and storage.resolve() in blob.parents:
            blob.unlink(missing_ok=True)
    for path in storage.glob("blobs/*.incomplete"):
        path.unlink(missing_ok=True)
    for place in (folder, folder.parent, storage / "blobs", storage / "refs", storage):
        with suppress(OSError):  # it is not empty
            place.rmdir()


def remove_all_leftovers() -> None:
    """Remove the partial files of downloads that were cut short when the server was killed."""
    for storage in downloads_folder().glob("models--*"):
        remove_leftovers(storage)


def bytes_in(root: Path) -> int:
    """Return the total size in bytes of all model files in a folder, not counting links."""
    files = [path for path in root.glob("models--*/**/*") if not path.is_symlink()]
    return sum(path.stat().st_size for path in files if path.is_file())


def _is_revision(name: str) -> bool:
    try:
        return checked_revision(name) == name
    except InputError:
        return False


def _snapshot(storage: Path, ref: Path) -> Path | None:
    """Return the snapshot folder that a branch or tag points to; None if there is none."""
    try:
        commit = ref.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    folder = storage / "snapshots" / commit
    return folder if _COMMIT.fullmatch(commit) and folder.is_dir() else None

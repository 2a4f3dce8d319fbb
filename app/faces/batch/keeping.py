"""What has been answered, one file for each chunk in a folder, until there is the whole table.

A file appears whole or not at all, so a run that was killed goes on behind the last one.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from bert_core.errors import InputError

_HEAD = 2**20  # bytes of the input that tell it from another


@dataclass(frozen=True, slots=True)
class Parts:
    """The answers of a run, in a folder that no other run uses meanwhile."""

    folder: Path

    def plan(self, of: Mapping[str, object], make: Callable[[], object], *, restart: bool) -> Any:
        """Return the plan of an earlier run, which goes on, or make and keep one.

        `of` is what makes a run the same: input, task, values, model.

        Raises:
            InputError: the folder belongs to another run.
        """
        manifest = self.folder / "manifest.json"
        if restart or not manifest.is_file():
            self.clear()
            kept = {"of": of, "plan": make()}
            with whole(manifest, self.folder / "manifest.new") as file:
                file.write(json.dumps(kept).encode())
        kept = json.loads(manifest.read_bytes())
        differing = [name for name, value in of.items() if kept["of"].get(name) != value]
        if differing:
            raise InputError(
                f"{self.folder} has answers of another run: {', '.join(differing)} differ. "
                "Give --restart to start over, or another --out."
            )
        return kept["plan"]

    def has(self, number: int) -> bool:
        """Return whether a chunk is answered."""
        return self._path(number).is_file()

    def write(self, number: int, lines: bytes) -> None:
        """Keep the answers of a chunk."""
        with whole(self._path(number), self.folder / "part.new") as file:
            file.write(lines)

    def read(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield the answers of a chunk."""
        with self._path(number).open("rb") as file:
            yield from map(json.loads, file)

    def clear(self) -> None:
        """Remove what a run has written, the manifest first."""
        for path in (
            self.folder / "manifest.json",
            *self.folder.glob("*.new"),
            *self.folder.glob("*.jsonl"),
        ):
            path.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:09}.jsonl"


@contextmanager
def parts_in(folder: Path) -> Iterator[Parts]:
    """Open the folder of a run; at the end it is removed if nothing is kept in it.

    Raises:
        InputError: another run is at work there.
    """
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(f"Another run writes into {folder}. Wait until it has ended.") from None
    try:
        yield Parts(folder)
    finally:
        if not (folder / "manifest.json").exists():
            (folder / "lock").unlink(missing_ok=True)
        lock.release()
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def whole(path: Path, new: Path) -> Iterator[BinaryIO]:
    """Write a file that appears whole or not at all; `new` is its name until then."""
    with new.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def digest(path: Path) -> str:
    """Return what tells a file from another: its size, its time and its beginning."""
    about = path.stat()
    with path.open("rb") as file:
        head = hashlib.sha256(file.read(_HEAD)).hexdigest()
    return f"{about.st_size} {about.st_mtime_ns} {head}"

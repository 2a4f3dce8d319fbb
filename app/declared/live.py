"""What browsers compute themselves: the files of `live/`, their digests, and the lab's settings."""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from app.catalog import examples
from app.features.lab.result import Settings, changed, file_name, link, settings
from app.features.lab.task import RUNS
from app.settings import LIVE

_SERVED = {".js", ".wasm", ".json", ".css"}
_LAB = ("lab_page.js", "lab_worker.js", "lab.json", "lab.wasm", "tables.json")
_IMPORTED = re.compile(r'from "\./([\w.]+)"')


@cache
def live_files() -> Mapping[str, bytes]:
    """Return the files that browsers run and read, by their paths in the folder `live`."""
    return {
        path.relative_to(LIVE).as_posix(): path.read_bytes()
        for path in (*sorted(LIVE.iterdir()), *sorted(RUNS.iterdir()))
        if path.suffix in _SERVED and path.name != "service.js"
    }


def digests(files: Mapping[str, bytes], names: Iterable[str]) -> dict[str, str]:
    """Return what a page compares files with before it uses them, as browsers write digests."""
    return {
        name: f"sha256-{base64.b64encode(hashlib.sha256(files[name]).digest()).decode()}"
        for name in names
    }


def lab_files(files: Mapping[str, bytes]) -> set[str]:
    """Return the names of the files that the lab needs: its own, and what its scripts import."""
    found: set[str] = set()
    waiting = [*_LAB, *(name for name in files if name.startswith("runs/"))]
    while waiting:
        name = waiting.pop()
        if name not in found and name.endswith(".js"):
            waiting += _IMPORTED.findall(files[name].decode())
        found.add(name)
    return found


def lab_described(values: Settings, files: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what the browser's lab is told: settings, what can be set, the recorded runs.

    `values` differ from the usual run; `files` are the digests of its files, those of this checkout
    if None.
    """
    every = digests(live_files(), sorted(lab_files(live_files()))) if files is None else files
    rows = settings()
    runs = [changed(_known(each.values)) for each in examples("lab")]
    return {
        "settings": changed(values),
        "usual": {name: each.choices[0] for name, each in rows.items()},
        "choices": {name: each.choices for name, each in rows.items()},
        "labels": {name: each.label for name, each in rows.items()},
        "names": {name: each.names for name, each in rows.items() if each.names},
        "changes": [
            {"label": each.label, "note": each.note, "values": run}
            for each, run in zip(examples("lab"), runs, strict=True)
        ],
        "runs": {
            "&".join(map("=".join, link(run).items())): file_name(run)
            for run in runs
            if f"runs/{file_name(run)}" in every
        },
        "files": every,
    }


def _known(values: Mapping[str, Any]) -> Settings:
    return {name: value for name, value in values.items() if name in settings()}

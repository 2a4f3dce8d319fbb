"""Benchmarks of loading: a first answer in a fresh process, loading, memory, archives."""

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.fresh import SENTENCE, loading
from benchmarks.measure import Comparison, Goal, Row, alternate
from bert_core import BertConfig, BertForPreTraining, BertTokenizer
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.sources.archive import open_archive

TITLE = "Loading"
NOTES = (
    "Fresh process: the whole process, from starting Python to the five guesses; with the bundled "
    "model (float16 on disk, float32 in use) and with random weights of base size in float32.",
    "Loading: `BertForPreTraining.from_pretrained`, to a model in evaluation mode. transformers "
    "maps the file and reads the weights on first use; we read it while loading, and reject NaN "
    "and infinite weights. So the second row is what a user waits for: loading and the first "
    "answer, one pass over a short sentence, which reads all weights except the embeddings of "
    "other words.",
    "Memory: peak growth of the resident set of a fresh process while it loads the model and reads "
    "every weight once, including pages of mapped files.",
    "Archives: the first opening, from the archive to a folder in the cache, verifying its SHA-256 "
    "and every checksum inside; copying uses `shutil.copyfile`. Later, the folder is found by the "
    "archive's identity, which takes less than a millisecond. Deleting the written files is not "
    "timed.",
    '"Into the page cache": nothing is forced to the disk, so the system may write during or after '
    "the measured time, depending on the machine and on what ran before.",
    '"To the disk": pending writes are flushed before the clock starts (`sync`); it stops when all '
    "files written by this side are on the disk (`fsync`).",
    "The files being read are in the system's cache for both sides.",
)
_ROOT = Path(__file__).parents[1]
_MEGA = 1e6


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One line of the table about memory, with the bytes of each round."""

    work: str
    peer: str
    limit: float
    ours: Sequence[int]
    peers: Sequence[int]

    def ratios(self) -> list[float]:
        """Return our bytes divided by the peer's, for each round."""
        return [ours / peer for ours, peer in zip(self.ours, self.peers, strict=True)]

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of `measure.COLUMNS`."""
        ratios = self.ratios()
        ratio = statistics.median(ratios)
        return (
            self.work,
            self.peer,
            f"≤ {self.limit:g} × its bytes",
            f"{ratio:.2f}",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
            f"{statistics.median(self.ours) / _MEGA:.0f} MB",
            f"{statistics.median(self.peers) / _MEGA:.0f} MB",
            "yes" if ratio <= self.limit else "**no**",
        )

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        ratio = statistics.median(self.ratios())
        return f"{ratio:6.2f}  (≤ {self.limit:g})  {self.work}  vs. {self.peer}"


def rows(*, quick: bool = False) -> Iterator[Row | MemoryRow]:
    """Measure; a quick run has fewer rounds."""
    with tempfile.TemporaryDirectory() as place:
        bundled, base = bundled_folder(bundled_names()[0]), _write_base(Path(place) / "base")
        rounds = 3 if quick else 9
        yield _fill_mask("the bundled model", bundled, rounds)
        yield _fill_mask("base size in float32", base, rounds)
        yield from _loading(base, rounds)
        yield from _memory(base, rounds)
        yield from _archives(base, Path(place), 2 if quick else 5)


def _write_base(folder: Path) -> Path:
    """Write random weights of base size, and the bundled vocabulary."""
    torch.manual_seed(0)
    BertForPreTraining(BertConfig(30_522)).save_pretrained(folder)
    bundled = bundled_folder(bundled_names()[0])
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copyfile(bundled / name, folder / name)
    return folder


def _child(what: str, side: str, folder: Path) -> tuple[Any, float]:
    """Run `benchmarks.fresh` in a new process; return its result and its total seconds."""
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": str(torch.get_num_threads()),
    }
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fresh", what, side, str(folder)],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{what} with {side} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]), took


def _both(what: str, folder: Path, rounds: int) -> list[tuple[Any, float, Any, float]]:
    """Run both sides alternately, after one round of warm-up.

    Returns:
        For each round our result and seconds, and the peer's result and seconds.
    """
    found = []
    for number in range(rounds + 1):
        sides = ("ours", "peer") if number % 2 else ("peer", "ours")
        results = {side: _child(what, side, folder) for side in sides}
        if number:
            found.append((*results["ours"], *results["peer"]))
    return found


def _fill_mask(which: str, folder: Path, rounds: int) -> Row:
    found = _both("fill-mask", folder, rounds)
    if any(ours != theirs for ours, _, theirs, _ in found):
        raise SystemExit(f"The guesses differ: {found[0][0]} and {found[0][2]}.")
    times = Comparison(tuple(each[1] for each in found), tuple(each[3] for each in found))
    return Row(
        f"fill-mask of one sentence in a fresh process, {which}",
        "transformers pipeline",
        Goal("time", 0.5),
        times,
    )


def _loading(folder: Path, rounds: int) -> Iterator[Row]:
    ours, theirs = loading("ours"), loading("peer")
    ids = BertTokenizer.from_pretrained(folder)(SENTENCE, return_tensors="pt")["input_ids"]
    mine, peer = ours(str(folder)).state_dict(), theirs(str(folder)).state_dict()
    if not all(torch.equal(value, mine[name]) for name, value in peer.items()):
        raise SystemExit("The two sides read different weights.")
    del mine, peer

    def first_answer(load: Callable[[str], Any]) -> None:
        with torch.inference_mode():
            load(str(folder))(ids)

    what, where = "loading, base size in float32", "transformers"
    times = alternate(lambda: ours(str(folder)), lambda: theirs(str(folder)), rounds=rounds)
    yield Row(what, where, Goal("time", 0.5), times)
    times = alternate(lambda: first_answer(ours), lambda: first_answer(theirs), rounds=rounds)
    yield Row(f"{what}, and the first answer", where, Goal("time", 1.0), times)


def _memory(folder: Path, rounds: int) -> Iterator[MemoryRow]:
    found = _both("memory", folder, max(3, rounds // 3))
    ours, theirs = [each[0] for each in found], [each[2] for each in found]
    weights = (folder / "model.safetensors").stat().st_size
    what = "growth of memory while loading, base size in float32"
    yield MemoryRow(what, "the file's size", 1.1, ours, [weights] * len(ours))
    yield MemoryRow(what, "transformers", 1.1, ours, theirs)


def _archives(folder: Path, place: Path, rounds: int) -> Iterator[Row]:
    """Open archives of a folder for the first time, with an empty cache in each round."""
    stored = _zip(folder, place / "stored.zip", zipfile.ZIP_STORED)
    deflated = _zip(folder, place / "deflated.zip", zipfile.ZIP_DEFLATED)
    packed = _tar_gz(folder, place / "packed.tar.gz")
    inflating = _Peer("inflating it with zlib, nothing written", _inflate, Goal("time", 1.5))
    kinds = {"a `.zip` that stores": stored, "a `.zip` that deflates": deflated}
    for kind, path in {**kinds, "a `.tar.gz`": packed}.items():
        for where, to_disk in (("into the page cache", False), ("to the disk", True)):
            copying = _Peer(f"copying the archive {where}", _copy, Goal("time", 2.0), to_disk)
            yield _opening(f"{kind} {where}", path, copying, rounds)
    yield _opening("a `.tar.gz` into the page cache", packed, inflating, rounds)


@dataclass(frozen=True, slots=True)
class _Peer:
    """Work that opening an archive is compared with.

    Attributes:
        name: description of the work.
        work: does the work, from an archive to an empty folder.
        goal: the ratio to reach.
        to_disk: whether the time includes flushing all written files to the disk.
    """

    name: str
    work: Callable[[Path, Path], object]
    goal: Goal
    to_disk: bool = False


def _opening(kind: str, path: Path, peer: _Peer, rounds: int) -> Row:
    sides: dict[str, Callable[[Path, Path], object]] = {"ours": open_archive, "peer": peer.work}
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for number in range(rounds + 1):
        for side in sorted(sides, reverse=number % 2 == 0):
            took = _seconds(sides[side], path, to_disk=peer.to_disk)
            if number:  # the first round is a warm-up
                times[side].append(took)
    size = round(path.stat().st_size / _MEGA)
    return Row(
        f"opening {kind}, base size ({size} MB), for the first time",
        peer.name,
        peer.goal,
        Comparison(tuple(times["ours"]), tuple(times["peer"])),
    )


def _copy(path: Path, place: Path) -> None:
    shutil.copyfile(path, place / path.name)


def _inflate(path: Path, place: Path) -> None:
    inflating = zlib.decompressobj(wbits=31)
    with path.open("rb") as file:
        while chunk := file.read(2**17):
            inflating.decompress(chunk)


def _seconds(work: Callable[[Path, Path], object], path: Path, *, to_disk: bool) -> float:
    """Time one side's work, writing to a temporary folder next to the archive."""
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        place = Path(name)
        if to_disk and hasattr(os, "sync"):
            os.sync()
        began = time.perf_counter()
        work(path, place)
        if to_disk:
            _flush(place)
        return time.perf_counter() - began


def _flush(place: Path) -> int:
    """Wait until every file below a folder is on the disk; return how many there are."""
    files = [path for path in place.rglob("*") if path.is_file()]
    for path in files:
        with path.open("r+b") as file:  # some systems flush only files opened for writing
            os.fsync(file.fileno())
    return len(files)


def _zip(folder: Path, path: Path, kind: int) -> Path:
    with zipfile.ZipFile(path, "w", kind, compresslevel=1) as archive:
        for each in sorted(folder.iterdir()):
            archive.write(each, each.name)
    return path


def _tar_gz(folder: Path, path: Path) -> Path:
    with (
        gzip.open(path, "wb", compresslevel=1) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for each in sorted(folder.iterdir()):
            archive.add(each, each.name)
    return path

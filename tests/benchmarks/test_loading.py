"""What is timed in fresh processes is the same work on both sides, and rows say what was found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import loading
from benchmarks.fresh import fill_mask
from benchmarks.fresh import loading as loader_of
from benchmarks.loading import MemoryRow
from benchmarks.measure import COLUMNS, Goal
from benchmarks.report import section

ROOT = Path(__file__).resolve().parents[2]


def test_both_sides_answer_alike(tiny_folder: Path) -> None:
    ours, theirs = fill_mask("ours", str(tiny_folder)), fill_mask("peer", str(tiny_folder))
    assert len(ours) == 5 and ours == theirs


def test_both_sides_load_the_same_weights(tiny_folder: Path) -> None:
    ours, theirs = (loader_of(side)(str(tiny_folder)).state_dict() for side in ("ours", "peer"))
    assert all(torch.equal(value, ours[name]) for name, value in theirs.items())


@pytest.mark.skipif(sys.platform != "linux", reason="memory is asked of Linux")
def test_a_fresh_process_says_by_how_much_it_grew(tiny_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fresh", "memory", "ours", str(tiny_folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    weights = (tiny_folder / "model.safetensors").stat().st_size
    assert weights < json.loads(done.stdout) + 2**21 < 2**26  # not the gigabyte of its imports


def test_a_row_about_memory_has_the_columns_of_the_others() -> None:
    row = MemoryRow("loading", "the file", 1.1, [110_000_000] * 3, [100_000_000] * 3)
    assert row.cells()[2:] == (
        *("≤ 1.1 × its bytes", "1.10", "1.10 to 1.10", "110 MB", "100 MB", "yes"),
    )
    assert len(row.cells()) == len(COLUMNS)
    worse = MemoryRow("loading", "the file", 1.1, [120, 130], [100, 100])
    assert worse.cells()[-1] == "**no**" and "| loading |" in section("Loading", [worse])


def test_archives_are_opened_beside_copying_them(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    flush = loading._flush
    monkeypatch.setattr(loading, "_flush", lambda place: flushed.append(flush(place)))
    synced: list[bool] = []  # it waits for every program on the machine, so not in a test
    monkeypatch.setattr("os.sync", lambda: synced.append(True), raising=False)
    rows = list(loading._archives(tiny_folder, tmp_path, 2))
    cache, disk = "copying the archive into the page cache", "copying the archive to the disk"
    assert [row.peer for row in rows][:6] == [cache, disk] * 3
    assert [("to the disk" in row.work) for row in rows] == [False, True] * 3 + [False]
    assert all(len(row.comparison.ours) == len(row.comparison.peer) == 2 for row in rows)
    # Both sides, two rounds and one for nothing, of three archives; a copy is one file.
    assert len(flushed) == len(synced) == 3 * 3 * 2
    assert flushed.count(1) == 9 and all(count > 3 for count in flushed if count != 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("deflated.zip", "packed.tar.gz", "stored.zip"),
    ]


def test_the_side_that_begins_changes_every_round(tiny_folder: Path, tmp_path: Path) -> None:
    path = loading._zip(tiny_folder, tmp_path / "a.zip", loading.zipfile.ZIP_STORED)
    began: list[str] = []
    peer = loading._Peer("noting", lambda archive, place: began.append("peer"), Goal("time", 2))
    opened = loading.open_archive

    def opening(archive: Path, place: Path) -> object:
        began.append("ours")
        return opened(archive, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "open_archive", opening)
        row = loading._opening("a `.zip`", path, peer, 3)
    assert began == ["peer", "ours", "ours", "peer"] * 2
    assert len(row.comparison.ours) == 3

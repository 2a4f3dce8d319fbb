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
from benchmarks.measure import COLUMNS
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


def test_archives_are_opened_beside_copying_them(tiny_folder: Path, tmp_path: Path) -> None:
    rows = list(loading._archives(tiny_folder, tmp_path, 1))
    assert [row.peer for row in rows][:3] == ["copying the archive"] * 3
    assert all(len(row.comparison.ours) == len(row.comparison.peer) == 1 for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("deflated.zip", "packed.tar.gz", "stored.zip"),
    ]

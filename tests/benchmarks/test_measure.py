from pathlib import Path

import pytest

from benchmarks.measure import Row, alternate
from benchmarks.report import machine, section, versions

SLOWER = ([2.0, 3.0, 8.0], [4.0, 3.0, 2.0])


def row(goal="time", limit=1.02):
    return Row("forward", "the peer", goal, limit, SLOWER, items=2)


def test_ratios_are_taken_round_by_round():
    assert row().ratios() == [0.5, 1.0, 4.0]
    assert row("speed").ratios() == [2.0, 1.0, 0.25]


def test_both_sides_run_equally_often_and_take_turns():
    calls = []
    found = alternate(lambda: calls.append("a"), lambda: calls.append("b"), rounds=6, seconds=0)
    assert [len(each) for each in found] == [6, 6]
    assert calls.count("a") == calls.count("b")
    assert calls[-4:] == ["a", "b", "b", "a"]
    assert all(seconds > 0 for each in found for seconds in each)


@pytest.mark.parametrize(
    ("kind", "limit", "text", "reached"),
    [
        ("time", 1.02, "time ≤ 1.02", True),
        ("time", 0.9, "time ≤ 0.9", False),
        ("speed", 1, "speed ≥ 1", True),
        ("speed", 4, "speed ≥ 4", False),
    ],
)
def test_goals_are_written_and_judged(kind, limit, text, reached):
    assert row(kind, limit).cells()[-1] == f"{text}: {'yes' if reached else '**no**'}"


def test_a_section_shows_every_figure():
    text = section("Forward pass", [row(), row("speed", 4)], ["a note"])
    assert text.startswith("## Forward pass\n")
    assert "| the peer | 1.50 s | 1.50 s | 1.00 (0.50–4.00) | time ≤ 1.02: yes |" in text
    assert "| 1.50 s | 1.50 s | 1.00 (0.25–2.00) | speed ≥ 4: **no** |" in text
    assert "- a note" in text


def test_the_machine_is_described_without_names_or_paths():
    text = f"{machine()} {versions()}"
    assert "cores" in text
    assert "torch" in text
    assert str(Path.home()) not in text

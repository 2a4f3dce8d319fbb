"""Figures beside the weights: what is reached, and what a file may say."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bert_core.bundled.figures import FIGURES, Bin, Figure, read_figures, write_figures
from bert_core.errors import CheckpointError, InputError

NAMES = Figure("names", "a file", 0.62, 0.6, 0.64, 100, "found names", floor=0.62, goal=0.74)
CHOICE = Figure("choice", "a file", 0.31, 0.24, 0.38, 200, "right", 0.25, 0.45, chance=0.25)
ERROR = Figure("gap", "a file", 0.03, 0.02, 0.05, 50, "error", 0.04, 0.02, lower_is_better=True)


def test_a_floor_is_reached_from_the_share_on() -> None:
    assert NAMES.reaches_floor is True
    assert NAMES.reaches_goal is False
    assert replace(NAMES, share=0.6194).reaches_floor is False
    assert replace(NAMES, share=0.6196).reaches_floor is True  # both are shown as 62.0 %
    assert replace(NAMES, floor=None, goal=None).reaches_floor is None
    assert replace(NAMES, goal=None).reaches_goal is None


def test_chance_as_a_floor_has_to_be_cleared_by_the_whole_interval() -> None:
    assert CHOICE.reaches_floor is False
    assert replace(CHOICE, low=0.251).reaches_floor is True


def test_figures_come_back_as_they_were_written(tmp_path: Path) -> None:
    figures = (NAMES, CHOICE, ERROR)
    write_figures(tmp_path, figures)
    assert read_figures(tmp_path) == figures
    rows = json.loads((tmp_path / FIGURES).read_text(encoding="utf-8"))
    assert rows[0]["floor"] == 0.62
    assert rows[0]["chance"] is None


def test_bins_come_back_a_line_each_and_tell_what_was_stated_and_right(tmp_path: Path) -> None:
    binned = replace(ERROR, bins=(Bin(20, 0.6, 0.5), Bin(30, 0.9, 1.0)))
    assert (binned.stated, binned.right) == (pytest.approx(0.78), pytest.approx(0.8))
    assert (ERROR.stated, ERROR.right) == (None, None)
    write_figures(tmp_path, [binned, NAMES])
    text = (tmp_path / FIGURES).read_text(encoding="utf-8")
    assert "[ 20, 0.6, 0.5 ],\n" in text
    assert read_figures(tmp_path) == (binned, NAMES)
    (tmp_path / FIGURES).write_text(text.replace('"bins"', '"floors"'), encoding="utf-8")
    with pytest.raises(CheckpointError, match="floors"):
        read_figures(tmp_path)


def test_a_share_that_cannot_be_is_refused() -> None:
    impossible: tuple[dict[str, object], ...] = (
        {"share": 1.2},
        {"low": 0.7, "high": 0.6},
        {"cases": 0},
        {"goal": 74.0},
        {"bins": (Bin(100, 1.2, 0.5),)},
        {"bins": (Bin(99, 0.2, 0.5),)},
        {"bins": (Bin(101, 0.2, 0.5), Bin(-1, 0.5, 0.5))},
    )
    for wrong in impossible:
        with pytest.raises(InputError, match="'names'"):
            replace(NAMES, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "expected a list"),
        ("[1]", "expected a figure"),
        ('[{"task": "a"}]', "missing or extra keys"),
        ("no", "not valid JSON"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / FIGURES).write_text(text, encoding="utf-8")
    with pytest.raises(CheckpointError, match=said):
        read_figures(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("share", "0.5"),
        ("cases", 1.5),
        ("lower_is_better", 1),
        ("low", None),
        ("high", 1e999),
        ("bins", None),
        ("bins", [[1, 0.5]]),
        ("bins", [[1.0, 0.5, 0.5]]),
        ("bins", [[1, 0.5, "1"]]),
    ],
)
def test_a_value_of_another_kind_is_refused(tmp_path: Path, name: str, value: object) -> None:
    write_figures(tmp_path, [NAMES])
    rows = json.loads((tmp_path / FIGURES).read_text(encoding="utf-8"))
    rows[0][name] = value
    (tmp_path / FIGURES).write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(CheckpointError, match=name):
        read_figures(tmp_path)

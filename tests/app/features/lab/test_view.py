"""The pictures and words of a recorded run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from app.features.lab import view
from app.features.lab.result import LabResult
from app.features.lab.task import recorded
from app.features.lab.view import accuracies, losses
from tests.drawings import elements, words
from tests.snippets import ran


def run(**settings: str | int | float | bool) -> LabResult:
    found = recorded(settings)
    assert found is not None
    return found


def places(drawing: object, *classes: str) -> list[np.ndarray]:
    """Return the points of the lines with these classes, (N, 2) each."""
    lines = [each.attributes for each in elements(drawing, "polyline", "bx-lab-line")]
    return [
        np.array([[float(n) for n in pair.split(",")] for pair in each["points"].split()])
        for each in lines
        if set(classes) <= set(each["class"].split())
    ]


def test_a_loss_is_drawn_where_the_axis_says() -> None:
    found = run()
    drawn = losses(found).narrow
    (line,) = places(drawn, "bx-lab-held_out")
    assert len(line) == len(found.points)
    grid = [float(e.attributes["y1"]) for e in elements(drawn, "line", "bx-svg-grid")]  # 0, 2 ...
    ticks = range(0, 2 * len(grid), 2)
    level = np.interp([p.held_out for p in found.points], ticks, grid)
    assert line[:, 1] == pytest.approx(level, abs=0.1)
    share = np.array([point.step / 2_000 for point in found.points])
    left, right = line[0, 0], float(elements(drawn, "line", "bx-svg-grid")[0].attributes["x2"])
    assert line[:, 0] == pytest.approx(left + (right - left) * share**0.5, abs=0.1)
    guesses = [float(each.attributes["y1"]) for each in elements(drawn, "line", "bx-lab-guess")]
    assert guesses == pytest.approx(
        np.interp([found.start.log_v, found.start.unigram], ticks, grid), abs=0.1
    )
    assert f"log V {found.start.log_v:.2f}" in words(drawn) and "square root" in words(drawn)
    assert f"{found.points[-1].held_out:.2f}" in losses(found).alt


def test_accuracy_has_a_row_with_floor_and_ceiling_for_each_phenomenon() -> None:
    found = run()
    shown = accuracies(found)
    drawn = shown.narrow
    count = len(found.start.phenomena)
    tracks = elements(drawn, "rect", "bx-svg-track")
    assert len(tracks) == len(places(drawn, "bx-lab-held_out")) == count
    assert len(elements(drawn, "line", "bx-lab-ceiling")) == count + 1  # and the legend
    objects = [each.name for each in found.start.phenomena].index("object by verb")
    y, high = (tracks[objects].number(each) for each in ("y", "height"))
    ceiling = elements(drawn, "line", "bx-lab-ceiling")[objects]
    assert ceiling.number("y1") == pytest.approx(y + high / 2, abs=0.1)  # half can be known
    line = places(drawn, "bx-lab-held_out")[objects]
    share = [point.accuracy[objects] for point in found.points]
    assert line[:, 1] == pytest.approx(y + high * (1 - np.array(share)), abs=0.1)
    assert set(shown.table) == {"step", *(each.name for each in found.start.phenomena)}


def test_gaps_show_the_guess_and_what_is_there() -> None:
    found = run()
    before = words(view.gaps(found, found.points[0]))
    assert before.count("✗") > 2 and "There: " in before
    assert words(view.gaps(found, found.points[-1])).count("✓") == len(found.start.watched)
    odd = replace(found.start, watched=(("a <b> [MASK] & c", "<i>"),))
    point = replace(found.points[-1], guesses=((("<u>", 0.5), ("x", 0.1)),))
    drawn = str(view.gaps(replace(found, start=odd), point))
    assert "&lt;u&gt;" in drawn and "&lt;i&gt;" in drawn and "<u>" not in drawn


def test_rows_show_what_is_hidden_replaced_and_kept() -> None:
    found = run()
    drawn = str(view.rows(found))
    fates = [fate for row in found.start.rows for fate in row.fates if fate]
    assert fates
    for fate in ("masked", "replaced", "kept"):
        assert drawn.count(f"bx-lab-{fate}") == fates.count(fate) + 1  # and the legend
    pair = replace(found.start.rows[0], follows=False)
    both = replace(found, start=replace(found.start, rows=(pair,)))
    assert "It does not follow." in words(view.rows(both))


def test_the_report_of_a_run_that_failed_says_so_first() -> None:
    found = run(learning_rate=0.03)
    shown = view.screen(replace(found, diverged="The loss is <nan>.")).report()
    assert "&lt;nan&gt;" in str(shown.first[0])
    assert re.match(r"After [\d,]+ steps the loss of new sentences is \d", shown.headline)


def test_the_lines_of_python_build_a_model_of_the_same_size() -> None:
    for found in (run(), run(layers=1)):
        _, printed = ran(view.snippet(found, ""))
        assert int(printed) == found.start.parameters

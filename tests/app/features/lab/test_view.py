"""The pictures and words of a run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from app.features.lab import view
from app.features.lab.result import LabResult, State, Status
from app.features.lab.result_corpus import Phenomenon, Probe
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_recorded import recorded
from app.features.lab.view_curves import accuracies, losses, thin
from app.features.lab.view_inside import attention, vectors
from app.features.lab.view_words import BETTER, SAME, WORSE, choices, first_learned, outcome
from tests.drawings import elements, words

NAMES = ("hidden words: 15 %", "hidden words: 80 %")


def run(**settings: object) -> LabResult:
    found = recorded(LabSettings(**settings))  # type: ignore[arg-type]
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
    drawn = losses([found]).narrow
    (line,) = places(drawn, "bx-lab-held_out")
    assert len(line) == len(found.points)
    grid = [float(e.attributes["y1"]) for e in elements(drawn, "line", "bx-svg-grid")]  # 0, 2 ...
    level = np.interp([p.held_out for p in found.points], range(0, 9, 2), grid)
    assert line[:, 1] == pytest.approx(level, abs=0.1)
    share = np.array([point.step / 2_000 for point in found.points])
    left, right = line[0, 0], float(elements(drawn, "line", "bx-svg-grid")[0].attributes["x2"])
    assert line[:, 0] == pytest.approx(left + (right - left) * share**0.5, abs=0.1)
    guesses = [float(each.attributes["y1"]) for each in elements(drawn, "line", "bx-lab-guess")]
    assert guesses == pytest.approx(
        np.interp([found.start.log_v, found.start.unigram], range(0, 9, 2), grid), abs=0.1
    )
    assert f"log V {found.start.log_v:.2f}" in words(drawn)


def test_two_runs_are_in_one_picture_with_their_names_and_dashes() -> None:
    both = [run(), run(mask_rate=80)]
    shown = losses(both, NAMES)
    for number, name in enumerate(NAMES):
        assert len(places(shown.wide, f"bx-lab-run{number}", "bx-lab-held_out")) == 1
        assert elements(shown.wide, "line", f"bx-lab-run{number}")  # the sample before its name
        assert name in words(shown.wide)
    assert set(shown.table["run"]) == set(NAMES) and len(shown.table) <= 200
    assert all(name in shown.alt for name in NAMES)


def test_accuracy_has_a_row_with_floor_and_ceiling_for_each_phenomenon() -> None:
    found = run()
    shown = accuracies([found], at=0)
    drawn = shown.narrow
    count = len(found.start.phenomena)
    tracks = elements(drawn, "rect", "bx-svg-track")
    assert len(tracks) == len(places(drawn, "bx-lab-held_out")) == count
    assert len(elements(drawn, "line", "bx-lab-ceiling")) == count + 1  # and the legend
    assert len(elements(drawn, "line", "bx-svg-here")) == count
    objects = [each.name for each in found.start.phenomena].index("object by verb")
    y, high = (tracks[objects].number(each) for each in ("y", "height"))
    ceiling = elements(drawn, "line", "bx-lab-ceiling")[objects]
    assert ceiling.number("y1") == pytest.approx(y + high / 2, abs=0.1)  # half can be known
    line = places(drawn, "bx-lab-held_out")[objects]
    share = [point.accuracy[objects] for point in found.points]
    assert line[:, 1] == pytest.approx(y + high * (1 - np.array(share)), abs=0.1)
    assert set(shown.table) == {"step", *(each.name for each in found.start.phenomena)}


def test_a_phenomenon_that_the_other_run_cannot_spell_is_left_out() -> None:
    found = run()
    less = replace(
        found,
        start=replace(found.start, phenomena=found.start.phenomena[1:]),
        points=tuple(replace(each, accuracy=each.accuracy[1:]) for each in found.points),
    )
    drawn = accuracies([found, less], NAMES).narrow
    assert "100 | –" in words(drawn)
    assert "None" not in accuracies([found, less], NAMES).alt


def test_attention_is_as_deep_as_its_share() -> None:
    found = run()
    point = found.points[-1]
    shown = attention(found, point, 1, 2)
    depths = [each.number("fill-opacity") for each in elements(shown.wide, "rect", "bx-svg-cell")]
    assert depths == pytest.approx(point.attention[1, 2].ravel().tolist(), abs=1e-3)
    assert shown.table.shape == (len(found.start.attended), len(found.start.attended) + 1)
    rows = shown.table.iloc[:, 1:].sum(axis=1)
    assert rows.to_numpy() == pytest.approx(1, abs=0.02)


def test_every_word_is_drawn_once_inside_the_frame() -> None:
    found = run()
    for point in (found.points[0], found.points[-1]):
        drawn = vectors(found, point).wide
        texts, dots = elements(drawn, "text"), elements(drawn, "circle")
        assert len(texts) + len(dots) == len(found.start.shown)
        for each in texts:
            assert 0 <= each.number("x") <= 270 and 0 <= each.number("y") <= 270
    first, last = (np.abs(found.points[at].vectors).max() for at in (0, -1))
    assert first < last  # they drift apart


def test_gaps_show_the_guess_and_what_is_there() -> None:
    found = run()
    said = words(view.gaps(found, found.points[0]))
    assert said.count("✗") == 5 and "There" not in said
    said = words(view.gaps(found, found.points[-1]))
    assert "norway is ✓ oslo" in said and "> 99 %" in said
    odd = replace(found.start, watched=(Probe("a <b> [MASK] & c", "<i>"),))
    point = replace(found.points[-1], guesses=((("<u>", 0.5), ("x", 0.1)),))
    drawn = str(view.gaps(replace(found, start=odd), point))
    assert "&lt;u&gt;" in drawn and "&lt;i&gt;" in drawn and "<u>" not in drawn


def test_rows_show_what_is_hidden_replaced_kept_and_padded() -> None:
    found = run(next_sentence=True)
    drawn = view.rows(found)
    fates = [fate for row in found.start.rows for fate in row.fates if fate]
    for fate in ("masked", "replaced", "kept"):
        legend = 1
        count = str(drawn).count(f"bx-lab-{fate}")
        assert count == fates.count(fate) + legend
    assert str(drawn).count("bx-lab-padding") == 1 + sum(
        not real for row in found.start.rows for real in row.real
    )
    assert "The second sentence follows." in words(drawn) or "not follow" in words(drawn)


def test_the_vocabulary_grows_join_by_join() -> None:
    found = run()
    first = found.start.examples[0].split()[0]
    assert "·".join(first) in words(view.vocabulary(found, 0))
    done = words(view.vocabulary(found, len(found.start.joins)))
    assert f"{len(found.start.joins)} joins in all" in done and "t·h·e" not in done
    assert view.pieces("dogs", found.start.joins) == ["dogs"]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (Status(State.WAITING, 2), "waits for its turn: 2 runs before yours"),
        (Status(State.RUNNING), "● trains"),
        (Status(State.FAILED, 0, "<b>"), "<b>"),
    ],
)
def test_the_state_is_a_sign_and_words(status: Status, says: str) -> None:
    drawn = view.state(status, "grammar")
    assert says in words(drawn) and "<b>" not in str(drawn)


def test_what_is_learned_first_is_first_near_its_best() -> None:
    found = run()
    assert first_learned(found) == "pronoun by name"
    assert outcome(found, None) == "pronoun by name"
    assert first_learned(run(corpus="facts")) == "people"
    flat = replace(found, points=found.points[:1])
    assert first_learned(flat) == ""
    assert "does not decide" in words(view.verdict("facts", ""))


def test_a_change_is_judged_against_the_run_without_it() -> None:
    usual = run()
    assert choices(LabSettings(mask_rate=80), ()) == (BETTER, SAME, WORSE)
    assert outcome(run(positions=False), usual) == WORSE
    assert outcome(run(shared=True), usual) == SAME
    assert outcome(run(mask_rate=80), None) == ""


def test_a_way_is_none_where_nothing_can_be_learned() -> None:
    assert Phenomenon("a", (), 0.125, 0.125).way(0.5) is None
    assert Phenomenon("a", (), 0.5, 1.0).way(0.75) == 0.5
    assert Phenomenon("a", (), 0.0).way(0.25) == 0.25


def test_few_points_of_a_long_run_are_drawn() -> None:
    points = run().points * 20
    found = thin(points, 150)
    assert 75 <= len(found) <= 151 and found[-1] is points[-1]


def test_the_report_of_a_run_that_failed_says_so_first() -> None:
    found = run(learning_rate=0.03)
    told = view.screen(replace(found, diverged="The loss is <nan>.")).report()
    assert "&lt;nan&gt;" in str(told.first[0])
    assert re.match(r"After [\d,]+ steps the loss of new sentences is \d", told.headline)
    assert len(told.drawn()) > 8

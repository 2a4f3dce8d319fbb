"""Exercises of the lab: what is right follows from the seeds that were run."""

import json
from dataclasses import replace

import pytest

from app.features.lab.result_exercises import Exercise, Option
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_exercises import (
    MEASURED,
    SEEDS,
    STEPS,
    ended,
    exercises,
    measured,
    settings_of,
    told_apart,
    wanted,
)
from app.features.lab.task_run import Run
from app.features.lab.view_exercises import bands, phenomena, verdict

ROWS = {LabSettings(**row["settings"]): row for row in json.loads(MEASURED.read_text("utf-8"))}


def test_every_setting_of_an_exercise_was_run_with_every_seed() -> None:
    every = {replace(each, seed=seed) for each in wanted() for seed in SEEDS}
    assert every == ROWS.keys() and len(exercises()) == 5
    assert {each.steps for each in every} == {STEPS, 2000}


@pytest.mark.parametrize(
    ("values", "best", "right"),
    [
        ([(1, 2), (3, 4), (0, 1)], "most", 1),
        ([(1, 2), (3, 4), (0, 0.5)], "least", 2),
        ([(1, 3), (2, 4)], "most", None),
        ([(1, 2), (2, 3)], "most", None),  # equal is not better
        ([(9, 9), ()], "least", 0),
        ([(), ()], "most", None),
    ],
)
def test_a_choice_is_right_only_if_its_worst_seed_beats_all_others(
    values: list[tuple[float, ...]], best: str, right: int | None
) -> None:
    assert told_apart(values, best) == right


def test_what_is_right_is_what_was_measured() -> None:
    nothing, shuffled, small, heart, luck = exercises()
    for each, of, pick in ((nothing, "way", min), (heart, "gap", max)):
        means = [sum(option.values) / len(SEEDS) for option in each.options]
        assert each.right == means.index(pick(means)), each.title
        for option in each.options:
            seeds = [ROWS[replace(option.settings, seed=seed)][of] for seed in SEEDS]
            assert option.values == tuple(seeds)
    usual, changed = (
        [ROWS[replace(settings_of(change, 2000), seed=seed)]["accuracy"] for seed in SEEDS]
        for change in ({}, {"shuffled": True})
    )
    for option in shuffled.options:
        lost = [a[option.say] - b[option.say] for a, b in zip(usual, changed, strict=True)]
        assert option.values == pytest.approx(lost)
    assert shuffled.right is not None
    assert "noun" in shuffled.options[shuffled.right].say  # the order alone tells which one
    reached = [each for each in small.options if each.allowed]
    assert small.right is not None and small.options[small.right] in reached
    assert small.options[small.right].values[0] == min(each.values[0] for each in reached)
    assert luck.right is None  # the seeds differ more than the numbers of heads


def test_the_bands_have_a_dot_for_each_seed_at_its_value() -> None:
    options = (Option("a<b", LabSettings(), (1.0, 2.0)), Option("c", LabSettings(), (4.0, 3.0)))
    found = Exercise("t", "q", "way", options, 1, "why")
    drawn = bands(found)
    assert list(drawn.table.iloc[:, 2]) == [1.0, 2.0, 4.0, 3.0]
    assert "a&lt;b" in str(drawn.wide)
    said = str(verdict(found, None))
    assert "They cannot be told apart." in said and "c." in said
    assert "Too far" not in said
    short = replace(found, options=(options[0], replace(options[1], allowed=False)), right=None)
    assert "Too far from it, with one seed at least: c." in str(verdict(short, 0))


def test_every_phenomenon_has_an_example() -> None:
    measured_ = corpus_of(LabSettings()).phenomena
    said = str(phenomena(measured_))
    for each in measured_:
        assert f"{each.name}</strong>" in said and f"→ {each.probes[0].answer}" in said


@pytest.mark.slow
def test_a_run_anew_gives_what_is_kept() -> None:
    settings = settings_of({"layers": 1, "width": 32})
    found = measured(ended(Run(settings)))
    assert found["parameters"] == ROWS[settings]["parameters"]
    assert found["way"] == pytest.approx(ROWS[settings]["way"], abs=0.05)

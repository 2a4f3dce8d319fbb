"""The recorded runs of the lab, which the browser's own code has written."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.faces.paper.json import as_json
from app.features.lab.result import (
    LabResult,
    Phenomenon,
    changed,
    file_name,
    link,
    named,
    of_address,
    settings,
)
from app.features.lab.task import RUNS, lab, recorded
from bert_core.errors import InputError

LEARNED = {"agreement", "agreement across a noun", "pronoun by name", "object by verb", "facts"}


def usual() -> LabResult:
    found = recorded({})
    assert found is not None
    return found


def test_every_example_is_recorded_and_changes_one_setting(tiny_engine: Engine) -> None:
    files = set()
    for each in examples("lab"):
        values: Mapping[str, Any] = dict(each.values)
        assert len(values) == 1
        found = lab(tiny_engine, **values)
        assert changed(found.start.settings) == changed(values)
        assert found.points[0].step == 0
        assert found.diverged or found.points[-1].step == 2_000
        files |= {file_name(values)}
    assert files == {path.name for path in RUNS.glob("*.json")}


def test_the_usual_run_comes_near_the_best_possible() -> None:
    found = usual()
    near = {
        each.name
        for each, share in zip(found.start.phenomena, found.points[-1].accuracy, strict=True)
        if each.ceiling is not None
        and each.ceiling > each.floor
        and (share - each.floor) / (each.ceiling - each.floor) > 0.9
    }
    assert near == LEARNED
    assert 0.95 < found.points[-1].way(found.start.phenomena) <= 1
    assert found.points[-1].held_out < found.start.unigram < found.start.log_v


def test_the_answer_is_small_and_has_curves_accuracies_and_gaps() -> None:
    found = as_json(usual())
    assert len(json.dumps(found, allow_nan=False)) < 60_000
    assert {each["name"] for each in found["start"]["phenomena"]} > LEARNED
    assert found["points"][-1]["guesses"][0][0][0] == found["start"]["watched"][0][1]
    assert found["points"][0].keys() >= {"step", "loss", "held_out", "accuracy"}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"mask_rate": 40}, "mask_rate=40.*trained in your browser"),
        ({"mask_rate": 16}, "mask_rate is '16'; expected one of 15, 30, 40, 80"),
        ({"mask_rate": 80, "positions": False}, "one change"),
    ],
)
def test_a_run_that_is_not_recorded_is_refused_by_name(
    tiny_engine: Engine, values: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        lab(tiny_engine, **values)


def test_a_link_has_what_differs_and_nonsense_is_left_out() -> None:
    for setting in settings().values():
        for value in setting.choices[1:]:
            values = {setting.name: value}
            assert of_address(link(values)) == values
            assert named(values) != named({})
    assert of_address({"seed": "nine", "layers": "2.0", "mask_rate": "", "run": "x"}) == {}
    with pytest.raises(InputError, match="positions is '1'"):
        changed({"positions": 1})


def test_a_way_counts_up_to_the_best_possible_and_never_beyond() -> None:
    point = usual().points[-1]
    phenomena = (Phenomenon("a", 0.5, 0.75), Phenomenon("b", 0.0, None))
    for accuracy, way in (((0.5, 0.0), 0), ((0.75, 1.0), 1), ((1.0, 1.0), 1), ((0.5, 0.625), 0.5)):
        found = type(point)(0, 0.0, 1.0, 1.0, accuracy, ())
        assert found.way(phenomena) == pytest.approx(way)

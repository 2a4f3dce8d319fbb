"""Every lesson as data for its player, and every live step answered as Python answers it."""

import json
from typing import Any

import pytest

from app.engine.models import Engine
from app.faces.paper.json import as_json
from app.faces.recorded.live import LIVE_TASKS
from app.faces.recorded.playing import step_data
from app.lessons.records import Lesson
from app.lessons.shelf import in_order
from app.lessons.whole import looking_at
from tests.live.conftest import Node
from tests.live.test_answers import differences


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(each, id=each.slug, marks=pytest.mark.slow if number % 3 else ())
        for number, each in enumerate(in_order())
    ],
)
def test_steps_are_data_and_live_ones_are_answered_as_python_answers_them(
    node: Node, bundled: Engine, lesson: Lesson
) -> None:
    asked, wanted = [], []
    for number, step in enumerate(lesson.steps, 1):
        looking = looking_at(bundled, lesson, number)
        data: Any = json.loads(json.dumps(step_data(looking, step)))
        assert all(name in data["given"] for name, _ in data["change"]["edits"])
        for question in filter(None, (data["question"], data["why"])):
            said = [question["ask"], question["its"]]
            said += [text for choice in question["choices"] for text in choice]
            assert said[0] and said[1] and not [each for each in said if "[[" in each]
        if data["task"]:
            assert data["task"] in LIVE_TASKS
            asked.append((data["task"], data["given"]))
            wanted.append(as_json(looking.result()))
    for given, found, its in zip(asked, node("ask", rows=asked), wanted, strict=True):
        assert "refused" not in found, (given, found)
        del found["answer"]["provenance"]
        told = list(differences(found["answer"], its))
        assert not told, (given, told[:3])

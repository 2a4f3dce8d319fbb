"""Numbers of the server: each answer once, under the outcome it had, and nothing of a visitor."""

from contextlib import nullcontext

import pytest
from prometheus_client import generate_latest

from app.declared.answers import answer
from app.declared.tasks import declared
from app.engine.calls import refused
from app.engine.compute.visitor import Cancelled, LimitError, Visit, visiting
from app.engine.counted import REGISTRY, counted
from app.engine.models import Engine
from bert_core.errors import CheckpointError, InputError


def number(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"bert_explorer_{name}", labels) or 0.0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "answered"),
        (InputError("no"), "refused"),
        (LimitError("no", 3), "limited"),
        (CheckpointError("no"), "impossible"),
        (KeyError("no"), "failed"),
        (Cancelled(), "left"),
    ],
)
def test_an_answer_is_counted_under_its_outcome(error: BaseException | None, outcome: str) -> None:
    task = f"of-a-test-{outcome}"
    found = {"task": task, "interface": "api"}
    with nullcontext() if error is None else pytest.raises(type(error)), counted(task, "api"):
        if error is not None:
            raise error
    assert number("answers_total", **found, outcome=outcome) == 1
    assert number("answer_seconds_count", **found) == 1


def test_a_task_is_counted_for_the_interface_it_was_asked_through(tiny_engine: Engine) -> None:
    labels = {"task": "tokenizer", "interface": "mcp", "outcome": "answered"}
    before = number("answers_total", **labels)
    with visiting(Visit("someone", interface="mcp")):
        answer(declared("tokenizer"), tiny_engine, {"text": "A secret text."})
    answer(declared("tokenizer"), tiny_engine, {"text": "One of this program itself."})
    assert number("answers_total", **labels) == before + 1
    written = generate_latest(REGISTRY).decode()
    assert "secret" not in written
    assert "someone" not in written


def test_refusals_are_counted_by_their_status() -> None:
    before = number("refusals_total", status="422")
    refused(InputError("Shorten it."))
    assert number("refusals_total", status="422") == before + 1

"""What goes to a node and what stays: with a node in this process, without Ray."""

import json
import logging
import math
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.cluster import asking, nodes
from app.cluster.answering import Answers
from app.cluster.packed import pack
from app.declared import all_declared, declared
from app.declared.answers import engine_named
from app.engine.compute.visitor import (
    ALLOWANCES,
    Allowances,
    Cancelled,
    LimitError,
    Visit,
    visiting,
)
from app.engine.models import Engine
from bert_core.errors import InputError

ROOT = Path(__file__).parents[3]
GAP = {"text": "The capital of France is [MASK]."}
LONG = {"text": "a dog sat on the mat. " * 400}
STAYING = {
    "tokenizer_compare", "fill_mask_two_models", "qa_two_models", "ner_two_models", "attention",
    "atlas", "lab",
    "lab_finetune", "variants", "model_card",
}  # fmt: skip


@dataclass
class Near:
    """A node in this process."""

    answers: Answers
    asked: list[dict[str, Any]] = field(default_factory=list)
    reply: bytes | None = None
    cores: int = 2

    def ask(
        self, request: bytes, weights: str, near: str, watch: Callable[[bytes], None]
    ) -> bytes | None:
        self.asked.append(json.loads(request))
        watch(self.answers.look(b"another"))
        reply = self.answers.answer(b"1", request) if self.reply is None else self.reply
        return reply or None


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers()


@pytest.fixture
def near(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> Near:
    found = Near(answers)
    monkeypatch.setattr(asking, "CLUSTER", [found])
    return found


def test_what_rests_on_this_machine_stays_here() -> None:
    assert {each.feature.slug for each in all_declared() if not each.goes} == STAYING


@pytest.mark.parametrize("task", ["fill_mask", "ner", "qa", "xray", "why", "classification"])
def test_a_node_answers_as_this_process_does(task: str, near: Near) -> None:
    found, engine = declared(task), engine_named("")
    given = found.example_values(found.examples[0].values)
    there = found.run(engine, given)
    here = found.task(engine, **found.read(given))
    assert [each["task"] for each in near.asked] == [task]
    assert str(found.screen(there).report().drawn()) == str(found.screen(here).report().drawn())


def test_a_refusal_has_the_same_words(near: Near) -> None:
    found, engine = declared("ner"), engine_named("")
    for text in ("", "x " * 60_000):
        with pytest.raises(InputError) as there:
            found.run(engine, {"text": text})
        with pytest.raises(InputError) as here:
            found.task(engine, text)
        assert str(there.value) == str(here.value)
    assert len(near.asked) == 2


@pytest.mark.parametrize(
    "reply",
    [b"nonsense", pack({"used": 0.0, "result": (1, 2)}, {}), pack({"used": 0.0}, {}), pack([], {})],
)
def test_a_reply_that_is_no_result_is_not_shown(
    reply: bytes, near: Near, caplog: pytest.LogCaptureFixture
) -> None:
    near.reply = reply
    engine = engine_named("")
    with caplog.at_level(logging.ERROR, "app"):
        found = declared("fill_mask").run(engine, GAP)
    assert found == declared("fill_mask").task(engine, **GAP)
    assert "cannot be read" in caplog.text and "France" not in caplog.text


def test_a_bug_on_a_node_is_met_here_again(near: Near) -> None:
    near.reply = pack({"used": 0.0, "error": "KeyError"}, {})
    assert declared("fill_mask").run(engine_named(""), GAP).slots
    near.reply = near.answers.answer(b"1", b'{"visitor": "", "task": "no such task"}')
    assert declared("fill_mask").run(engine_named(""), GAP).slots


def test_other_weights_are_not_used_and_no_answer_is_missing(near: Near) -> None:
    engine = engine_named("").untrained()
    assert declared("fill_mask").run(engine, GAP).slots
    assert near.answers.answer(b"1", json.dumps(near.asked[0]).encode()) == b""


def test_a_folder_and_a_process_without_nodes_compute_here(near: Near, tiny_engine: Engine) -> None:
    assert declared("fill_mask").run(tiny_engine, {"text": "the [MASK] sat"}).slots
    near.cores = 0
    assert declared("fill_mask").run(engine_named(""), GAP).slots
    assert near.asked == []


def test_a_node_is_not_told_who_asks(near: Near) -> None:
    names = ["visitor-1", "@192.0.2.7", "visitor-1"]
    for name in names:
        with visiting(Visit(name, network="192.0.2.7")):
            declared("fill_mask").run(engine_named(""), GAP)
    first, second, third = (each["visitor"] for each in near.asked)
    assert first == third != second
    assert "visitor" not in first and "192.0" not in json.dumps(near.asked)


def test_the_visitor_pays_for_seconds_on_a_node(
    near: Near, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Allowances(requests=1_000, seconds=5)
    monkeypatch.setattr(asking, "ALLOWANCES", own)
    near.reply, near.cores = pack({"used": 6.0, "error": "KeyError"}, {}), 10**9
    with visiting(Visit("one")):
        declared("fill_mask").run(engine_named(""), GAP)
        with pytest.raises(LimitError, match="5 seconds of computing"):
            declared("fill_mask").run(engine_named(""), GAP)
    assert len(near.asked) == 1 and ALLOWANCES is not own


def test_a_node_cannot_take_more_than_was_computed(near: Near) -> None:
    watch = asking._Watch(Visit("a"), None)
    for used in (math.inf, math.nan, -math.inf):
        watch.charge(used)
    assert 0 <= watch.paid < 1e6
    for reply in ({"error": "LimitError", "says": "", "seconds": math.inf}, {"error": "KeyError"}):
        near.reply = pack({**reply, "used": math.inf}, {})
        assert declared("fill_mask").run(engine_named(""), GAP).slots


def test_progress_and_the_place_in_the_queue_are_passed_on(near: Near) -> None:
    told: list[int | None] = []
    steps: list[tuple[int, int]] = []
    watch = asking._Watch(Visit("a", told.append), lambda *step: steps.append(step))
    for look in (b"{}", b'{"done": 1, "total": 3, "before": 2, "used": 0}',
                 b'{"done": 1, "total": 3, "before": null, "used": 0}'):  # fmt: skip
        watch(look)
    assert (told, steps) == ([2, None], [(1, 3)])
    watch.visit.cancelled = True
    with pytest.raises(Cancelled):
        watch(b"{}")


def test_an_answer_that_no_one_waits_for_stops(answers: Answers) -> None:
    answers.stop(b"early")
    request = {
        "task": "ner",
        "model": engine_named("").provenance.name,
        "values": LONG,
        "weights": engine_named("").provenance.fingerprint,
        "visitor": "",
        "progress": True,
    }
    assert b"Cancelled" in answers.answer(b"early", json.dumps(request).encode())
    answers.stop_unseen(-1.0)
    assert answers.look(b"early") == b"{}"


class Worker:
    """What Ray's handle of a worker does, as far as it is asked here."""

    def __init__(self, *replies: bytes | Exception) -> None:
        self._replies, self.stopped = list(replies), 0

    def __getattr__(self, name: str) -> Any:
        return type("Call", (), {"remote": lambda _, *given: self._call(name)})()

    def _call(self, name: str) -> Any:
        future: Future[bytes] = Future()
        self.stopped += name == "stop"
        if name == "look":
            future.set_result(b"{}")
        elif name == "answer" and self._replies:
            reply = self._replies.pop(0)
            if isinstance(reply, Exception):
                future.set_exception(reply)
            else:
                future.set_result(reply)
        return type("Reference", (), {"future": lambda _: future})()


def cluster(*workers: Worker) -> nodes.Nodes:
    found = nodes.Nodes("ray://127.0.0.1:1")
    for number, worker in enumerate(workers):
        id_ = f"{number}"
        found._nodes[id_] = nodes._Node(id_, 1, worker, (0.0, Future()), up=True)
    return found


def test_a_lost_worker_costs_another_try() -> None:
    lost, other = Worker(RuntimeError("died"), b"once more"), Worker(b"reply", b"reply")
    both = cluster(lost, other)
    assert [both.ask(b"{}", "w", "text", lambda _: None) for _ in range(2)] == [b"reply"] * 2
    assert both.cores == 2 - (len(lost._replies) < 2)
    assert cluster(Worker(RuntimeError("died"))).ask(b"{}", "w", "text", lambda _: None) is None


def test_a_node_without_the_weights_is_left_alone_and_others_are_asked() -> None:
    without, having = Worker(b"", b"at last"), Worker(b"first", b"second")
    both = cluster(without, having)
    for reply in (b"first", b"second"):
        both._nodes["1"].busy = 1  # so that the other one has its turn
        assert both.ask(b"{}", "w", "text", lambda _: None) == reply
    assert len(without._replies) == 1
    both._nodes["0"].lacks["w"] = 0.0
    both._nodes["1"].up = False
    assert both.ask(b"{}", "w", "text", lambda _: None) == b"at last"


def test_other_code_has_workers_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "app/faces").mkdir(parents=True)
    (tmp_path / "app/faces/one.py").write_text("1")
    before = nodes.code_of(tmp_path)
    nodes.code_of.cache_clear()
    (tmp_path / "app/faces/one.py").write_text("2")
    assert nodes.code_of(tmp_path) != before


def test_work_on_a_node_is_cancelled_when_no_one_waits() -> None:
    slow = Worker()  # it never replies

    def gone(_: bytes) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        cluster(slow).ask(b"{}", "w", "text", gone)
    assert slow.stopped == 1


def test_the_node_with_the_least_to_do_is_asked_and_the_same_for_a_text() -> None:
    found = cluster(Worker(), Worker(), Worker())
    taken = [node.id for _ in range(6) if (node := found._taken("text", ()))]
    assert sorted(taken) == ["0", "0", "1", "1", "2", "2"]
    assert taken[:3] == taken[3:]


def test_nothing_of_ray_is_imported_without_the_setting() -> None:
    program = (
        "import sys, app.server.model as m, app.faces.batch.command, app.declared;"
        "m.cluster.begin(); print('ray' in sys.modules, m.cluster.CLUSTER)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "False []\n"

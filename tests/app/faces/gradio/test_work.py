"""Calls: what is told of an error, what is logged, and how many wait."""

import threading

import pytest

from app.compat.gradio import Unfetched
from app.declared import Declared
from app.engine import calls
from app.engine.compute.visitor import Visit
from app.records.visitors import Visitor
from tests.app.faces.gradio.conftest import Served, ask
from tests.compat.gradio import fetched_later

MARKER = "marker-of-one-visitor"


def test_a_broken_task_shows_no_trace_anywhere(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError(MARKER)

    monkeypatch.setattr(Declared, "run", broken)
    found = str(ask(served, "fill_mask", None, MARKER, 5, "", 0, ""))
    assert "logged as" in found
    printed = "".join(capfd.readouterr())
    assert "ZeroDivisionError" in caplog.text
    for text in (found, caplog.text, printed):
        assert MARKER not in text and "Traceback" not in text


def test_answers_that_are_never_fetched_are_dropped() -> None:
    calls: dict[str, set[str]] = {}
    answers = Unfetched(calls, 2)
    for caller in "abcd":
        answers[caller] = caller
        calls[caller] = {caller}
    assert list(answers) == ["c", "d"]
    assert calls.keys() - answers.keys() <= {"b"}
    answers["e"] = "e"
    assert calls.keys() == {"d"}


def test_the_queue_forgets_callers(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = fetched_later(served.blocks)
    monkeypatch.setattr(kept, "max_size", 3)
    for _ in range(6):
        ask(served, "fill_mask")
    assert len(kept.calls) <= len(kept) + 1


def test_many_callers_get_their_own_answers(served: Served) -> None:
    found: dict[str, str] = {}

    def call(word: str) -> None:
        visitor = Visitor(word, "192.0.2.1")
        found[word] = str(ask(served, "fill_mask", visitor, f"{word} [MASK]", 5, "", 0, ""))

    words = [f"{MARKER}-{number}-end" for number in range(20)]
    threads = [threading.Thread(target=call, args=(word,)) for word in words]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for word in words:
        assert [other for other in words if other in found[word]] == [word]


def test_what_a_call_computes_is_its_visitors(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits: list[Visit] = []
    monkeypatch.setattr(calls, "check", lambda visit, *, count: visits.append(visit))
    ask(served, "fill_mask", Visitor("ann", "192.0.2.1"))
    assert {(each.name, each.network) for each in visits} == {("ann", "192.0.2.1")}

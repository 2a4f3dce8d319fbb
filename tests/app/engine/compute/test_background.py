"""Work in the background is done once, is kept, and ends when no one waits for it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.engine.compute.background import Background
from app.engine.compute.visitor import Visit, visiting
from tests.strangers import until


class Slow:
    """Work of ten steps, each done when it is told to."""

    def __init__(self) -> None:
        self.runs = 0
        self.go, self.ended = threading.Semaphore(0), threading.Event()

    def __call__(self, step: Callable[[int, int], None]) -> str:
        self.runs += 1
        try:
            for done in range(1, 11):
                self.go.acquire(timeout=10)
                step(done, 10)
        finally:
            self.ended.set()
        return "done"


def test_all_who_ask_get_the_result_of_one_run() -> None:
    background, work, steps = Background[str, str](), Slow(), []
    with ThreadPoolExecutor(3) as pool:
        found = [
            pool.submit(background.result, "a", work, lambda *step: steps.append(step))
            for _ in range(3)
        ]
        work.go.release()
        until(lambda: (1, 10) in steps)
        work.go.release(9)
        assert [each.result() for each in found] == ["done"] * 3
    assert background.result("a", work) == "done" and work.runs == 1


def test_the_work_goes_on_while_a_visitor_looks_elsewhere() -> None:
    background, work = Background[str, str](), Slow()

    def leave(done: int, total: int) -> None:
        raise KeyboardInterrupt

    work.go.release()
    with pytest.raises(KeyboardInterrupt):
        background.result("a", work, leave)
    work.go.release(9)
    assert background.result("a", work) == "done" and work.runs == 1


def test_the_last_visitor_who_cancels_ends_it() -> None:
    background, work = Background[str, str](), Slow()

    def ask(name: str) -> None:
        with visiting(Visit(name)):
            background.result("a", work, lambda *_: 1 // 0)

    work.go.release()
    for name in ("ada", "bob"):
        with pytest.raises(ZeroDivisionError):
            ask(name)
    with visiting(Visit("ada")):
        background.cancel("a")
    work.go.release()
    assert not work.ended.wait(0.1)
    with visiting(Visit("bob")):
        background.cancel("a")
    work.go.release()
    assert work.ended.wait(5)
    again = Slow()
    again.go.release(10)
    assert background.result("a", again) == "done" and again.runs == 1


def test_it_ends_when_it_was_not_asked_for_in_a_while() -> None:
    now = [0.0]
    background, work = Background[str, str](patience=60, clock=lambda: now[0]), Slow()
    work.go.release()
    with pytest.raises(ZeroDivisionError):
        background.result("a", work, lambda *_: 1 // 0)
    now[0] = 59
    work.go.release()
    assert not work.ended.wait(0.1)
    now[0] = 61
    work.go.release()
    assert work.ended.wait(5)


def test_errors_are_raised_and_not_kept_and_old_results_go() -> None:
    background, runs = Background[str, str](kept=2), []

    def fail(step: object) -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        background.result("a", fail)
    for key in "abcabc":
        assert background.result(key, lambda step, key=key: runs.append(key) or key) == key
    assert runs == list("abcabc")
    background.result("c", lambda step: runs.append("again") or "c")
    assert "again" not in runs

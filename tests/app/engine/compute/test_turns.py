"""Work in steps: others are served between them, and an exception of the caller cancels it."""

import threading

import pytest
import torch

from app.engine.compute import turns
from app.engine.compute.processor import PROCESSOR
from app.engine.compute.turns import Progress, in_turns
from bert_core.errors import InputError


class Work:
    """Work of some steps that notes where it is."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.done = 0

    def __call__(self, told: Progress) -> int:
        for number in range(self.steps):
            self.done = number + 1
            told(number + 1, self.steps)
        return self.done


def test_each_step_is_reported_in_the_callers_thread_between_two_turns() -> None:
    told: list[tuple[int, int, str]] = []

    def report(done: int, total: int) -> None:
        told.append((done, total, threading.current_thread().name))
        assert PROCESSOR.run(lambda: 7, tokens=1) == 7  # the turn is free

    assert in_turns(Work(3), tokens=1, progress=report) == 3
    here = threading.current_thread().name
    assert told == [(1, 3, here), (2, 3, here), (3, 3, here)]
    assert in_turns(lambda _: torch.is_inference_mode_enabled(), tokens=1)


def test_an_exception_of_the_caller_cancels_the_work_at_that_step() -> None:
    class Cancelled(BaseException):
        """As Streamlit ends a run."""

    def cancel(done: int, _: int) -> None:
        if done == 2:
            raise Cancelled

    work = Work(5)
    with pytest.raises(Cancelled):
        in_turns(work, tokens=1, progress=cancel)
    assert work.done == 2
    assert not torch.is_inference_mode_enabled()
    assert PROCESSOR.run(lambda: 7, tokens=1) == 7  # the turn was given back


def test_an_exception_of_the_work_reaches_the_caller() -> None:
    def work(told: Progress) -> None:
        told(1, 2)
        raise InputError("The text is empty.")

    with pytest.raises(InputError, match="The text is empty"):
        in_turns(work, tokens=1)


def test_work_that_gets_no_turn_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        @staticmethod
        def turn(_: int) -> None:
            raise InputError("Wait 5 seconds.")

    monkeypatch.setattr(turns, "PROCESSOR", Closed)
    work = Work(2)
    with pytest.raises(InputError, match="Wait 5 seconds"):
        in_turns(work, tokens=1)
    assert work.done == 0

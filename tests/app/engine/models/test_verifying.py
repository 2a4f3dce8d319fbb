"""Verifying a model: one run for everyone who asks during it, a new one for later requests."""

import threading
from collections.abc import Callable

import pytest

from app.engine.models.verifying import Verification, Verifier
from bert_core.errors import CheckpointError
from bert_core.verification import VerificationReport

REPORT = VerificationReport("tiny", (), (), ())


class Slow:
    """A verification that goes on until it is let go."""

    def __init__(self, error: Exception | None = None) -> None:
        self.runs = self.now = self.most = 0
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self._error = error

    def __call__(self) -> VerificationReport:
        self.runs += 1
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.set()
        assert self.go_on.wait(30)
        self.now -= 1
        if self._error:
            raise self._error
        return REPORT


def all_at_once(ask: Callable[[], object], count: int, slow: Slow) -> list[object]:
    """Have many threads ask while the first one's verification is under way."""
    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append(ask())
        except CheckpointError as error:
            outcomes.append(str(error))

    first = threading.Thread(target=run)
    first.start()
    assert slow.begun.wait(30)
    rest = [threading.Thread(target=run) for _ in range(count - 1)]
    for thread in rest:
        thread.start()
    slow.go_on.set()
    for thread in [first, *rest]:
        thread.join(30)
    return outcomes


def test_thirty_who_press_at_once_never_compute_beside_each_other() -> None:
    slow = Slow()
    verifier = Verifier(slow, lambda: "abc")
    outcomes = all_at_once(verifier.run, 30, slow)
    assert len(outcomes) == 30
    assert all(isinstance(each, Verification) and each.report is REPORT for each in outcomes)
    times = {each.began for each in outcomes if isinstance(each, Verification)}
    # A request after the first run starts another; no two runs overlap.
    assert slow.runs == len(times)
    assert slow.most == 1


def test_who_waits_gets_the_very_outcome_of_the_run_under_way() -> None:
    slow = Slow()
    verifier = Verifier(slow, lambda: "abc")
    waiting: list[Verification] = []
    first = threading.Thread(target=lambda: waiting.append(verifier.run()))
    first.start()
    assert slow.begun.wait(30)
    slot = verifier._runs._under_way[None]
    slow.go_on.set()
    first.join(30)
    assert slot.result(30) is waiting[0]
    assert not verifier._runs._under_way


def test_nothing_is_kept_for_who_comes_later() -> None:
    prints = iter(["before", "after"])
    slow = Slow()
    slow.go_on.set()
    verifier = Verifier(slow, lambda: next(prints))
    first, second = verifier.run(), verifier.run()
    assert slow.runs == 2
    assert (first.fingerprint, second.fingerprint) == ("before", "after")
    assert first.began <= second.began and first.seconds >= 0


def test_a_failure_reaches_everybody_and_is_not_remembered() -> None:
    slow = Slow(CheckpointError("damaged"))
    verifier = Verifier(slow, lambda: "abc")
    assert set(all_at_once(verifier.run, 5, slow)) == {"damaged"}
    runs = slow.runs
    with pytest.raises(CheckpointError, match="damaged"):
        verifier.run()
    assert slow.runs == runs + 1

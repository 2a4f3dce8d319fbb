"""Work that several ask for at the same time: done once, and no one ends another's page."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from app.engine.compute.shared import SharedRuns
from app.engine.compute.visitor import LimitError


class PageEnds(BaseException):
    """What a front end raises to end the run of a page."""


def with_one_waiting(
    first: Callable[[], str], second: Callable[[], str]
) -> tuple["Future[str]", "Future[str]"]:
    """Run the first while the second waits for it; return both."""
    runs, begun, end = SharedRuns[str, str](), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert end.wait(timeout=10)
        return first()

    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(runs.run, "key", slow)
        assert begun.wait(timeout=10)
        follower = pool.submit(runs.run, "key", second)
        slot = runs._under_way["key"]
        while not slot._condition._waiters:  # type: ignore[attr-defined]
            time.sleep(0.001)
        end.set()
    return leader, follower


def fail(error: BaseException) -> str:
    raise error


def test_who_asks_meanwhile_shares_the_result() -> None:
    leader, follower = with_one_waiting(lambda: "first", lambda: "second")
    assert (leader.result(), follower.result()) == ("first", "first")


def test_a_failure_is_shared() -> None:
    leader, follower = with_one_waiting(lambda: fail(ValueError("no")), lambda: "second")
    for each in (leader, follower):
        with pytest.raises(ValueError, match="no"):
            each.result()


@pytest.mark.parametrize("error", [PageEnds(), LimitError("You used 20 seconds.", 3)])
def test_what_concerns_one_visitor_is_not_shared_and_another_does_the_work(
    error: BaseException,
) -> None:
    leader, follower = with_one_waiting(lambda: fail(error), lambda: "second")
    with pytest.raises(type(error)):
        leader.result()
    assert follower.result() == "second"

"""The last results: computed once, bounded by bytes, the least used leaves first."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.engine.compute.recent import RecentResults


def test_a_result_is_made_once() -> None:
    recent = RecentResults(10)
    made: list[str] = []

    def make() -> str:
        made.append("x")
        return "x" * 4

    assert recent.get("a", make, len) == "xxxx"
    assert recent.get("a", make, len) is recent.get("a", make, len)
    assert made == ["x"]
    assert (len(recent), recent.held) == (1, 4)


def test_the_result_unused_for_longest_leaves_first() -> None:
    recent = RecentResults(10)
    for key in "ab":
        recent.get(key, lambda: "x" * 4, len)
    recent.get("a", lambda: "never made", len)
    recent.get("c", lambda: "x" * 4, len)
    assert recent.held == 8
    assert recent.get("a", lambda: "made again", len) == "xxxx"
    assert recent.get("b", lambda: "made anew!", len) == "made anew!"


def test_a_result_larger_than_the_limit_is_given_but_not_kept() -> None:
    recent = RecentResults(3)
    assert recent.get("a", lambda: "long", len) == "long"
    assert (len(recent), recent.held) == (0, 0)


def test_a_failure_is_not_remembered() -> None:
    recent = RecentResults(10)

    def fail() -> str:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            recent.get("a", fail, len)
    assert recent.get("a", lambda: "yes", len) == "yes"


def test_a_result_no_one_asks_for_is_dropped_after_a_while() -> None:
    now = [0.0]
    recent = RecentResults(100, lasts=60, clock=lambda: now[0])
    recent.get("a", lambda: "aaaa", len)
    recent.get("b", lambda: "bbbb", len)
    now[0] = 50.0
    recent.get("a", lambda: "never made", len)
    now[0] = 100.0
    assert recent.get("c", lambda: "cc", len) == "cc"
    assert (len(recent), recent.held) == (2, 6)
    assert recent.get("b", lambda: "made again", len) == "made again"


def test_threads_that_ask_for_the_same_share_one_computation() -> None:
    recent, together, made = RecentResults(100), threading.Barrier(8), list[int]()
    computing = threading.Event()

    def make() -> str:
        made.append(1)
        computing.wait(timeout=0.2)  # the others ask meanwhile
        return "result"

    def ask() -> str:
        together.wait(timeout=10)
        return recent.get("a", make, len)

    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(ask) for _ in range(8)]
        assert {each.result(timeout=10) for each in found} == {"result"}
    assert made == [1]

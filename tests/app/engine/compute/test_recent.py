"""The cache: made once for all who ask, bounded, the least used leaves first."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from app.engine.compute.recent import Cache
from app.engine.compute.visitor import LimitError


class PageEnds(BaseException):
    """What a front end raises to end the run of a page."""


def test_a_result_is_made_once() -> None:
    cache, made = Cache(10), list[str]()

    def make() -> str:
        made.append("x")
        return "x" * 4

    assert cache.get("a", make, len) is cache.get("a", make, len)
    assert (made, len(cache), cache.held) == (["x"], 1, 4)
    cache.clear()
    assert (len(cache), cache.held) == (0, 0)


@pytest.mark.parametrize(
    ("cache", "sizes", "kept"),
    [
        (Cache(10), [("a", 4), ("b", 4), ("a", 4), ("c", 4)], "ac"),
        (Cache(3), [("a", 4)], ""),  # larger than the limit: returned, not kept
        (Cache(99, most=2), [("a", 1), ("b", 1), ("a", 1), ("c", 1)], "ac"),
        (Cache(100, most=5, least=1), [("a", 10), ("b", 40)], "ab"),
        (Cache(100, most=5, least=1), [("a", 10), ("b", 40), ("c", 90)], "c"),
        (Cache(100, most=5, least=1), [("a", 10), ("b", 500)], "b"),
    ],
)
def test_the_result_unused_for_longest_leaves_first(
    cache: Cache, sizes: list[tuple[str, int]], kept: str
) -> None:
    for key, size in sizes:
        assert cache.get(key, lambda size=size: "x" * size, len) == "x" * size
    assert cache.keys == tuple(kept)
    assert cache.held == sum({key: size for key, size in sizes if key in kept}.values())


def test_a_result_no_one_asks_for_is_dropped_after_a_while() -> None:
    now = [0.0]
    cache = Cache(100, lasts=60, clock=lambda: now[0])
    cache.get("a", lambda: "aaaa", len)
    cache.get("b", lambda: "bbbb", len)
    now[0] = 50.0
    cache.get("a", lambda: "never made", len)
    assert not cache.drop_old()
    now[0] = 100.0
    assert cache.drop_old() and cache.keys == ("a",) and cache.held == 4


def test_only_the_result_that_is_meant_is_dropped() -> None:
    cache = Cache(100)
    first = cache.get("a", lambda: ["first"], len)
    assert cache.drop("a", first) and not cache.drop("a", first)
    second = cache.get("a", lambda: ["second"], len)
    assert not cache.drop("a", first) and cache.get("a", list, len) is second


def with_one_waiting(
    first: Callable[[], str], second: Callable[[], str]
) -> tuple["Future[str]", "Future[str]", Cache]:
    """Ask while another caller, whose work is the first, is at it."""
    cache, begun, end = Cache(100), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert end.wait(timeout=10)
        return first()

    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(cache.get, "key", slow, len)
        assert begun.wait(timeout=10)
        follower = pool.submit(cache.get, "key", second, len)
        slot = cache._under_way["key"]
        while not slot._condition._waiters:  # type: ignore[attr-defined]
            time.sleep(0.001)
        end.set()
    return leader, follower, cache


def fail(error: BaseException) -> str:
    raise error


def test_who_asks_meanwhile_shares_the_result_or_the_failure_which_is_not_kept() -> None:
    leader, follower, _ = with_one_waiting(lambda: "first", lambda: "second")
    assert (leader.result(), follower.result()) == ("first", "first")
    *both, cache = with_one_waiting(lambda: fail(ValueError("no")), lambda: "second")
    for each in both:
        with pytest.raises(ValueError, match="no"):
            each.result()
    assert cache.get("key", lambda: "another try", len) == "another try"


@pytest.mark.parametrize("error", [PageEnds(), LimitError("You used 20 seconds.", 3)])
def test_what_concerns_one_visitor_is_not_shared_and_another_does_the_work(
    error: BaseException,
) -> None:
    leader, follower, _ = with_one_waiting(lambda: fail(error), lambda: "second")
    with pytest.raises(type(error)):
        leader.result()
    assert follower.result() == "second"


def test_different_results_are_made_side_by_side_and_a_kept_one_waits_for_none() -> None:
    cache, both_inside = Cache(100), threading.Barrier(2, timeout=5)
    here = cache.get("here", lambda: "here", len)

    def make() -> str:
        both_inside.wait()  # passes only if the other is under way, too
        assert cache.get("here", str, len) is here
        return "made"

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda key: cache.get(key, make, len), "ab")) == ["made", "made"]

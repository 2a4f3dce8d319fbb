"""The last results: computed once, bounded by bytes, the least used leaves first."""

import pytest

from app.compute.recent import RecentResults


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

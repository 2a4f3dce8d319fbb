"""Whether the C library still takes what it is told about memory."""

import platform

import pytest

from app.compat import glibc

glibc_only = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps")


@glibc_only
def test_glibc_takes_a_limit_of_its_heaps() -> None:
    assert glibc.limit_heaps(2), "mallopt(M_ARENA_MAX) is refused: each thread keeps its own memory"


def test_without_the_function_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    glibc.trim()
    assert glibc._call("no_such_function_of_malloc") is None
    monkeypatch.setattr("sys.platform", "darwin")
    assert not glibc.limit_heaps(2)

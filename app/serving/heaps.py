"""How the process keeps memory that its threads no longer use."""

import ctypes
import sys
from contextlib import suppress

_MOST = 2
_ARENA_MAX = -8  # M_ARENA_MAX in glibc's malloc.h


def share_heaps() -> None:
    """Let all threads allocate from two heaps; call this before there are many threads.

    glibc opens up to eight heaps for each core, one for each thread that runs beside others, and
    keeps what is free in each. Every run of a page has a thread of its own, so after moments in
    which a whole class asked, free memory lay in many heaps, and none of it was used by the next
    thread (70 MB instead of 19 MB after 1,500 answers). Python's threads take turns anyway. Other C
    libraries have no such heaps.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).mallopt(_ARENA_MAX, _MOST)

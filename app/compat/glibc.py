"""Memory of the C library. Both functions are in glibc's manual; other C libraries lack them."""

import ctypes
import sys

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h, whose numbers are not in the manual


def limit_heaps(most: int) -> bool:
    """Let all threads allocate from this many heaps; return whether that was possible."""
    return _call("mallopt", _ARENA_MAX, most) == 1


def trim() -> None:
    """Give free memory back to the system."""
    _call("malloc_trim", 0)


def _call(name: str, *given: int) -> int | None:
    """Call a function of the C library; None if it has none of that name."""
    if sys.platform != "linux":
        return None
    try:
        found: int = getattr(ctypes.CDLL(None), name)(*given)
    except AttributeError:
        return None
    return found

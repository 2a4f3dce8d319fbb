"""Memory of the C library. The function is in glibc's manual; other C libraries lack it."""

import ctypes
import sys
from contextlib import suppress


def trim() -> None:
    """Give free memory back to the system."""
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)

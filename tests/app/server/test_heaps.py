"""Threads share a few heaps of the C library."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
THREADS = """
import ctypes, threading
from app.server.heaps import share_heaps

share_heaps()
libc = ctypes.CDLL(None)
together = threading.Barrier(12)

def work():
    together.wait()
    libc.malloc(1000)
    together.wait()

threads = [threading.Thread(target=work) for _ in range(12)]
for each in threads:
    each.start()
for each in threads:
    each.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc has a heap for each thread"
)
def test_threads_that_run_together_have_two_heaps() -> None:
    command = [sys.executable, "-c", THREADS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.count("<heap nr=") == 2

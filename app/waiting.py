"""How long PyTorch's threads wait awake for each other.

Waiting awake is quick on a quiet machine. When another program wants the core, a thread that waits
awake keeps it from the very thread that it waits for. Beside one busy program, a pass of 32 tokens
took 97 times as long with OpenMP's own setting and twice as long with this one; on a quiet machine
it takes 8 ms instead of 6.
"""

import os

VARIABLE = "GOMP_SPINCOUNT"
WAIT = "3000"
"""Turns of a waiting loop."""


def limit_waiting() -> None:
    """Set the variable unless it is set; OpenMP reads it when PyTorch is loaded."""
    os.environ.setdefault(VARIABLE, WAIT)

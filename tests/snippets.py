"""Run the programs that pages offer."""

import io
from contextlib import redirect_stdout
from typing import Any


def ran(code: str) -> tuple[dict[str, Any], str]:
    """Run a program of ours; return its names and what it has printed."""
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "snippet", "exec"), names)  # noqa: S102 - our own code
    return names, printed.getvalue()

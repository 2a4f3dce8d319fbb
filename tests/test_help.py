"""The help of a command does not wait for PyTorch."""

import subprocess
import sys

import pytest

COMMANDS = (
    *("app", "app fill_mask", "app record", "bert_core", "benchmarks"),
    *(
        "training",
        "training all",
        "training pretrain",
        "deploy",
    ),
    *("tools.derive", "tools.lab"),
)
SLOW = {"torch", "numpy", "pandas", "streamlit", "gradio"}
ASK = """
import runpy, sys
name, *sys.argv[1:] = sys.argv[1:]
try:
    runpy.run_module(name, run_name="__main__", alter_sys=True)
except SystemExit as end:
    print("\\nstatus", end.code, *sys.modules)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_imports_nothing_slow(command: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", ASK, *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    said, _, end = told.stdout.rpartition("\nstatus ")
    status, *imported = end.split()
    assert status in ("0", "None") and f"usage: python -m {command}" in said
    assert not SLOW & set(imported)

"""The workflow of GitHub: it is YAML, and calls what is there."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / ".github" / "workflows" / "test.yml"
FOUND: dict[Any, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
JOBS: dict[str, Any] = FOUND["jobs"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def commands() -> list[str]:
    """Return every command of every job."""
    return [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]


def test_it_runs_for_every_change_and_may_only_read() -> None:
    assert {"push", "pull_request"} <= FOUND[True].keys()  # YAML reads `on` as true
    assert FOUND["permissions"] == {"contents": "read"}
    for job in JOBS.values():
        assert job["runs-on"] and job["timeout-minutes"] and job["steps"]
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_every_command_is_one_that_is_called_here_too() -> None:
    made = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert commands()
    for command in commands():
        first, *rest = command.split()
        assert (ROOT / first).is_file() or (first == "make" and rest[0] in made), command


def test_every_python_that_the_project_names_is_tried() -> None:
    named = {
        each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)
    }
    assert len(named) >= 3
    for job in JOBS.values():
        assert set(job["strategy"]["matrix"]["python"]) == named


def test_variables_of_the_matrix_exist() -> None:
    for job in JOBS.values():
        asked = set(re.findall(r"matrix\.(\w+)", str(job)))
        assert asked == set(job["strategy"]["matrix"])


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("given", "wanted"),
    [("lowest", "torch==2.6.*"), ("newest", '"torch"'), ("2.9.1", "torch==2.9.1")],
)
def test_both_ends_of_pytorch_are_what_the_project_allows(given: str, wanted: str) -> None:
    assert "torch>=2.6" in PROJECT["dependencies"]
    assert set(JOBS["library"]["strategy"]["matrix"]["torch"]) == {"lowest", "newest"}
    told = subprocess.run(
        ["make", "--dry-run", "test-library", f"TORCH={given}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert wanted in told.stdout and "pytest" in told.stdout

"""Node runs the modules of `live/`; without Node these tests are skipped."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.engine.models import Engine, open_engine
from app.faces.recorded.live import described
from app.settings import LIVE
from bert_core.bundled import bundled_folder


def started(script: str, *given: Path) -> "subprocess.Popen[str]":
    """Start Node with a script of this folder; skip the test where there is no Node of today."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is not installed, and the live site runs in it for these tests")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    if tuple(map(int, version.stdout.removeprefix("v").split(".")[:2])) < (20, 19):
        pytest.skip(f"Node {version.stdout.strip()} is installed; these tests need 20.19 or later")
    return subprocess.Popen(
        [program, "--no-liftoff", Path(__file__).with_name(script), *given],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


class Node:
    """One process of Node with the engine, which answers requests."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        """Start Node; `folder` receives what it must know of the model."""
        said = folder / "live.json"
        said.write_text(json.dumps(described(engine)), encoding="utf-8")
        self.process = started("run.mjs", LIVE, bundled_folder(engine.provenance.name), said)

    def __call__(self, do: str, **given: object) -> Any:
        """Ask, and return what was found."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **given}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["found"]


@pytest.fixture(scope="session")
def bundled() -> Engine:
    """The model that the site answers with."""
    return open_engine()


@pytest.fixture(scope="session")
def node(bundled: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Node with the bundled model."""
    found = Node(bundled, tmp_path_factory.mktemp("live"))
    with found.process:  # closes what it reads and writes, and waits
        yield found

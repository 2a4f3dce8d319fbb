"""Real Ray: two nodes on this machine (`make cluster-test`)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import Any

import pytest

from app.declared.answers import engine_named
from app.faces.batch.on_ray import spread_on
from bert_core.errors import InputError
from tests.ray_nodes import ROOT, TOKEN
from tests.ray_nodes import nodes as ray_nodes

PATIENCE = 200  # seconds, on a busy machine
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray is not installed; `make cluster-test` installs it"
)


def ended(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds; return whether it does."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Begin two nodes with a core each; only who knows the token may use them."""
    os.environ.update(TOKEN)  # read once, when Ray is imported
    with ray_nodes(1, 1) as (found, _):
        yield found


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_a_cluster_needs_a_package_more() -> None:
    with pytest.raises(InputError, match=r"pip install -r requirements-cluster\.txt"):
        next(spread_on("ray://127.0.0.1:1", iter([]), "fill_mask", engine_named("")))


@needs_ray
def test_a_stranger_without_the_token_is_not_let_in(address: str) -> None:
    program = f"import ray; ray.init({address!r}, logging_level=50)"
    without = {name: each for name, each in os.environ.items() if "RAY_AUTH" not in name}
    for more in ({}, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "f" * 32}):
        tried = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
            env={**without, **more}, check=False,
        )  # fmt: skip
        assert tried.returncode != 0 and "Error" in tried.stderr


@needs_ray
def test_a_file_is_answered_on_the_nodes_through_four_kills(address: str, tmp_path: Path) -> None:
    rows = [f"The peculiar number {n} is a [MASK] number." for n in range(3_000)]
    (tmp_path / "in.txt").write_text("\n".join([*rows, "no gap", ""]))
    command = [sys.executable, "-m", "app", "batch", "fill_mask", "in.txt", "--top-k", "1", "--out"]
    there, here = tmp_path / "there.jsonl", tmp_path / "here.jsonl"
    kept, before = tmp_path / "there.jsonl.parts", 0

    def begun(*more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*command, *more], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def parts() -> int:
        return sum(1 for _ in kept.glob("*")) if kept.is_dir() else 0

    for _ in range(3):
        with begun(there.name, "--on", address) as process:
            assert ended(lambda: parts() > before)  # noqa: B023 - called at once
            process.kill()
        assert process.returncode == -signal.SIGKILL and not there.exists()
        before = parts()
    with begun(there.name, "--on", address) as process:
        assert ended(lambda: parts() > before)
        subprocess.run(["pkill", "-KILL", "-f", "ray::answer_on_node"], check=True)
        assert process.communicate()[1] and process.returncode == 0  # Ray asks again
    with begun(here.name) as process:
        assert process.communicate()[1] and process.returncode == 0
    assert there.read_bytes() == here.read_bytes()
    assert there.read_bytes().count(b"\n") == len(rows) + 1 and not kept.exists()
    logs = [*(Path(gettempdir()) / "ray/session_latest/logs").rglob("*.*")]
    assert logs and not any(b"peculiar" in each.read_bytes() for each in logs if each.is_file())


@needs_ray
def test_nodes_with_other_weights_are_named(address: str) -> None:
    rows = [({"text": "A [MASK] sat."}, "")] * 2
    other = replace(engine_named("").provenance, fingerprint="other")
    engine: Any = SimpleNamespace(provenance=other)
    with pytest.raises(InputError, match=r"it has no \S+ with these weights"):
        next(spread_on(address, iter([(0, rows)]), "fill_mask", engine))

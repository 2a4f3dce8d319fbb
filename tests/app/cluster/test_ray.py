"""Real Ray: two nodes on this machine (`make cluster-test`)."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from app.cluster import asking, nodes, packed
from app.declared import declared
from app.declared.answers import engine_named
from app.engine.compute.visitor import Cancelled, Visit, visiting
from bert_core.errors import InputError
from tests.ray_nodes import ROOT, TOKEN
from tests.ray_nodes import nodes as ray_nodes

if find_spec("ray"):
    os.environ.update(TOKEN)  # read once, when Ray is imported
pytest.importorskip("ray", reason="Ray is not installed; `make cluster-test` installs it")

PATIENCE = 200  # seconds, on a busy machine
TASKS = ["fill_mask", "ner", "qa", "xray", "classification", "next_sentence", "input", "senses"]
LONG = "The river bank was quiet when Anna came home to Paris. " * 900


def ended(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds; return whether it does."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Begin two nodes with a core each; only who knows the token may use them."""
    with ray_nodes(1, 1) as (found, _):
        yield found


@pytest.fixture
def cluster(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[nodes.Nodes]:
    """Both nodes, when they answer; none of the answers is computed here."""
    found = nodes.Nodes(address)
    monkeypatch.setattr(asking, "CLUSTER", [found])
    found.begin()
    assert ended(lambda: found.cores == 2)
    yield found
    found.end()


def both(task: str, **given: Any) -> tuple[bytes, bytes]:
    """Return the packed answers of a node and of this process; the first one must be a node's."""
    found, engine = declared(task), engine_named("")
    classes = packed.classes_of(found.result)
    values = found.read(given or found.example_values(found.examples[0].values))
    there = asking.asked(task, found.result, engine, values, {})
    assert there is not None
    return packed.pack(there, classes), packed.pack(found.task(engine, **values), classes)


@pytest.mark.parametrize("task", TASKS)
def test_a_node_answers_bit_for_bit_as_this_process(task: str, cluster: nodes.Nodes) -> None:
    there, here = both(task)
    assert there == here


def test_what_a_task_refuses_has_its_words(cluster: nodes.Nodes) -> None:
    found, engine = declared("ner"), engine_named("")
    for text in ("", "x " * 60_000):
        with pytest.raises(InputError) as there:
            asking.asked("ner", found.result, engine, {"text": text}, {})
        with pytest.raises(InputError) as here:
            found.task(engine, text)
        assert str(there.value) == str(here.value)


def workers() -> list[int]:
    """Return the processes of the workers on all nodes."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    lines = (line.split(None, 1) for line in listed.stdout.splitlines())
    return [int(pid) for pid, name in lines if name.startswith("ray::Worker")]


def test_a_killed_worker_costs_a_retry_and_no_answer(cluster: nodes.Nodes) -> None:
    killed = threading.Timer(1.0, lambda: os.kill(workers()[0], signal.SIGKILL))
    killed.start()
    found, engine = declared("ner"), engine_named("")
    answers = [
        asking.asked("ner", found.result, engine, {"text": f"{number} {LONG[:20_000]}"}, {})
        for number in range(4)
    ]
    killed.join()
    assert all(isinstance(each, found.result) for each in answers)
    assert ended(lambda: cluster.cores == 2)  # it was begun again


def test_cancelled_work_stops(cluster: nodes.Nodes) -> None:
    found, engine = declared("ner"), engine_named("")
    visit = Visit("someone")
    steps: list[tuple[int, int]] = []

    def told(done: int, total: int) -> None:
        steps.append((done, total))
        visit.cancelled = True

    with visiting(visit), pytest.raises(Cancelled):
        asking.asked("ner", found.result, engine, {"text": LONG}, {"progress": told})
    assert steps and steps[-1][0] < steps[-1][1]
    idle = cluster._nodes.values()
    assert all(each.busy == 0 for each in idle)
    there, here = both("fill_mask", text="The cat sat on the [MASK].")
    assert there == here


def test_a_stranger_without_the_token_is_not_let_in(address: str) -> None:
    program = f"import ray; ray.init({address!r}, logging_level=50)"
    without = {name: each for name, each in os.environ.items() if "RAY_AUTH" not in name}
    for more in ({}, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "f" * 32}):
        tried = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
            env={**without, **more}, check=False,
        )  # fmt: skip
        assert tried.returncode != 0 and "Error" in tried.stderr


def test_a_file_is_answered_on_the_nodes_through_three_kills(address: str, tmp_path: Path) -> None:
    rows = [f"The number {n} is a [MASK] number." for n in range(6_000)]
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
    for more in ([there.name, "--on", address], [here.name]):
        with begun(*more) as process:
            assert process.communicate()[1] and process.returncode == 0
    assert there.read_bytes() == here.read_bytes()
    assert there.read_bytes().count(b"\n") == len(rows) + 1 and not kept.exists()


def test_texts_are_in_no_log_of_ray(cluster: nodes.Nodes, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        both("fill_mask", text="A zebrafish swims in the [MASK].")
    logs = [*(Path(gettempdir()) / "ray/session_latest/logs").rglob("*.*")]
    assert logs and not any(b"zebrafish" in each.read_bytes() for each in logs if each.is_file())
    assert "zebrafish" not in caplog.text

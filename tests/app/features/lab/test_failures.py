"""Labs that fail: each ends with a sentence, the next one trains, and no half file stays."""

import errno
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.engine.compute.processor import PROCESSOR
from app.features.lab import task_lab
from app.features.lab.result import State
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_lab import Job, Labs
from app.features.lab.task_run import Run
from bert_core.errors import InputError
from bert_core.finetuning.trainer import Trainer
from tests.app.features.lab.test_lab import SHORT, SMALL, trains
from tests.strangers import until

FULL = OSError(errno.ENOSPC, "No space left on device")
FAILURES = [FULL, OSError("no number"), RuntimeError("unexpected pos"), ValueError("x"),
            MemoryError(), KeyError("step"), StopIteration(), AssertionError()]  # fmt: skip


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*args: object, **options: object) -> Any:
        raise error

    return fail


def goes_on(labs: Labs) -> None:
    """Check that another visitor's lab trains."""
    lab = labs.start(SMALL, owner="next")
    until(trains(labs, lab))
    labs.stop(lab)


@pytest.mark.parametrize(
    "place", ["prepare", "advance", "look", "done", "save", "_keep_state", "_restore"]
)
def test_whatever_fails_in_a_run_ends_it_with_a_sentence(
    labs: Labs, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(task_lab, "_SAVE", 0.0)
    for error in FAILURES:
        with monkeypatch.context() as patch:
            broken = raising(error)
            member = property(broken) if place == "done" else broken
            patch.setattr(Run, place, member)
            lab = labs.start(SMALL, owner="ada")
            until(lambda lab=lab: labs.ask(lab).state is State.FAILED)
            until(lambda: not labs._working)
        said = labs.ask(lab).says
        assert said.endswith("Start again."), repr(error)
        assert ("disk is full" in said) == (error is FULL), repr(error)
        assert ("disk" in said) == isinstance(error, OSError), repr(error)
        assert not labs.computing()
    goes_on(labs)


@pytest.mark.parametrize("end", ["pause", "stop", "gone"])
def test_what_cannot_be_saved_when_it_ends_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(task_lab, "_SAVE", 600.0)  # only when it ends
    labs = Labs(tmp_path / "lab", patience=0.8 if end == "gone" else 30.0)
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    for error in FAILURES:
        with monkeypatch.context() as patch:
            patch.setattr(Run, "save", raising(error))
            if end != "gone":
                getattr(labs, end)(lab)
            until(lambda: not labs._working)
            assert lab.state is (State.PAUSED if end == "pause" else State.STOPPED)
            assert "could not be saved" in lab.says
            assert ("disk is full" in lab.says) == (error is FULL)
        labs.resume(lab)
        until(trains(labs, lab))
        assert labs.ask(lab).says == ""
    labs.stop(lab)
    until(lambda: not labs._working)


@pytest.mark.slow
def test_a_release_that_fails_is_no_trouble(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "release", raising(RuntimeError()))
    lab = labs.start(SHORT, owner="ada")
    until(lambda: labs.ask(lab).state is State.DONE, 60)
    goes_on(labs)


@pytest.mark.parametrize("place", ["run", "turn"])
def test_whatever_fails_around_a_run_ends_it_too(
    labs: Labs, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(*((PROCESSOR, "run") if place == "run" else (Job, "turn")), raising(FULL))
        lab = labs.start(SMALL, owner="ada")
        until(lambda: labs.ask(lab).state is State.FAILED)
    assert labs.ask(lab).says == "The server's disk is full. Start again."
    goes_on(labs)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_is_replaced(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Job, "turn", raising(SystemExit()))
        labs.start(SMALL, owner="ada")
        until(lambda: labs._working is not None and not labs._working.is_alive())
    second = labs.start(SMALL, owner="bob")
    assert labs.ask(second).before == 1
    until(trains(labs, next(iter(labs._line))))


def test_a_thread_that_cannot_start_leaves_the_queue_empty(
    labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", raising(RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError):
            labs.start(SMALL, owner="ada")
    assert not labs.computing()
    goes_on(labs)


def test_the_first_in_line_that_fails_lets_the_others_train(
    labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = Run.advance

    def fail_at_seed_one(run: Run, seconds: float) -> None:
        if run.settings.seed == 1:
            raise RuntimeError
        advance(run, seconds)

    monkeypatch.setattr(Run, "advance", fail_at_seed_one)
    first = labs.start(replace(SMALL, seed=1), owner="ada")
    second = labs.start(SMALL, owner="bob")
    until(trains(labs, second))
    assert labs.ask(first).state is State.FAILED


# -- the disk --------------------------------------------------------------------------------------


def files_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


class FullDisk:
    """A file that takes so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: Any) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self._file.write(data))


@pytest.mark.parametrize("room", [0, 100, 20_000, 60_000])
def test_a_training_state_that_does_not_fit_is_an_error_of_the_disk(
    labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    run = Run(LabSettings(corpus="facts", width=32, layers=1), folder=tmp_path)
    run.prepare()
    trainer: Trainer = run._ready[1].trainer
    trainer.save(tmp_path / "state.pt")
    before = (tmp_path / "state.pt").read_bytes()
    assert len(before) > 60_000
    trainer.step()
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *mode: FullDisk(opened(path, *mode), room))
    with pytest.raises(OSError, match="No space left"):
        trainer.save(tmp_path / "state.pt")
    monkeypatch.undo()
    assert (tmp_path / "state.pt").read_bytes() == before
    assert files_below(tmp_path) == {"state.pt"}


SCRIPT = """
import sys
from pathlib import Path
from app.features.lab.result import State
from app.features.lab.result_settings import LabSettings
from app.features.lab import task_lab
from app.features.lab.task_lab import Labs
from tests.strangers import until
task_lab._SAVE = 600.0  # only where a tab closes
folder, room = Path(sys.argv[1]), int(sys.argv[2])
settings = LabSettings(corpus="facts", width=32, layers=1, steps=4_000)
labs = Labs(folder / "lab", patience=0.5)
lab = labs.start(settings, owner="ada")
until(lambda: labs.ask(lab) and lab.runs[0].step > 2)
with (folder / "filler").open("wb", buffering=0) as filler:
    try:
        while True:
            filler.write(bytes(4096))
    except OSError:
        filler.truncate(max(0, filler.tell() - room))
until(lambda: not labs._working)  # the tab is closed: no page asks
print(lab.state.name, lab.says)
try:
    labs.start(settings, owner="bob")
    print("started")
except Exception as error:
    print(type(error).__name__, error)
(folder / "filler").unlink()
second = labs.start(settings, owner="cy")
until(lambda: labs.ask(second) and second.runs[0].step > 2)
print(labs.ask(second).state.name)
labs.stop(second)
until(lambda: not labs._working)
"""


@pytest.mark.parametrize("room", [0, pytest.param(40_000, marks=pytest.mark.slow), 120_000])
def test_a_disk_that_fills_up_while_a_tab_closes(
    tmp_path: Path, run_on_small_disk: Callable[..., Any], room: int
) -> None:
    result = run_on_small_disk(SCRIPT, str(tmp_path / "disk"), str(room))
    said = result.stdout.splitlines()
    assert said[0] == (
        "STOPPED The server's disk is full. It could not be saved, and ends with this server."
    ), result.stderr
    assert said[1] == (
        "started" if room else "InputError The server's disk is full. Try again later."
    )
    assert said[2] == "RUNNING"
    left = {Path(line).name for line in said[3:]}
    assert {"lab.json", "state.pt", "points.npz"} <= left
    assert not any(name.startswith(".") or name.endswith(".part") for name in left)


def test_a_disk_that_is_full_at_the_start_refuses_a_lab(
    labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", raising(FULL))
        with pytest.raises(InputError, match=r"disk is full\. Try again later"):
            labs.start(SMALL, owner="ada")
    assert not labs.computing()
    assert list((tmp_path / "lab").iterdir()) == []
    goes_on(labs)


def test_a_model_that_does_not_fit_is_not_on_offer(
    labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    labs.pause(lab)
    written: list[str] = []
    write = Path.write_bytes

    def fill(path: Path, data: bytes) -> int:
        written.append(path.name)
        if len(written) == 3:
            raise FULL
        return write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fill)
        with pytest.raises(InputError, match="disk is full"):
            labs.open_elsewhere(lab)
    assert list((tmp_path / "lab" / "models").iterdir()) == []
    assert labs.open_elsewhere(lab)

"""The labs of the process: one computes at a time, the others wait in line.

A page's script ends at every click, so a lab belongs to the process. The page has its key and asks
about it twice a second; a lab that no page asks about is stopped. All computing goes through the
processor's door in short turns, so that answers to visitors come in between.
"""

import errno
import json
import logging
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.visitor import check_text
from app.engine.models.copies import trained_folder
from app.features.lab.result import State, Status
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_finetune_run import Tuning
from app.features.lab.task_run import Run
from app.features.lab.task_watch import SHARED, Share
from app.log import cause
from app.settings import settings as operator_settings
from bert_core.errors import BertError, InputError
from bert_core.small_files import parse_json, read_small, replacing

_LOG = logging.getLogger("app")
_KEY = re.compile(r"[A-Za-z0-9_-]{16}")
_TURN = 0.06  # seconds of training between two visitors' answers
_LOOK = 0.5  # seconds between two points
_SAVE = 5.0  # seconds between two saves
_PATIENCE = 4.0  # seconds after which a lab that no page asks about is stopped
_KEPT = 8  # labs in memory; the oldest that does not compute is dropped
_SAVED = 30  # labs on disk; the oldest is removed
_MOST_BYTES = 2**30  # of the models that other pages open; the oldest is removed
_IN_LINE = 20  # most labs waiting
_ABOUT = "lab.json"
_FULL = (errno.ENOSPC, errno.EDQUOT)


T = TypeVar("T")
R = TypeVar("R", bound=Run | Tuning)


class Job(Generic[R]):
    """What one visitor trains.

    Attributes:
        key: names it.
        owner: the visitor; "" for no one in particular.
        runs: trained in turns.
    """

    def __init__(self, key: str, owner: str, runs: Sequence[R]) -> None:
        self.key, self.owner, self.runs = key, owner, tuple(runs)
        self.state = State.PAUSED
        self.says = ""
        self.seen = time.monotonic()
        self.left = False  # whether it was stopped because no page asked about it
        self.share: Share | None = None  # the link by which others watch it
        self.lock = threading.RLock()  # held while a run changes
        self.looked: dict[R, float] = {}
        self.saved = time.monotonic()

    @property
    def private(self) -> bool:
        """Whether it contains a visitor's own text."""
        return any(run.private for run in self.runs)

    @property
    def shared(self) -> bool:
        """Whether a link to it is open."""
        return self.share is not None and self.share.is_open

    def compute(self, work: Callable[[], T]) -> T:
        """Compute something with a run in inference mode, between two of its steps."""

        def alone() -> T:
            with self.lock:
                return work()

        return PROCESSOR.run(alone, tokens=0)

    def turn(self) -> None:
        """Train each run a little, measure those that have not been for a while, save."""
        for run in self.runs:
            self._turn(run)
        if time.monotonic() - self.saved >= _SAVE or self.done:
            self.save()

    def single(self) -> None:
        """Train each run by one step, and measure it."""
        for run in self.runs:
            if run.prepared and not run.done:
                self._train(partial(run.advance, 0))
                self._look(run)

    @property
    def done(self) -> bool:
        """Whether all runs have come to their end."""
        return all(run.done for run in self.runs)

    def save(self) -> None:
        """Write what is needed to go on after a restart."""
        with self.lock:
            for run in self.runs:
                run.save()
        self.saved = time.monotonic()

    def _turn(self, run: R) -> None:
        if not run.prepared:
            self._train(run.prepare)
            if not run.points:
                self._look(run)
        if run.done:
            return
        self._train(lambda: run.advance(_TURN))
        if run.done or time.monotonic() - self.looked.get(run, 0.0) >= _LOOK:
            self._look(run)

    def _train(self, work: Callable[[], object]) -> None:
        def alone() -> None:
            with self.lock:
                work()

        PROCESSOR.run(alone, tokens=0, training=True)

    def _look(self, run: R) -> None:
        self.compute(run.look)
        self.looked[run] = time.monotonic()


class Lab(Job[Run]):
    """One visitor's lab: one run, or two side by side.

    A generated corpus can be found by its key after a restart.
    """


class Labs:
    """All labs of the process.

    Args:
        folder: where runs on generated corpora are saved; None for nowhere.
        patience: seconds after which a lab that no page asks about is stopped.
    """

    def __init__(self, folder: Path | None, *, patience: float = _PATIENCE) -> None:
        self._folder, self._patience = folder, patience
        self._labs: dict[str, Job[Any]] = {}  # oldest first
        self._line: list[Job[Any]] = []  # the first one computes
        self._change = threading.Condition()
        self._working: threading.Thread | None = None  # until the line is empty

    def start(
        self, settings: LabSettings | Sequence[LabSettings], *, owner: str = "", text: str = ""
    ) -> Lab:
        """Start a lab, or put it in line.

        Args:
            settings: of one run, or of two that train side by side.
            owner: the visitor.
            text: the visitor's own text, for the corpus "own".

        Raises:
            InputError: too many labs wait, the visitor has one already that trains, the text is
                longer than the site takes, or the server's disk is full.
        """
        check_text(text)
        wanted = [settings] if isinstance(settings, LabSettings) else list(settings)
        if not 1 <= len(wanted) <= 2:
            raise InputError(f"Found {len(wanted)} settings; expected one or two.")
        lab = self._made(secrets.token_urlsafe(12), owner, wanted, text)
        self._check_owner(owner)
        self._write_about(lab)
        self.resume(lab)
        return lab

    def train(self, run: R, *, owner: str) -> Job[R]:
        """Train something else than a run of the lab, in the same line; it ends with the process.

        Raises:
            InputError: too many labs wait, or the visitor has one already that trains.
        """
        self._check_owner(owner)
        lab = Job(secrets.token_urlsafe(12), owner, [run])
        self.resume(lab)
        return lab

    def teach(self, students: Sequence[Run], *, owner: str) -> Lab:
        """Train the students of a run, in the same line; they end with the process.

        Raises:
            InputError: too many labs wait, or the visitor has one already that trains.
        """
        self._check_owner(owner)
        lab = Lab(secrets.token_urlsafe(12), owner, students)
        self.resume(lab)
        return lab

    def _check_owner(self, owner: str) -> None:
        """Refuse a second lab of a visitor."""
        with self._change:
            for other in self._line:
                if owner and other.owner == owner:
                    raise InputError("You have a run already. Stop it, or wait until it ends.")

    def find(self, key: str, owner: str = "") -> Lab | None:
        """Return a lab by its key, also one that was saved before a restart; None if unknown.

        A lab with a visitor's own text is found only by that visitor.
        """
        if key not in self._labs and _KEY.fullmatch(key):
            self._read(key, owner)
        lab = self.held(key, owner)
        return lab if isinstance(lab, Lab) else None

    def held(self, key: str, owner: str) -> Job[Any] | None:
        """Return what is trained under a key, if it is in memory; see `find`."""
        lab = self._labs.get(key)
        return lab if lab and (not lab.private or (owner and lab.owner == owner)) else None

    def ask(self, lab: Job[Any]) -> Status:
        """Return where a lab is; asking also says that its page is still open."""
        lab.seen = time.monotonic()
        with self._change:
            before = self._line.index(lab) if lab in self._line else 0
            watchers = lab.share.watchers if lab.share else 0
            return Status(lab.state, before, lab.says, watchers)

    def share(self, lab: Lab, owner: str) -> Share:
        """Let others watch a lab by a link, and return it; an owner keeps one link for all runs.

        Raises:
            InputError: classes are switched off, the lab is another visitor's, or as many labs have
                a link as may.
        """
        if not operator_settings().classes:
            raise InputError(
                "Classes are switched off on this site, and so is watching a run together."
            )
        if not owner or lab.owner != owner:
            raise InputError("Only the visitor who started a run can share it.")
        with self._change:
            shared = [each for each in self._labs.values() if each.shared]
            own = next((each for each in shared if each.owner == owner), None)
            if own is None and len(shared) >= SHARED:
                raise InputError(
                    f"{len(shared)} runs are watched together, as many as this server takes. Try "
                    "again later, or play a recorded run."
                )
            link = (own and own.share) or Share()
            self.unshare(owner)
            lab.share = link
            self._keep(lab)
            return link

    def unshare(self, owner: str) -> None:
        """End the link of a visitor."""
        with self._change:
            for each in self._labs.values():
                if each.owner == owner:
                    each.share = None

    def watched(self, key: str, who: str) -> Lab | None:
        """Return the lab that a link leads to, no matter who asks; None if it leads to none.

        Raises:
            InputError: as many watch it as may.
        """
        with self._change:
            for lab in self._labs.values():
                if isinstance(lab, Lab) and lab.share and lab.shared and lab.share.opens(key):
                    lab.share.enter(who)
                    return lab
        return None

    def pause(self, lab: Job[Any]) -> None:
        """Stop training for now; the place in line is given up."""
        self._leave(lab, State.PAUSED)

    def stop(self, lab: Job[Any]) -> None:
        """Stop training for good, as far as this visitor is concerned."""
        self._leave(lab, State.STOPPED)

    def resume(self, lab: Job[Any]) -> None:
        """Go on training, at the end of the line.

        Raises:
            InputError: too many labs wait.
        """
        with self._change:
            if lab in self._line or lab.state in {State.DONE, State.DIVERGED, State.FAILED}:
                return
            if len(self._line) >= _IN_LINE:
                raise InputError(
                    f"{len(self._line)} labs are in line, as many as this server takes. Try again "
                    "later, or look at a recorded run."
                )
            if self._working is None or not self._working.is_alive():
                self._working = threading.Thread(target=self._work, name="lab", daemon=True)
                self._working.start()  # it waits for this block to end
            lab.seen, lab.state, lab.says = time.monotonic(), State.WAITING, ""
            lab.left = False
            self._keep(lab)
            self._line.append(lab)

    def step(self, lab: Job[Any]) -> None:
        """Train a lab that is paused or stopped by one step, and measure it."""
        with self._change:
            if lab in self._line or lab.state not in {State.PAUSED, State.STOPPED}:
                return
            lab.left = False
        lab.single()

    def computing(self) -> int:
        """Return the number of labs that compute or wait."""
        return len(self._line)

    def open_elsewhere(self, lab: Job[Any], number: int = 0, step: int | None = None) -> str:
        """Write the model of a run where the shelf finds it; return the name it is offered under.

        Args:
            lab: with a run that has been prepared.
            number: of the run.
            step: a saved step; None for now.

        Raises:
            InputError: the model belongs to a visitor's own text, or nothing is kept on the disk.
        """
        if self._folder is None or lab.private:
            raise InputError(
                "A model trained on your own text is not written to this server's disk, so other "
                "pages cannot open it. Download it instead."
            )
        run, models = lab.runs[number], self._folder / "models"
        with lab.lock:
            files = run.files(step)
        at = run.step if step is None else step
        name = f"{run.named}-{lab.key[:6].lower()}-{number + 1}-step-{at}"
        for old in _surplus(models, sum(map(len, files.values()))):
            shutil.rmtree(old, ignore_errors=True)
        place = models / name
        with _complete(place, "config.json"):
            place.mkdir(parents=True, exist_ok=True)
            for each in sorted(files, key=lambda file: file == "config.json"):
                with replacing(place / each) as draft:
                    draft.write_bytes(files[each])
        return name

    # -- the thread --------------------------------------------------------------------------------

    def _work(self) -> None:
        """Train the first lab in line until the line is empty; whatever fails, the line goes on."""
        while (lab := self._next()) is not None:
            try:
                self._turn(lab)
            except Exception as error:  # noqa: BLE001 - it would go unnoticed in this thread
                self._fail(lab, error)

    def _next(self) -> Job[Any] | None:
        """Return the lab that trains next; None, and the thread ends, if there is none."""
        with self._change:
            now = time.monotonic()
            gone = [each for each in self._line if now - each.seen > self._patience]
        for lab in gone:
            lab.left = True
            self._leave(lab, State.STOPPED)
        with self._change:
            if not self._line:
                self._working = None
                return None
            return self._line[0]

    def _turn(self, lab: Job[Any]) -> None:
        """Train a lab a little, or end it if nothing is left to train."""
        if lab.runs and lab.done:
            says = " ".join(run.diverged for run in lab.runs if run.diverged)
            self._leave(lab, State.DIVERGED if says else State.DONE, says)
            return
        with self._change:
            if lab not in self._line:
                return
            lab.state = State.RUNNING
        lab.turn()

    def _leave(self, lab: Job[Any], state: State, says: str = "") -> None:
        """Take a lab out of the line and save it; what fails is said, and the line goes on."""
        with self._change:
            if lab not in self._line:
                return
            self._line.remove(lab)
            lab.state, lab.says = state, says
        try:
            if not lab.done:  # then its last turn has saved it
                lab.save()
        except Exception as error:  # noqa: BLE001 - PyTorch and NumPy raise what they like
            lab.says = f"{_reason(error)} It could not be saved, and ends with this server."
        self._release(lab)

    def _fail(self, lab: Job[Any], error: Exception) -> None:
        """End a lab with a sentence; what was saved before stays."""
        with self._change:
            if lab in self._line:
                self._line.remove(lab)
            says = _reason(error)
            lab.says = says if isinstance(error, BertError) else f"{says} Start again."
            lab.state = State.FAILED
        self._release(lab)

    def _release(self, lab: Job[Any]) -> None:
        try:
            with lab.lock:
                for run in lab.runs:
                    run.release()
        except Exception as error:  # noqa: BLE001 - as in `_leave`
            _reason(error)

    # -- memory and disk ---------------------------------------------------------------------------

    def _keep(self, lab: Job[Any]) -> None:
        """Keep a lab in memory, and drop the oldest without a turn or a link; holds the lock."""
        self._labs.pop(lab.key, None)
        self._labs[lab.key] = lab
        rest = {key: each for key, each in self._labs.items() if not each.shared}
        idle = [key for key, each in rest.items() if each not in self._line and each != lab]
        for key in idle[: max(0, len(rest) - _KEPT)]:
            del self._labs[key]

    def _made(self, key: str, owner: str, wanted: Sequence[LabSettings], text: str) -> Lab:
        folder = None if self._folder is None else self._folder / key
        places = [None if folder is None else folder / str(number) for number in range(len(wanted))]
        runs = [Run(each, text, place) for each, place in zip(wanted, places, strict=True)]
        return Lab(key, owner, runs)

    def _write_about(self, lab: Lab) -> None:
        """Write the settings of a lab, unless it is private; remove the oldest labs."""
        if self._folder is None or lab.private:
            return
        place = self._folder / lab.key
        with _complete(place, _ABOUT):
            place.mkdir(parents=True)
            with replacing(place / _ABOUT) as draft:
                about = json.dumps([asdict(run.settings) for run in lab.runs])
                draft.write_text(about, encoding="utf-8")
        labs = (each for each in self._folder.iterdir() if _KEY.fullmatch(each.name))
        for old in sorted(labs, key=_age)[:-_SAVED]:
            if old.name not in self._labs:
                shutil.rmtree(old, ignore_errors=True)

    def _read(self, key: str, owner: str) -> None:
        """Bring a saved lab into memory, to be resumed, if there is one that can be read."""
        about = None if self._folder is None else self._folder / key / _ABOUT
        if about is None or not about.is_file():
            return
        try:
            read = parse_json(read_small(about, 2**16, error=InputError), _ABOUT, error=InputError)
            wanted = [LabSettings(**each) for each in read]
        except (BertError, TypeError):
            return
        with self._change:
            if key not in self._labs:
                self._keep(self._made(key, owner, wanted, ""))


def _reason(error: Exception) -> str:
    """Say why something failed; log what is not the visitor's doing, without its message."""
    if isinstance(error, BertError):
        return str(error)
    if isinstance(error, OSError):
        _LOG.warning("a lab could not be saved: %s", cause(error))
        return "The server's disk is full." if error.errno in _FULL else "The server's disk failed."
    _LOG.error("a lab failed: %s", cause(error))
    return "An internal error occurred."


@contextmanager
def _complete(place: Path, last: str) -> Iterator[None]:
    """Write a folder whose last file makes it complete; remove what cannot be completed.

    Raises:
        InputError: the disk is full, or failed.
    """
    try:
        yield
    except OSError as error:
        if not (place / last).is_file():
            shutil.rmtree(place, ignore_errors=True)
        raise InputError(f"{_reason(error)} Try again later.") from None


def _surplus(models: Path, more: int) -> list[Path]:
    """Return the oldest models, so that there is room for a new one of so many bytes."""
    newest = sorted(models.iterdir(), key=_age, reverse=True) if models.is_dir() else []
    for number, folder in enumerate(newest):
        more += sum(file.stat().st_size for file in folder.iterdir())
        if more > _MOST_BYTES or number == _SAVED - 1:
            return newest[number:]
    return []


def _age(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


@cache
def warm_up() -> threading.Thread:
    """Prepare the process for its first run, in the background; for a page that is opened.

    PyTorch imports its compiler for the first optimizer, which takes longer than all the rest.
    """

    def work() -> None:
        torch.optim.AdamW([torch.zeros(1, requires_grad=True)])
        corpus_of(LabSettings())

    thread = threading.Thread(target=work, name="lab warm-up", daemon=True)
    thread.start()
    return thread


def allowed() -> bool:
    """Return whether visitors may train here; a public site shows recorded runs instead."""
    return operator_settings().lab


LABS = Labs(trained_folder())
"""The labs of this process."""

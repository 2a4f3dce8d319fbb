"""The labs of the process: one computes at a time, the others stand in line.

A page's script ends at every click, so a lab belongs to the process. The page has its key and asks
about it twice a second; a lab that no page asks about is stopped. All computing goes through the
processor's door in short turns, so that answers to visitors come in between.
"""

import json
import logging
import re
import secrets
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch

from app.compute.processor import PROCESSOR
from app.compute.visitor import check_text
from app.features.lab.result import State, Status
from app.features.lab.result_settings import OWN, LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_run import Run
from app.models.copies import trained_folder
from app.settings import settings as operator_settings
from bert_core.errors import BertError, InputError
from bert_core.small_files import parse_json, read_small, replacing

T = TypeVar("T")

_LOG = logging.getLogger("app")
_KEY = re.compile(r"[A-Za-z0-9_-]{16}")
_TURN = 0.06  # seconds of training between two visitors' answers
_LOOK = 0.5  # seconds between two points
_SAVE = 5.0  # seconds between two saves
_PATIENCE = 4.0  # seconds after which a lab that no page asks about is stopped
_KEPT = 8  # labs in memory; the oldest that does not compute is dropped
_SAVED = 30  # labs on disk; the oldest is removed
_IN_LINE = 20  # most labs waiting
_ABOUT = "lab.json"


class Lab:
    """One visitor's lab: one run, or two side by side.

    Attributes:
        key: names it in a link; a generated corpus can be found by it after a restart.
        owner: the visitor; "" for no one in particular.
        runs: trained in turns.
    """

    def __init__(self, key: str, owner: str, runs: Sequence[Run]) -> None:
        self.key, self.owner, self.runs = key, owner, tuple(runs)
        self.state = State.PAUSED
        self.says = ""
        self.seen = time.monotonic()
        self.lock = threading.RLock()  # held while a run changes
        self.looked: dict[Run, float] = {}
        self.saved = time.monotonic()

    @property
    def private(self) -> bool:
        """Whether it contains a visitor's own text."""
        return any(run.settings.corpus == OWN for run in self.runs)

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

    def _turn(self, run: Run) -> None:
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

    def _look(self, run: Run) -> None:
        self.compute(run.look)
        self.looked[run] = time.monotonic()


class Labs:
    """All labs of the process.

    Args:
        folder: where runs on generated corpora are saved; None for nowhere.
        patience: seconds after which a lab that no page asks about is stopped.
    """

    def __init__(self, folder: Path | None, *, patience: float = _PATIENCE) -> None:
        self._folder, self._patience = folder, patience
        self._labs: dict[str, Lab] = {}  # oldest first
        self._line: list[Lab] = []  # the first one computes
        self._change = threading.Condition()
        self._working = False

    def start(
        self, settings: LabSettings | Sequence[LabSettings], *, owner: str = "", text: str = ""
    ) -> Lab:
        """Start a lab, or put it in line.

        Args:
            settings: of one run, or of two that train side by side.
            owner: the visitor.
            text: the visitor's own text, for the corpus "own".

        Raises:
            InputError: too many labs wait, the visitor has one already that trains, or the text is
                longer than the site takes.
        """
        check_text(text)
        wanted = [settings] if isinstance(settings, LabSettings) else list(settings)
        if not 1 <= len(wanted) <= 2:
            raise InputError(f"Found {len(wanted)} settings; expected one or two.")
        lab = self._made(secrets.token_urlsafe(12), owner, wanted, text)
        with self._change:
            for other in self._line:
                if owner and other.owner == owner:
                    raise InputError("You have a run already. Stop it, or wait for its end.")
        self._write_about(lab)
        self.resume(lab)
        return lab

    def find(self, key: str, owner: str = "") -> Lab | None:
        """Return a lab by its key, also one that was saved before a restart; None if unknown.

        A lab with a visitor's own text is found only by that visitor.
        """
        lab = self._labs.get(key)
        if lab is None and _KEY.fullmatch(key):
            lab = self._read(key, owner)
        if lab is None or (lab.private and (not owner or lab.owner != owner)):
            return None
        return lab

    def ask(self, lab: Lab) -> Status:
        """Return where a lab is; asking also says that its page is still open."""
        lab.seen = time.monotonic()
        with self._change:
            before = self._line.index(lab) if lab in self._line else 0
            return Status(lab.state, before, lab.says)

    def pause(self, lab: Lab) -> None:
        """Stop training for now; the place in line is given up."""
        self._leave(lab, State.PAUSED)

    def stop(self, lab: Lab) -> None:
        """Stop training for good, as far as this visitor is concerned."""
        self._leave(lab, State.STOPPED)

    def resume(self, lab: Lab) -> None:
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
            lab.seen, lab.state, lab.says = time.monotonic(), State.WAITING, ""
            self._keep(lab)
            self._line.append(lab)
            if not self._working:
                self._working = True
                threading.Thread(target=self._work, name="lab", daemon=True).start()

    def computing(self) -> int:
        """Return the number of labs that compute or wait."""
        return len(self._line)

    def open_elsewhere(self, lab: Lab, number: int = 0, step: int | None = None) -> str:
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
        name = f"lab-{lab.key[:6].lower()}-{number + 1}-step-{run.step if step is None else step}"
        for old in sorted(models.iterdir(), key=_age)[: 1 - _SAVED] if models.is_dir() else ():
            shutil.rmtree(old, ignore_errors=True)
        place = models / name
        place.mkdir(parents=True, exist_ok=True)
        for each in sorted(files, key=lambda file: file == "config.json"):  # this one makes a model
            with replacing(place / each) as draft:
                draft.write_bytes(files[each])
        return name

    # -- the thread --------------------------------------------------------------------------------

    def _work(self) -> None:
        """Train the first lab in line until the line is empty."""
        while (lab := self._next()) is not None:
            try:
                lab.turn()
            except BertError as error:
                lab.says = str(error)
                self._leave(lab, State.FAILED)
            except Exception as error:  # noqa: BLE001 - it would go unnoticed in this thread
                frames = "".join(traceback.format_tb(error.__traceback__))
                _LOG.error("a lab failed: %s\n%s", type(error).__name__, frames)
                lab.says = "An internal error occurred. Start again."
                self._leave(lab, State.FAILED)

    def _next(self) -> Lab | None:
        """Return the lab that trains next; None, and the thread ends, if there is none."""
        with self._change:
            now = time.monotonic()
            gone = [each for each in self._line if now - each.seen > self._patience]
            ended = [each for each in self._line[:1] if each.runs and each.done]
        for lab in gone:
            self._leave(lab, State.STOPPED)
        for lab in ended:
            lab.says = " ".join(run.diverged for run in lab.runs if run.diverged)
            self._leave(lab, State.DIVERGED if lab.says else State.DONE)
        with self._change:
            if not self._line:
                self._working = False
                return None
            lab = self._line[0]
            lab.state = State.RUNNING
            return lab

    def _leave(self, lab: Lab, state: State) -> None:
        """Take a lab out of the line and save it."""
        with self._change:
            if lab not in self._line:
                return
            self._line.remove(lab)
            lab.state = state
        try:
            if not lab.done:  # then its last turn has saved it
                lab.save()
        except OSError as error:
            _LOG.warning("a lab could not be saved: %s", type(error).__name__)

    # -- memory and disk ---------------------------------------------------------------------------

    def _keep(self, lab: Lab) -> None:
        """Keep a lab in memory, and drop the oldest that does not compute; holds the lock."""
        self._labs.pop(lab.key, None)
        self._labs[lab.key] = lab
        idle = [key for key, each in self._labs.items() if each not in self._line and each != lab]
        for key in idle[: max(0, len(self._labs) - _KEPT)]:
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
        place.mkdir(parents=True)
        with replacing(place / _ABOUT) as draft:
            draft.write_text(_json_of([run.settings for run in lab.runs]), encoding="utf-8")
        for old in sorted(_folders(self._folder), key=_age)[:-_SAVED]:
            if old.name not in self._labs:
                shutil.rmtree(old, ignore_errors=True)

    def _read(self, key: str, owner: str) -> Lab | None:
        """Return a saved lab, to be resumed; None if there is none or it cannot be read."""
        about = None if self._folder is None else self._folder / key / _ABOUT
        if about is None or not about.is_file():
            return None
        try:
            read = parse_json(read_small(about, 2**16, error=InputError), _ABOUT, error=InputError)
            wanted = [LabSettings(**each) for each in read]
        except (BertError, TypeError):
            return None
        lab = self._made(key, owner, wanted, "")
        with self._change:
            held = self._labs.get(key)
            if held is None:
                self._keep(lab)
            return held or lab


def _json_of(settings: Sequence[LabSettings]) -> str:
    """Return settings as JSON."""
    return json.dumps([asdict(each) for each in settings])


def _folders(folder: Path) -> Iterator[Path]:
    return (each for each in folder.iterdir() if _KEY.fullmatch(each.name))


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

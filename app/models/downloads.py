"""Downloads that visitors asked for: owned by the process, shared by all who wait for them.

A page comes and goes with every click, so no page downloads anything itself: it holds a ticket
and asks it how far things are. A download that nobody asks after any more is called off.
"""

import logging
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from app.models.copies import forget, note
from app.models.hub import HubId, check_limits, copy_here, for_visitors
from bert_core.checkpoints.sources.hub import DownloadPlan, download
from bert_core.errors import BertError, DownloadError, InputError

_LOG = logging.getLogger("app")
_AT_ONCE = 2  # models at a time; more would share one line and fill the disk unseen
# Seconds without a question after which nobody waits. Browsers ask for a tab in the background
# once a minute only.
_PATIENCE = 90.0
_FAREWELL = 5.0  # seconds that a download gets to end after it was called off

Fetch = Callable[..., Path]


class State(Enum):
    """How far a download is."""

    RUNNING = "under way"
    DONE = "the model is here"
    FAILED = "it ended without the model"


@dataclass(frozen=True, slots=True)
class Status:
    """A download as it is now.

    Attributes:
        model: what is downloaded, with its revision where that is not the main branch.
        state: how far it is.
        done: bytes that have arrived.
        total: bytes expected.
        says: why it failed; "" otherwise.
        offer: what the model is called on this server, once it is here.
    """

    model: str
    state: State
    done: int
    total: int
    says: str = ""
    offer: str = ""


class _Unwanted(threading.Event):
    """Calls a download off once nobody waits for it."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        super().__init__()
        self._wanted = wanted

    def is_set(self) -> bool:
        return super().is_set() or not self._wanted()


class _Job:
    """One download, and those who wait for it."""

    def __init__(self, plan: DownloadPlan, patience: float) -> None:
        self.plan = plan
        self.done = 0
        self.error: BertError | None = None
        self.ended = threading.Event()
        self.unwanted = _Unwanted(self._wanted)
        self._patience = patience
        self._seen: dict[object, float] = {}
        self._given_up = False
        self._lock = threading.Lock()

    def see(self, visitor: object) -> bool:
        """Note that somebody waits; False where it is called off already."""
        with self._lock:
            if not self._given_up:
                self._seen[visitor] = time.monotonic()
            return not self._given_up

    def leave(self, visitor: object) -> int:
        """Let somebody go; return how many still wait."""
        with self._lock:
            self._seen.pop(visitor, None)
            return self._count()

    def report(self, done: int, total: int | None) -> None:
        """Take what the download reports."""
        self.done = done

    def _wanted(self) -> bool:
        with self._lock:
            self._given_up = self._given_up or not self._count()
            return not self._given_up

    def _count(self) -> int:
        now = time.monotonic()
        return sum(now - seen < self._patience for seen in self._seen.values())


class Ticket:
    """What one visitor holds of a download."""

    def __init__(self, job: _Job) -> None:
        self._job = job

    def ask(self) -> Status:
        """Say how far it is; who asks still waits."""
        job, plan = self._job, self._job.plan
        wanted = HubId(plan.name, plan.revision)
        ended = job.ended.is_set()
        if not ended:
            job.see(self)
            return Status(str(wanted), State.RUNNING, job.done, plan.bytes)
        offer = copy_here(wanted) if job.error is None else None
        if offer is not None:
            return Status(str(wanted), State.DONE, plan.bytes, plan.bytes, offer=offer.name)
        says = str(job.error) if job.error else f"{wanted} arrived, but is not here any more."
        return Status(str(wanted), State.FAILED, job.done, plan.bytes, says=says)

    def leave(self) -> int:
        """Wait no longer; return how many others still do. The last one calls it off."""
        return self._job.leave(self)


class Downloads:
    """The downloads of the process: a bounded number at once, one for each model.

    Args:
        patience: seconds without a question after which nobody waits.
        fetch: downloads a plan; as `bert_core.checkpoints.sources.hub.download`.
    """

    def __init__(self, *, patience: float = _PATIENCE, fetch: Fetch = download) -> None:
        self._patience = patience
        self._fetch = fetch
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def join(self, plan: DownloadPlan) -> Ticket:
        """Start a download, or wait for the one that is under way.

        Raises:
            InputError: there are too many, another version of the model is being downloaded, or
                there is no room any more.
        """
        ending = self._jobs.get(plan.name)
        if ending is not None and ending.unwanted.is_set():
            ending.ended.wait(_FAREWELL)
        with self._lock:
            job = self._jobs.get(plan.name)
            fresh = job is None
            if job is None:
                job = self._admit(plan)
            elif job.plan.commit != plan.commit or job.plan.revision != plan.revision:
                raise InputError(
                    f"Another version of {plan.name} is being downloaded. Try again after that."
                )
            ticket = Ticket(job)
            if not job.see(ticket):
                raise InputError(f"{plan.name} is just being called off. Try again in a moment.")
        if fresh:
            work = threading.Thread(target=self._work, args=(job,), name="download", daemon=True)
            work.start()
        return ticket

    def under_way(self) -> int:
        """Return how many downloads there are now."""
        return len(self._jobs)

    def _admit(self, plan: DownloadPlan) -> _Job:
        """Make room for a download; the lock is held."""
        if len(self._jobs) >= _AT_ONCE:
            names = " and ".join(sorted(self._jobs))
            raise InputError(
                f"This server is downloading {names}, and no more at once. Try again after that."
            )
        check_limits(plan, sum(job.plan.bytes - job.done for job in self._jobs.values()))
        job = self._jobs[plan.name] = _Job(plan, self._patience)
        return job

    def _work(self, job: _Job) -> None:
        """Download, and make it known; whatever happens is told to those who wait."""
        plan = job.plan
        try:
            with for_visitors(plan.name, plan.folder):
                folder = self._fetch(plan, progress=job.report, cancel=job.unwanted)
            note(folder, plan.revision)
        except BertError as error:
            job.error = error
        except Exception as error:  # noqa: BLE001 - nobody else would hear of it
            frames = "".join(traceback.format_tb(error.__traceback__))
            _LOG.error("a download failed: %s\n%s", type(error).__name__, frames)
            job.error = DownloadError(
                f"{plan.name} could not be downloaded: something broke on our side. Try again."
            )
        if job.error is not None:
            self._clean(plan)
        with self._lock:
            del self._jobs[plan.name]
        job.ended.set()

    def _clean(self, plan: DownloadPlan) -> None:
        """Leave nothing of a model that did not become complete."""
        try:
            forget(plan.folder)
        except OSError as error:
            _LOG.warning("what is left of a download stays: %s", type(error).__name__)


DOWNLOADS = Downloads()
"""Those of this process."""

"""Downloads requested by visitors: owned by the process, shared by everyone waiting for them.

A page script runs again on every click, so pages do not download anything themselves: a page
has a ticket and asks it for progress. A download that no page asks about any more is cancelled.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

from app.engine.compute.background import Job
from app.engine.models.copies import HubId, forget, note
from app.engine.models.hub import check_limits, copy_here, for_visitors
from app.log import cause
from bert_core.checkpoints.sources.hub import DownloadPlan, download
from bert_core.errors import BertError, DownloadCancelled, DownloadError, InputError

_LOG = logging.getLogger("app")
_AT_ONCE = 2  # models at a time; more would share one connection and could fill the disk unnoticed
# Seconds without a progress request after which a visitor no longer counts as waiting. Browsers
# let a background tab ask only once a minute.
_PATIENCE = 90.0
_FAREWELL = 10.0  # seconds that a cancelled download gets to end: a piece of 8 kB on a slow line

Fetch = Callable[..., Path]


class State(Enum):
    """The state of a download."""

    RUNNING = "under way"
    DONE = "the model is on this server"
    FAILED = "the model was not downloaded"


@dataclass(frozen=True, slots=True)
class Status:
    """A snapshot of a download's progress."""

    model: Annotated[str, "id of the model, plus the revision if it is not the main branch"]
    state: Annotated[State, "whether it is running, done or failed"]
    done: Annotated[int, "bytes received"]
    total: Annotated[int, "bytes expected"]
    says: Annotated[str, 'why it failed; "" otherwise'] = ""
    offer: Annotated[str, 'name of the model on this server once it is here; "" until then'] = ""


class _Download(Job[None]):
    """One download and the visitors who wait for it."""

    def __init__(self, plan: DownloadPlan, patience: float) -> None:
        super().__init__(patience)
        self.plan = plan

    def report(self, done: int, _: int | None) -> None:
        """Note the bytes received, unless no visitor waits for them any more."""
        self.done = done
        if not self.wanted:
            raise DownloadCancelled(f"{self.plan.name}: cancelled; nothing was kept.")


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """One visitor's handle on a download."""

    _job: _Download

    def ask(self) -> Status:
        """Return the progress; asking also counts as still waiting."""
        job, plan = self._job, self._job.plan
        wanted = HubId(plan.name, plan.revision)
        ended = job.ended.is_set()
        if not ended:
            job.see(self)
            return Status(str(wanted), State.RUNNING, job.done, plan.bytes)
        offer = copy_here(wanted) if job.error is None else None
        if offer is not None:
            return Status(str(wanted), State.DONE, plan.bytes, plan.bytes, offer=offer.name)
        says = str(job.error or f"{wanted} was downloaded, but has been removed since.")
        return Status(str(wanted), State.FAILED, job.done, plan.bytes, says=says)

    def leave(self) -> int:
        """Stop waiting; return how many others still wait. The last to leave cancels it."""
        return self._job.leave(self)


class Downloads:
    """The downloads of the process: a bounded number at once, at most one per model.

    Args:
        patience: seconds without a progress request after which a visitor no longer waits.
        fetch: downloads a plan, as `bert_core.checkpoints.sources.hub.download` does.
    """

    def __init__(self, *, patience: float = _PATIENCE, fetch: Fetch = download) -> None:
        self._patience = patience
        self._fetch = fetch
        self._jobs: dict[str, _Download] = {}
        self._lock = threading.Lock()

    def join(self, plan: DownloadPlan) -> Ticket:
        """Start a download, or join the one in progress.

        Raises:
            InputError: too many downloads are running, another version of the model is being
                downloaded, or a size limit is exceeded.
        """
        ending = self._jobs.get(plan.name)
        if ending is not None and not ending.wanted:
            ending.ended.wait(_FAREWELL)
        with self._lock:
            job = self._jobs.get(plan.name)
            fresh = job is None
            if job is None:
                job = self._admit(plan)
            elif job.plan.commit != plan.commit or job.plan.revision != plan.revision:
                raise InputError(
                    f"Another version of {plan.name} is being downloaded. Try again later."
                )
            ticket = Ticket(job)
            if not job.see(ticket):
                raise InputError(f"{plan.name} is being cancelled. Try again in a moment.")
        if fresh:
            job.begin(partial(self._work, job), "download")
        return ticket

    def _admit(self, plan: DownloadPlan) -> _Download:
        """Register a new download if the limits allow it; the caller holds the lock."""
        if len(self._jobs) >= _AT_ONCE:
            names = " and ".join(sorted(self._jobs))
            raise InputError(
                f"This server is downloading {names}, the most it does at once. Try again later."
            )
        check_limits(plan, sum(job.plan.bytes - job.done for job in self._jobs.values()))
        job = self._jobs[plan.name] = _Download(plan, self._patience)
        return job

    def _work(self, job: _Download) -> None:
        """Run the download; what it raises is for the visitors who are waiting."""
        plan = job.plan
        try:
            with for_visitors(plan.name, plan.folder):
                folder = self._fetch(plan, progress=job.report)
            note(folder, plan.revision)
        except Exception as error:
            try:
                forget(plan.folder)
            except OSError as left:
                _LOG.warning("what is left of a download stays: %s", cause(left))
            if isinstance(error, BertError):
                raise
            _LOG.error("a download failed: %s", cause(error))
            raise DownloadError(
                f"{plan.name} could not be downloaded: an internal error occurred. Try again."
            ) from None
        finally:
            with self._lock:
                del self._jobs[plan.name]


DOWNLOADS = Downloads()
"""The downloads of this process."""

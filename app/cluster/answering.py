"""How a node answers: the task is run as on the site, in the visitor's turn, with its models."""

import gc
import json
import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from app.cluster.packed import classes_of, pack
from app.declared import declared
from app.declared.answers import engine_of
from app.engine.compute.recent import RECENT
from app.engine.compute.visitor import Cancelled, LimitError, Visit, visiting
from app.engine.models import Engine, open_engine
from app.log import cause
from bert_core.errors import BertError, CheckpointError, DownloadError, InputError

_LOG = logging.getLogger("app")
_KINDS = (InputError, CheckpointError, DownloadError)
_MOST_STOPPED = 1_000

ABSENT = b""
"""Instead of an answer: the node has no such model, or cannot open it, or has other weights."""


@dataclass(slots=True)
class _Work:
    """An answer in hand."""

    visit: Visit
    done: int = 0
    total: int = 0
    before: int | None = None
    seen: float = field(default_factory=time.monotonic)

    def step(self, done: int, total: int) -> None:
        """Note progress; called by the task."""
        self.done, self.total = done, total

    def tell(self, before: int | None) -> None:
        """Note how many are before this visitor."""
        self.before = before


class Answers:
    """The answers that a worker has in hand."""

    def __init__(self) -> None:
        self._work: dict[bytes, _Work] = {}
        self._stopped: deque[bytes] = deque(maxlen=_MOST_STOPPED)
        self._lock = threading.Lock()
        open_engine().warm_up()
        gc.collect()
        gc.freeze()  # as the site does: while Python looks for waste, all wait

    def answer(self, ticket: bytes, request: bytes) -> bytes:
        """Answer a request: JSON of task, model, weights, values, visitor and progress.

        Returns:
            A packed dictionary: `result`, or `error` (a class) and `says`; and `used`, the seconds
            of computing; or `ABSENT`. Nothing is raised, because Ray would keep the message.
        """
        work = _Work(Visit(""))
        work.visit.told = work.tell
        with self._lock:
            self._work[ticket] = work
            work.visit.cancelled = ticket in self._stopped
        try:
            with visiting(work.visit):
                return _answered(json.loads(request), work)
        except BaseException as error:  # noqa: BLE001 - Cancelled, and whatever a bug raises
            if not isinstance(error, Cancelled):
                _LOG.error("on a node: %s", cause(error))
            return pack({"error": type(error).__name__, "used": work.visit.used}, {})
        finally:
            with self._lock:
                del self._work[ticket]

    def look(self, ticket: bytes) -> bytes:
        """Return JSON of how far an answer is: done, total, before, used; `{}` before it began."""
        work = self._work.get(ticket)
        if work is None:
            return b"{}"
        work.seen = time.monotonic()
        told = {"done": work.done, "total": work.total, "before": work.before}
        return json.dumps({**told, "used": work.visit.used}).encode()

    def stop(self, ticket: bytes) -> None:
        """Cancel an answer at its next pass, or before it begins."""
        with self._lock:
            self._stopped.append(ticket)
            if ticket in self._work:
                self._work[ticket].visit.cancelled = True

    def stop_unseen(self, seconds: float) -> None:
        """Cancel the answers that no one has looked at for so long; drop old results."""
        RECENT.drop_old()
        oldest = time.monotonic() - seconds
        with self._lock:
            for work in self._work.values():
                work.visit.cancelled |= work.seen < oldest


def _answered(asked: dict[str, Any], work: _Work) -> bytes:
    """Run the task of a request."""
    work.visit.name = str(asked["visitor"])
    found = declared(str(asked["task"]))
    own: dict[str, Any] = {"progress": work.step} if asked["progress"] else {}
    classes = classes_of(found.result)
    engine = _engine(str(asked["model"]), str(asked["weights"]))
    if engine is None:
        return ABSENT
    told: dict[str, Any]
    try:
        told = {"result": found.task(engine, **found.read(asked["values"]), **own)}
    except LimitError as error:
        told = {"error": LimitError.__name__, "says": str(error), "seconds": error.seconds}
    except BertError as error:
        kind = next((each for each in _KINDS if isinstance(error, each)), BertError)
        told = {"error": kind.__name__, "says": str(error)}
    return pack({**told, "used": work.visit.used}, classes)


def _engine(name: str, weights: str) -> Engine | None:
    """Return the model, if this node has the same one."""
    try:
        engine = engine_of(name)
    except BertError:
        return None
    return engine if engine.provenance.fingerprint == weights else None

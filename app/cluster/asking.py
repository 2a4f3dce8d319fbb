"""Which tasks go to the nodes, what is sent, and what becomes of the reply."""

import hashlib
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.cluster.packed import classes_of, unpack
from app.engine.compute.visitor import ALLOWANCES, LimitError, Visit, current_visit
from app.engine.models import Engine
from app.engine.models.second import BESIDE
from app.engine.models.shelf import Kind
from bert_core.errors import BertError, CheckpointError, DownloadError, InputError

_LOG = logging.getLogger("app")
_ERRORS: dict[str, type[BertError]] = {
    each.__name__: each for each in (BertError, InputError, CheckpointError, DownloadError)
}
_SECOND = (BESIDE, "other_model")
_HERE = frozenset({"tokenizer_compare", "attention"})  # the last: 47 MB for 400 pieces
_SALT = secrets.token_bytes(16)  # of this process: a node can tell visitors apart, not who they are


class Answering(Protocol):
    """What `app.cluster.nodes.Nodes` does for this module."""

    @property
    def cores(self) -> int:
        """Cores of all nodes that answer; 0 for none."""

    def ask(
        self, request: bytes, weights: str, near: str, watch: Callable[[bytes], None]
    ) -> bytes | None:
        """Return the reply of a node that has these weights; None if there is none."""


CLUSTER: list[Answering] = []
"""The nodes of this process; none without the setting, see `app.cluster.nodes.begin`."""


def goes(task: str, takes_text: bool, parameters: tuple[str, ...]) -> bool:
    """Return whether a task may be done on a node.

    What trains (the lab), what only reads files beside the weights, and what asks a second model
    stays: it rests on what this machine has.
    """
    return takes_text and task not in _HERE and not any(name in _SECOND for name in parameters)


def asked(
    task: str, result: type, engine: Engine, values: Mapping[str, object], own: Mapping[str, Any]
) -> Any:
    """Let a node do a task.

    Args:
        task: its name.
        result: the class of its result.
        engine: the model, loaded here; one in a folder of this machine stays here.
        values: checked values.
        own: what the program passes to the task: `progress`, or nothing.

    Returns:
        The result; None if the task is to be done here.

    Raises:
        BertError: the node refused, as would be done here.
        Cancelled: no one waits for it any more.
    """
    model = engine.provenance
    if not CLUSTER or own.keys() - {"progress"}:
        return None
    if model.origin == Kind.FOLDER.value or not CLUSTER[0].cores:
        return None
    visit = current_visit()
    ALLOWANCES.admit(visit)
    request = {"task": task, "model": model.name, "weights": model.fingerprint, "values": values,
               "visitor": _alias(visit), "progress": "progress" in own}  # fmt: skip
    watch = _Watch(visit, own.get("progress"))
    near = max((each for each in values.values() if isinstance(each, str)), key=len, default="")
    try:
        reply = CLUSTER[0].ask(json.dumps(request).encode(), model.fingerprint, near, watch)
        if reply is None:
            return None
        told = unpack(reply, classes_of(result))
        watch.charge(float(told["used"]))
        if isinstance(found := told.get("result"), result):
            return found
        return _refused(str(told["error"]), told)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, BertError):
            raise
        _LOG.error("A reply of Ray cannot be read; %s is computed here.", task)
        return None


def _alias(visit: Visit) -> str:
    """Return what tells a visitor from others on a node."""
    return hashlib.blake2b(visit.name.encode(), key=_SALT, digest_size=8).hexdigest()


def _refused(kind: str, told: Mapping[str, Any]) -> None:
    """Raise what the task raised on the node; a bug there is met again here, and logged here."""
    if kind == LimitError.__name__:
        raise LimitError(str(told["says"]), int(told["seconds"]))
    if kind in _ERRORS:
        raise _ERRORS[kind](str(told["says"]))


@dataclass(slots=True)
class _Watch:
    """What the one who waits is told meanwhile, and pays."""

    visit: Visit
    progress: Callable[[int, int], None] | None
    paid: float = 0.0
    told: tuple[int, int] = (0, 0)
    began: float = field(default_factory=time.monotonic)

    def __call__(self, look: bytes) -> None:
        """Pass on how far the work is; raise if no one waits any more, or nothing is left."""
        far = json.loads(look)
        self.charge(float(far.get("used", 0)))
        ALLOWANCES.admit(self.visit)
        if far and (far["before"] is not None or self.visit.waiting):
            self.visit.tell(far["before"])
        step = int(far.get("done", 0)), int(far.get("total", 0))
        if self.progress is not None and step not in (self.told, (0, 0)):
            self.told = step
            self.progress(*step)

    def charge(self, used: float) -> None:
        """Subtract the seconds that were computed since the last time.

        A node cannot take more than all cores can have computed.
        """
        used = min(used, (time.monotonic() - self.began) * max(1, CLUSTER[0].cores))
        if used > self.paid:
            ALLOWANCES.charge(self.visit, used - self.paid)
            self.paid = used

"""The nodes of a Ray cluster: one worker on each, which keeps the models and answers in threads."""

import atexit
import hashlib
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from app.cluster.asking import CLUSTER
from app.log import cause
from app.settings import settings

_LOG = logging.getLogger("app")

NAMESPACE = "bert-explorer"
_ROOT = Path(__file__).parents[2]
_OF_SITE = ("PUBLIC", "TEXT", "WINDOWS")
"""The settings of the site that hold on the nodes."""

_EVERY = 2.0  # seconds between two looks at the nodes
_PATIENCE = 30.0  # seconds without a word after which a node counts as lost
_FIRST, _SLOWEST = 0.1, 1.0  # seconds between two looks at an answer
_LACKS = 300.0  # seconds for which a node is not asked for weights that it did not have
_AT_ONCE = 100  # answers that a node has in hand; they compute in turns


class Lost(Exception):
    """A node gave no answer, because it or the way to it has gone."""


@dataclass(slots=True, eq=False)
class _Node:
    """A node and its worker.

    Attributes:
        id: Ray's.
        cores: of the node.
        worker: the handle of its worker.
        asked: when it was last asked whether it is there, and its reply to that.
        up: whether it answers.
        busy: answers that this process waits for.
        lacks: weights that it does not have, and when it may be asked for them again.
    """

    id: str
    cores: int
    worker: Any
    asked: tuple[float, "Future[Any]"]
    up: bool = False
    busy: int = 0
    lacks: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Nodes:
    """The nodes that answer for this process.

    A thread of its own connects, begins a worker on every node that joins and asks all of them
    whether they are there. Who asks something never waits for that.

    Args:
        address: `ray://HOST:PORT`.
    """

    address: str
    _nodes: dict[str, _Node] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)
    _said: bool | None = None

    def begin(self) -> None:
        """Look after the nodes from now on."""
        threading.Thread(target=self._look_after, name="cluster", daemon=True).start()

    def end(self) -> None:
        """Look no longer, and leave the cluster."""
        self._ended.set()
        leave()

    @property
    def cores(self) -> int:
        """Cores of all nodes that answer; 0 for none."""
        with self._lock:
            return sum(node.cores for node in self._nodes.values() if node.up)

    def ask(
        self, request: bytes, weights: str, near: str, watch: Callable[[bytes], None]
    ) -> bytes | None:
        """Return the reply of a node; one that is lost costs another try, on another node.

        Args:
            request: what its worker understands.
            weights: those it needs; a node without them is not asked again for some minutes.
            near: requests with the same text here go to the same node while it is free, which
                may have kept what they share.
            watch: called with how far the answer is, about every second; an exception it raises
                ends the work, too.

        Returns:
            None if there is no node, or none that has the weights.
        """
        tried: set[str] = set()
        while (node := self._taken(near, tried, weights)) is not None:
            tried.add(node.id)
            try:
                if reply := _reply(node.worker, request, watch):
                    return reply
                node.lacks[weights] = time.monotonic() + _LACKS
                _LOG.warning("A node of Ray has no weights %s.", weights)
            except Lost:
                node.up = False
            finally:
                with self._lock:
                    node.busy -= 1
        return None

    def _taken(self, near: str, but: Collection[str], weights: str = "") -> _Node | None:
        """Take a place on the node with the least to do for each of its cores."""

        def rank(node: _Node) -> tuple[float, bytes]:
            return node.busy // node.cores, hashlib.blake2b(f"{node.id}{near}".encode()).digest()

        with self._lock:
            now = time.monotonic()
            free = [each for each in self._nodes.values() if each.up and each.id not in but
                    and each.lacks.get(weights, now) <= now]  # fmt: skip
            node = min(free, key=rank, default=None)
            if node is not None:
                node.busy += 1
            return node

    def _look_after(self) -> None:
        while not self._ended.is_set():
            try:
                connect(self.address)
                self._look()
            except Exception as error:  # noqa: BLE001 - whatever Ray raises: tried again
                _LOG.debug("Ray: %s", cause(error))
                with self._lock:
                    self._nodes.clear()
                leave()
            if not self._ended.is_set() and self._said is not (there := bool(self.cores)):
                self._say(there)
            self._ended.wait(_EVERY)

    def _say(self, there: bool) -> None:
        if there:
            _LOG.info("Ray answers: %d cores.", self.cores)
        elif self._said:
            _LOG.warning("Ray does not answer; tasks are computed here.")
        self._said = there

    def _look(self) -> None:
        """Begin workers on new nodes, forget those that left, ask all whether they are there."""
        import ray

        found = {each["NodeID"]: int(each["Resources"].get("CPU", 0)) for each in ray.nodes()
                 if each["Alive"]}  # fmt: skip
        kept = {id_: cores for id_, cores in found.items() if cores}
        for id_, cores in kept.items():
            node = self._nodes.get(id_)
            if node is None or _gone(node):
                worker = _begun(id_, cores)
                fresh = _Node(id_, cores, worker, (time.monotonic(), _side(worker, "hello")))
                with self._lock:
                    self._nodes[id_] = fresh
            else:
                _ask_again(node)
        with self._lock:
            for id_ in self._nodes.keys() - kept:
                del self._nodes[id_]


def _gone(node: _Node) -> bool:
    """Return whether the worker must be looked up, or begun, again."""
    reply = node.asked[1]
    return reply.done() and reply.exception() is not None


def _ask_again(node: _Node) -> None:
    """Note the reply of a node, and ask it once more; one that says nothing is left alone."""
    since, reply = node.asked
    if reply.done():
        node.up = True
        node.asked = time.monotonic(), _side(node.worker, "hello")
    elif time.monotonic() - since > _PATIENCE:
        node.up = False


def begin() -> None:
    """Connect this process with the nodes of the setting, if there is one."""
    if settings().compute and not CLUSTER:
        nodes = Nodes(place(settings().compute))
        nodes.begin()
        CLUSTER.append(nodes)


def place(address: str) -> str:
    """Return the address of a cluster; `local` begins one here, which ends with this process."""
    if address != "local":
        return address
    from app.cluster import local

    found, process = local.begin()
    atexit.register(process.communicate)  # closes its input
    return found


def connect(address: str) -> None:
    """Connect this process with a cluster, unless it is; nothing is reported to anybody.

    Raises:
        Exception: of any class: there is none, or it does not let us in.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if not ray.is_initialized():
        ray.init(address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.CRITICAL)


def leave() -> None:
    """Leave the cluster."""
    with suppress(Exception):
        import ray

        ray.shutdown()


def of_site() -> dict[str, str]:
    """Return the settings of this process that hold on the nodes, as environment variables."""
    named = (f"BERT_EXPLORER_{name}" for name in _OF_SITE)
    return {name: value for name in named if (value := os.environ.get(name))}


@cache
def code_of(root: Path) -> str:
    """Return what tells the code in a folder from that of another version."""
    found = hashlib.blake2b(digest_size=8)
    for package in ("app", "bert_core"):
        for each in sorted(root.glob(f"{package}/**/*.py")):
            for part in (str(each.relative_to(root)).encode(), each.read_bytes()):
                found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _begun(node: str, cores: int) -> Any:
    """Return the worker of a node, begun if there is none with our settings and our code."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from app.cluster.worker import SIDE, Worker

    given = {"cores": cores, "settings": of_site(), "code": code_of(_ROOT)}
    told = json.dumps(given, sort_keys=True).encode()
    name = f"{hashlib.blake2b(told, digest_size=6).hexdigest()} on {node}"
    kind = ray.remote(
        num_cpus=0,
        max_restarts=-1,
        max_concurrency=_AT_ONCE,
        concurrency_groups={SIDE: 4},
    )(Worker)
    return kind.options(
        name=name,
        namespace=NAMESPACE,
        get_if_exists=True,
        lifetime="detached",
        scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
    ).remote(told)


def _side(worker: Any, name: str, *given: bytes) -> "Future[Any]":
    """Call a method of a worker that answers at once."""
    found: Future[Any] = getattr(worker, name).remote(*given).future()
    return found


def _reply(worker: Any, request: bytes, watch: Callable[[bytes], None]) -> bytes:
    """Send a request and wait for its reply.

    Raises:
        Lost: there will be none.
    """
    ticket = secrets.token_bytes(8)
    future = _tried(lambda: worker.answer.remote(ticket, request).future())
    pause = _FIRST
    while not _done(future, pause):
        pause = min(_SLOWEST, 2 * pause)
        try:
            watch(_got(_tried(lambda: _side(worker, "look", ticket)), _PATIENCE))
        except Lost:
            raise
        except BaseException:
            with suppress(Lost):
                _tried(lambda: _side(worker, "stop", ticket))
            raise
    return _got(future, 0)


def _done(future: "Future[Any]", seconds: float) -> bool:
    """Wait for a reply, but not for long; return whether it is there."""
    with suppress(Exception):
        future.result(seconds)
    return future.done()


def _got(future: "Future[Any]", seconds: float) -> bytes:
    found = _tried(lambda: future.result(seconds))
    if not isinstance(found, bytes):
        raise Lost
    return found


def _tried(call: Callable[[], Any]) -> Any:
    """Call Ray; whatever it raises means that the node is lost."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - whatever Ray raises
        _LOG.debug("Ray: %s", cause(error))
        raise Lost from None

"""The models of the process: bounded, shared by every session, each loaded once."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from typing import Generic, TypeVar

from app.models.engine import Engine
from app.models.facts import offered_facts
from app.models.shelf import Offer, default_offer
from app.settings import settings
from bert_core.errors import CheckpointError

K = TypeVar("K", bound=Hashable)

# Loads that run side by side. Reading is bound by disk and memory: thirty at once would only
# make each other late, and hold thirty models before the first can leave.
_SIDE_BY_SIDE = 2


class ModelStore(Generic[K]):
    """A bounded number of engines; the one unused for longest leaves first.

    Threads that ask for different models load them side by side, and those that ask for a model
    that is here wait for nobody. Threads that ask for the same one wait for a single load, and
    share its failure too; a failure is not remembered, so whoever comes later tries again. An
    engine that left the store lives on for as long as somebody still holds it.

    Args:
        capacity: engines kept, at least 1.
        load: builds an engine from a key.
        limit: bytes that the engines may take together, as far as more than one is kept.
        size: estimates the bytes of an engine.
    """

    def __init__(
        self,
        capacity: int,
        load: Callable[[K], Engine],
        *,
        limit: int | None = None,
        size: Callable[[Engine], int] = lambda engine: engine.facts.memory_bytes,
    ) -> None:
        self._capacity = max(1, capacity)
        self._load = load
        self._limit = limit
        self._size = size
        self._slots: OrderedDict[K, Future[Engine]] = OrderedDict()
        self._lock = threading.Lock()
        self._loading = threading.BoundedSemaphore(_SIDE_BY_SIDE)

    def get(self, key: K) -> Engine:
        """Return the engine of a model, loading it if nobody has yet.

        Raises:
            BertError: the model cannot be found or read.
        """
        with self._lock:
            slot = self._slots.get(key)
            mine = slot is None
            if slot is None:
                slot = self._slots[key] = Future()
            self._slots.move_to_end(key)
        if mine:
            self._fill(key, slot)
        return slot.result()

    def held(self, key: K) -> bool:
        """Say whether a model is loaded, so that asking for it takes no time."""
        with self._lock:
            slot = self._slots.get(key)
        return slot is not None and slot.done()

    def names(self) -> tuple[K, ...]:
        """Return the keys of the engines held now, the one unused for longest first."""
        with self._lock:
            return tuple(key for key, slot in self._slots.items() if slot.done())

    def _fill(self, key: K, slot: "Future[Engine]") -> None:
        """Load into a slot; everybody who waits for it gets the engine or the failure."""
        try:
            with self._loading:
                engine = self._load(key)
        except BaseException as error:
            with self._lock:
                del self._slots[key]
            slot.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        slot.set_result(engine)
        self._evict()

    def _evict(self) -> None:
        """Let the oldest engines go; slots where a load is under way do not count."""
        with self._lock:
            held = {key: slot.result() for key, slot in self._slots.items() if slot.done()}
            for key in list(held)[:-1]:
                if len(held) <= self._capacity and not self._too_much(held.values()):
                    return
                del held[key], self._slots[key]

    def _too_much(self, engines: Iterable[Engine]) -> bool:
        """Say whether engines take more memory together than they may."""
        return self._limit is not None and sum(map(self._size, engines)) > self._limit


def _load_offer(offer: Offer) -> Engine:
    """Load a model that is on offer, unless it is larger than all models may be together."""
    limit = settings().model_bytes
    needed = offered_facts(offer).memory_bytes
    if needed > limit:
        raise CheckpointError(
            f"{offer.name} takes about {needed / 2**20:,.0f} MiB in memory; this server keeps at "
            f"most {limit / 2**20:,.0f} MiB of models. Choose a smaller one."
        )
    return Engine(offer.source, offer)


_LIMITS = settings()
_STORE = ModelStore[Offer](_LIMITS.models, _load_offer, limit=_LIMITS.model_bytes)


def open_engine(offer: Offer | None = None) -> Engine:
    """Return the engine of a model from the process-wide store.

    Args:
        offer: the model; None means the one that every page starts with.

    Raises:
        BertError: the model cannot be found or read.
    """
    return _STORE.get(offer or default_offer())


def is_open(offer: Offer) -> bool:
    """Say whether a model is loaded already."""
    return _STORE.held(offer)

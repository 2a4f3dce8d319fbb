"""The loaded models of the process: bounded in number, shared by all sessions, loaded once."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from app.engine.compute.recent import RECENT
from app.engine.compute.shared import SharedRuns
from app.engine.models.engine import Engine
from app.engine.models.facts import stamp_of
from app.engine.models.shelf import Kind, Offer, default_offer
from app.engine.models.usable import check
from app.settings import settings

K = TypeVar("K", bound=Hashable)
_LOG = logging.getLogger("app")

# Number of models loaded in parallel. Loading is bound by disk and memory: thirty at once would
# slow each other down, and keep thirty models in memory before the first can be dropped.
_SIDE_BY_SIDE = 2


class ModelStore(Generic[K]):
    """A bounded number of engines; the least recently used one is dropped first.

    Different models load in parallel, and a model that is already loaded is returned without
    waiting. Threads that ask for the same model share a single load, including its failure.
    Failures are not cached, so a later request tries again. An engine dropped from the store stays
    alive as long as a caller uses it. A model whose files changed is loaded again.

    Args:
        capacity: maximum number of engines kept, at least 1.
        load: builds an engine from a key.
        limit: maximum total bytes of the engines; one engine is always kept.
        size: estimates the size of an engine in bytes.
        stamp: returns a value that changes whenever a file of a model changes.
    """

    def __init__(
        self,
        capacity: int,
        load: Callable[[K], Engine],
        *,
        limit: int | None = None,
        size: Callable[[Engine], int] = lambda engine: engine.facts.memory_bytes,
        stamp: Callable[[K], object] = lambda key: None,
    ) -> None:
        self._capacity = max(1, capacity)
        self._load = load
        self._limit = limit
        self._size = size
        self._stamp = stamp
        self._stamps: dict[K, object] = {}  # of every engine, before it was loaded
        self._engines: OrderedDict[K, Engine] = OrderedDict()
        self._lock = threading.Lock()
        self._loads = SharedRuns[K, Engine]()
        self._side_by_side = threading.BoundedSemaphore(_SIDE_BY_SIDE)

    def get(self, key: K) -> Engine:
        """Return the engine of a model, loading it if necessary.

        Raises:
            BertError: the model cannot be found or read.
        """
        return self._held(key) or self._loads.run(key, lambda: self._loaded(key))

    def held(self, key: K) -> bool:
        """Return whether a model is already loaded."""
        with self._lock:
            return key in self._engines

    def names(self) -> tuple[K, ...]:
        """Return the keys of the current engines, least recently used first."""
        with self._lock:
            return tuple(self._engines)

    def _held(self, key: K) -> Engine | None:
        now = self._stamp(key)
        with self._lock:
            # Nothing at all is no change: a model in memory outlives its files.
            if key in self._engines and now and self._stamps[key] != now:
                del self._engines[key]
                RECENT.clear()
                _LOG.warning("The files of %s changed; it is opened anew.", key)
            if key in self._engines:
                self._engines.move_to_end(key)
            return self._engines.get(key)

    def _loaded(self, key: K) -> Engine:
        """Load an engine and keep it, unless the load before this one has just done so."""
        found = self._held(key)
        if found is not None:
            return found
        with self._side_by_side:
            stamp = self._stamp(key)
            engine = self._load(key)
        with self._lock:
            self._engines[key], self._stamps[key] = engine, stamp
            while len(self._engines) > 1 and self._is_full():
                self._engines.popitem(last=False)
        return engine

    def _is_full(self) -> bool:
        """Return whether the engines exceed the capacity or the total size limit."""
        if len(self._engines) > self._capacity or self._limit is None:
            return len(self._engines) > self._capacity
        return sum(map(self._size, self._engines.values())) > self._limit


def _load_offer(offer: Offer) -> Engine:
    """Load a model on offer, unless it alone exceeds the limit for all loaded models."""
    check(offer)
    engine = Engine(offer.source, offer)
    return engine.untrained() if offer.kind is Kind.UNTRAINED else engine


_LIMITS = settings()
_STORE = ModelStore[Offer](_LIMITS.models, _load_offer, limit=_LIMITS.model_bytes, stamp=stamp_of)


def open_engine(offer: Offer | None = None) -> Engine:
    """Return the engine of a model from the process-wide store.

    Args:
        offer: the model; None for the default model.

    Raises:
        BertError: the model cannot be found or read.
    """
    if offer is not None and offer.kind is Kind.IN_MEMORY:
        return Engine(offer.source, offer)
    return _STORE.get(offer or default_offer())


def is_open(offer: Offer) -> bool:
    """Return whether a model is already loaded."""
    return _STORE.held(offer)

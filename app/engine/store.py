"""The models of the process: bounded, shared by every session, each loaded once."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from app.engine.engine import Engine
from app.settings import settings


class _Slot:
    """A place for one engine, with the lock that lets only one thread load it."""

    __slots__ = ("engine", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.engine: Engine | None = None


class ModelStore:
    """At most `capacity` engines; the one unused for longest leaves first.

    Threads that ask for different models load them side by side; threads that ask for the same
    one wait for a single load. A failed load is not remembered: the next visitor tries again.
    An engine that left the store lives on for as long as somebody still holds it.

    Args:
        capacity: engines kept, at least 1.
        load: builds an engine from a name; `Engine` itself outside tests.
    """

    def __init__(self, capacity: int, load: Callable[[str], Engine] = Engine) -> None:
        self._capacity = max(1, capacity)
        self._load = load
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> Engine:
        """Return the engine of a model, loading it if nobody has yet.

        Raises:
            BertError: the model cannot be found or read.
        """
        with self._lock:
            slot = self._slots.setdefault(name, _Slot())
            self._slots.move_to_end(name)
        with slot.lock:
            if slot.engine is None:
                try:
                    slot.engine = self._load(name)
                except BaseException:
                    self._forget(name, slot)
                    raise
                self._evict()
            return slot.engine

    def names(self) -> tuple[str, ...]:
        """Return the names held now, the one unused for longest first."""
        with self._lock:
            return tuple(name for name, slot in self._slots.items() if slot.engine)

    def _evict(self) -> None:
        """Let the oldest engines go; places where a load is under way do not count."""
        with self._lock:
            loaded = [name for name, slot in self._slots.items() if slot.engine]
            for name in loaded[: -self._capacity]:
                del self._slots[name]

    def _forget(self, name: str, slot: _Slot) -> None:
        """Drop a slot whose load failed, unless another took its place meanwhile."""
        with self._lock:
            if self._slots.get(name) is slot:
                del self._slots[name]


_STORE = ModelStore(settings().models)


def open_engine(name: str | None = None) -> Engine:
    """Return the engine of a model from the process-wide store.

    Args:
        name: a bundled name or a folder; None means the model of the settings.

    Raises:
        BertError: the model cannot be found or read.
    """
    return _STORE.get(name or settings().model)

"""The loaded models of the process: bounded in number, shared by all sessions, loaded once."""

import logging
import threading
from dataclasses import dataclass

from app.engine.compute.recent import RECENT, Cache
from app.engine.models.engine import Engine
from app.engine.models.facts import stamp_of
from app.engine.models.shelf import Kind, Offer, default_offer
from app.engine.models.usable import check
from app.settings import settings

_LOG = logging.getLogger("app")
_OPENED = Cache(settings().model_bytes, most=settings().models, least=1)
# Loading is bound by disk and memory: thirty models at once would slow each other down, and all be
# in memory before the first can be dropped.
_SIDE_BY_SIDE = threading.BoundedSemaphore(2)


@dataclass(frozen=True, slots=True)
class _Opened:
    stamp: object  # of the files, before they were read
    engine: Engine


def open_engine(offer: Offer | None = None) -> Engine:
    """Return the engine of a model, loading it if it is not in memory, or if its files changed.

    None is the default model. Different models load side by side. An engine that was dropped stays
    alive as long as a caller uses it.

    Raises:
        BertError: the model cannot be found or read.
    """
    if offer is not None and offer.kind is Kind.IN_MEMORY:
        return Engine(offer.source, offer)
    asked = offer or default_offer()
    opened = _opened(asked)
    now = stamp_of(asked)  # nothing at all is no change: a model in memory outlives its files
    if now and opened.stamp != now and _OPENED.drop(asked, opened):
        RECENT.clear()
        _LOG.warning("The files of %s changed; it is opened anew.", asked)
        opened = _opened(asked)
    return opened.engine


def is_open(offer: Offer) -> bool:
    """Return whether a model is already loaded."""
    return offer in _OPENED.keys


def _opened(offer: Offer) -> _Opened:
    return _OPENED.get(offer, lambda: _load(offer), lambda made: made.engine.facts.memory_bytes)


def _load(offer: Offer) -> _Opened:
    """Load a model on offer, unless it alone exceeds the limit for all loaded models."""
    with _SIDE_BY_SIDE:
        stamp = stamp_of(offer)
        check(offer)
        engine = Engine(offer.source, offer)
        untrained = offer.kind is Kind.UNTRAINED
        return _Opened(stamp, engine.untrained() if untrained else engine)

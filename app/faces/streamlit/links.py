"""Texts too long for an address: kept in memory for a day, under a random key in the address.

Where the operator does not want that (`BERT_EXPLORER_LINKS`), a text is kept in the visitor's own
session only: Back and Forward find it, a link opened elsewhere does not.
"""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from app.faces.streamlit.visitor import is_among
from app.settings import settings

KEPT = "kept"
"""The name of the key in the address."""

_OWN = "_kept_texts"
_LAST = "_kept_last"  # the texts of this page and their key

_DAY = 24 * 60 * 60  # seconds

Texts = Mapping[str, str]
"""Texts by the box they are in."""


@dataclass(frozen=True, slots=True)
class _Entry:
    texts: Texts
    size: int  # bytes
    until: float  # by the clock


class KeptTexts:
    """Texts under random keys, bounded in number, size and time; safe to use from all threads.

    When a bound is reached, the oldest texts go.

    Args:
        most: number of entries.
        size: bytes of all texts together.
        clock: returns the time in seconds.
    """

    def __init__(self, most: int, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._most_bytes, self._clock = most, size, clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()  # oldest first
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, texts: Texts) -> str:
        """Keep texts, and return the key under which they are found."""
        key = secrets.token_urlsafe(12)
        size = sum(len(text.encode()) for text in texts.values())
        with self._lock:
            self._entries[key] = _Entry(dict(texts), size, self._clock() + _DAY)
            self._size += size
            while len(self._entries) > self._most or self._size > self._most_bytes:
                self._drop_oldest()
            self._drop_expired()
        return key

    def find(self, key: str) -> Texts | None:
        """Return the texts of a key; None if there are none, or no longer."""
        with self._lock:
            self._drop_expired()
            entry = self._entries.get(key)
        return entry.texts if entry else None

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._entries and next(iter(self._entries.values())).until <= now:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, entry = self._entries.popitem(last=False)
        self._size -= entry.size


SHARED = KeptTexts(500, 32 * 2**20)
"""The texts of all visitors of this process."""


def links_have_texts() -> bool:
    """Return whether this visitor's long texts are kept for their links."""
    return is_among(settings().links)


def texts_of_link() -> Texts | None:
    """Return the long texts that the address refers to, {} if to none; None if they are gone."""
    key = st.query_params.get(KEPT)
    if key is None:
        return {}
    found = SHARED.find(key)
    return _own().find(key) if found is None else found


def write_link(texts: Texts) -> None:
    """Put the key of the page's long texts into the address; no key if there are none."""
    if not texts:
        if KEPT in st.query_params:
            del st.query_params[KEPT]
        return
    store = SHARED if links_have_texts() else _own()
    last, key = st.session_state.get(_LAST, ({}, ""))
    if last != texts or store.find(key) is None:
        here = st.query_params.get(KEPT, "")
        key = here if store.find(here) == texts else store.keep(texts)
        st.session_state[_LAST] = (dict(texts), key)
    if st.query_params.get(KEPT) != key:
        st.query_params[KEPT] = key


def _own() -> KeptTexts:
    """Return the store of this session."""
    if _OWN not in st.session_state:
        st.session_state[_OWN] = KeptTexts(20, 2 * 2**20)
    own: KeptTexts = st.session_state[_OWN]
    return own

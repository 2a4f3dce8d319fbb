"""Texts too long for an address: kept for a day under a random key in the address (`app/shared`).

Where the operator does not want that (`BERT_EXPLORER_LINKS`), a text is kept in the visitor's own
session only: Back and Forward find it, a link opened elsewhere does not.
"""

import streamlit as st

from app.faces.streamlit.visitor import is_among
from app.settings import settings
from app.shared import shared
from app.shared.memory import Shelf, Texts

KEPT = "kept"  # the name of the key in the address

_OWN = "_kept_texts"
_LAST = "_kept_last"  # the texts of this page and their key


SHARED = shared().shelf("links", 500, 32 * 2**20)


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


def _own() -> Shelf:
    if _OWN not in st.session_state:
        st.session_state[_OWN] = Shelf(20, 2 * 2**20)
    own: Shelf = st.session_state[_OWN]
    return own

"""Who the visitor is, as far as this matters: which one, and whether at this machine."""

import os

import streamlit as st

from app.compat.streamlit import session_number
from app.records.visitors import Visitor, announced
from app.settings import Visitors, is_here

_FORWARDED = ("X-Forwarded-For", "X-Real-Ip", "Forwarded", "Via")


def visitor() -> Visitor:
    """Return the visitor as the gate knows it; without a gate, each session is a visitor."""
    found = announced(st.context.headers)
    number = "" if found.name else session_number()
    return Visitor(number) if number else found


def is_among(visitors: Visitors) -> bool:
    """Return whether this visitor is one of these."""
    return visitors is Visitors.ALL or (visitors is Visitors.LOCAL and is_local())


def is_local() -> bool:
    """Return whether this server is reachable only from this machine, with no proxy in front.

    A Space of the Hugging Face Hub, which sets SPACE_ID, is public whatever its address.
    """
    headers = st.context.headers
    if os.environ.get("SPACE_ID") or any(name in headers for name in _FORWARDED):
        return False
    return is_here(str(st.get_option("server.address") or ""))

"""The settings of the entity tagger."""

from hashlib import sha256

import streamlit as st

from app.faces.streamlit.controls import choose_some, level
from app.faces.streamlit.frame import Page
from app.features.ner.result import NerResult
from app.features.ner.view_text import colour_of
from app.words.html import plain

_COLOURED = 18  # kinds whose colour can be chosen; more would fill the screen


def view_settings(_: Page, result: NerResult) -> dict[str, object]:
    """Let the visitor choose which entities are shown, and their colours."""
    only = choose_some("Show only (none chosen: all)", result.labels.kinds, key="only")
    least = level("Hide scores below", (0.0, 1.0), key="least", default=0.0)
    return {"selection": result.select(least=least, only=only), "colours": _colours(result)}


def _colours(result: NerResult) -> dict[str, str]:
    """Let the visitor choose a colour for each kind found; kept in the link."""
    found = {entity.kind for entity in result.reading.entities}
    kinds = [kind for kind in result.labels.kinds if kind in found][:_COLOURED]
    colours = {}
    with st.container(horizontal=True, gap="small"):
        for kind in kinds:
            colours[kind] = st.color_picker(
                f"Colour: {plain(kind)}",
                value=colour_of(result, kind),
                key=_colour_key(kind),
                bind="query-params",
                persist_state="session",
            )
    return colours


def _colour_key(kind: str) -> str:
    """Name a kind in the address; names of any length and with any signs fit."""
    short = sha256(kind.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"colour_{kind if kind.isidentifier() and len(kind) < 20 else short}"

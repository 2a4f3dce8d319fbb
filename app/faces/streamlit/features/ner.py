"""The settings of the entity tagger, and its tab of annotations."""

from hashlib import sha256

import streamlit as st

from app.faces.streamlit.controls import choose_some, level
from app.faces.streamlit.frame import Page
from app.faces.streamlit.show import show_html
from app.faces.streamlit.standard import show_screen
from app.faces.streamlit.state import put, text_box
from app.features.ner import view_agreement
from app.features.ner.result import NerResult
from app.features.ner.task_agreement import ner_agreement
from app.features.ner.view_text import colour_of, drawn
from app.words.html import plain
from app.words.report import Block

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


def gold_tab(page: Page, result: NerResult, shown: dict[str, dict[str, str]]) -> list[Block]:
    """Draw the box for annotations and, once it has content, the figures and every difference."""
    slug = page.feature.slug
    show_html(view_agreement.how())
    lines = text_box(
        slug, view_agreement.ASK, key="gold", height=150, placeholder=view_agreement.HINT
    )
    if not lines.strip():
        start = view_agreement.start_lines(result)
        st.button("Start from the model's tags", on_click=put, args=(slug, "gold", start))
        return []
    with st.spinner("Comparing …"):
        agreement = ner_agreement(page.engine, lines)
    marked = view_agreement.overlaps(agreement, result, shown["colours"])
    text = drawn(marked, agreement.text, "annotations")
    return show_screen(page, view_agreement.screen(agreement, text=(text,)))


TABS = {"ner_agreement": gold_tab}
"""Tabs with widgets that no other has, by their task."""

"""X-ray: the whole model at work, and its parts switched off."""

import streamlit as st

from app.features.xray import view
from app.features.xray.task import xray
from app.streamlit_kit import guarded, page_shell, show_html, text_box
from app.words.html import tag

SLUG = "xray"


def draw_switches() -> None:
    """Show which part matters for this answer."""


def draw_lens() -> None:
    """Show the rank of any word in every layer."""


with page_shell(SLUG) as page:
    with page.give:
        text = text_box(SLUG, "Text", height=72)
        pair = text_box(SLUG, "Second text (optional)", key="text_pair", height=72)
    result = xray(page.engine, text, text_pair=pair)
    show_html(tag("p", " ".join(result.tokens)))
    draws = {"Switches": draw_switches, "Lens": draw_lens}
    tabs = st.tabs(list(draws), key="tab", bind="query-params")
    for tab, draw in zip(tabs, draws.values(), strict=True):
        if tab.open:
            with tab, guarded():
                draw()
    page.finish(
        lambda: view.report(result),
        lambda: view.snippet(result, page.engine.provenance.name),
        text=text,
        text_pair=pair,
    )

"""The first page: what this is, where to go, which model answers, and what to keep in mind."""

import streamlit as st

from app.catalog import FEATURES
from app.engine import open_engine
from app.streamlit_kit.frame import SITE, configure, facts
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.show import show_html
from app.views.frame import cards, footer, lead


def home() -> None:
    """Draw the home page."""
    configure("Home")
    st.session_state["_page"] = "home"
    st.title(SITE, anchor=False)
    show_html(lead("A look inside BERT, one sentence at a time."))
    show_html(cards([(row.slug, row.title, row.summary) for row in FEATURES]))
    with guarded():
        show_html(footer(facts(open_engine().provenance)))

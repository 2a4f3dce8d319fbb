"""The whole site: its menu, and the page the address asks for."""

import threading

import streamlit as st

from app.catalog import FEATURES, GROUPS, HOME
from app.settings import ROOT
from app.streamlit_kit.state import ON_SITE

DRAWN = threading.Event()
"""Set when the first page has been drawn; work that can wait begins then."""


def show_site() -> None:
    """Draw the menu and run the current page; call this once per run of the entry script.

    The menu has no symbols: a page's symbol would also become the browser tab's icon, which is
    fetched from outside.
    """
    st.session_state[ON_SITE] = True
    pages = {"": [st.Page(ROOT / HOME, title="Home", default=True)]} | {
        group: [
            st.Page(ROOT / row.page, title=row.title, url_path=row.slug)
            for row in FEATURES
            if row.group == group
        ]
        for group in GROUPS
    }
    try:
        st.navigation(pages, position="top").run()
    finally:
        DRAWN.set()

"""The whole site: its menu, and the page the address asks for."""

import threading

import streamlit as st

from app.catalog import FEATURES, GROUPS, HOME
from app.faces.streamlit.state import ON_SITE
from app.settings import ROOT

DRAWN = threading.Event()
"""Set when the first page has been drawn; work that can wait begins then."""

# The page around a Space keeps a query but no path, so there the name of a page is a parameter;
# `assets/components/bridge.js` writes it.
_PAGE = "page"


def show_site() -> None:
    """Draw the menu and run the current page; call this once per run of the entry script.

    The menu has no symbols: a page's symbol would also become the browser tab's icon, which is
    fetched from outside.
    """
    st.session_state[ON_SITE] = True
    home = st.Page(ROOT / HOME, title="Home", default=True)
    tools = {
        row.slug: st.Page(ROOT / row.page, title=row.title, url_path=row.slug) for row in FEATURES
    }
    groups = {name: [tools[row.slug] for row in FEATURES if row.group == name] for name in GROUPS}
    page = st.navigation({"": [home], **groups}, position="top")
    asked = st.query_params.get(_PAGE, "")
    if not page.url_path and asked in tools:
        state = {key: st.query_params.get_all(key) for key in st.query_params if key != _PAGE}
        st.switch_page(tools[asked], query_params=state)
    try:
        page.run()
    finally:
        DRAWN.set()

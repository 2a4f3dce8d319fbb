"""The whole site: its menu, and the page the address asks for.

This module imports nothing that needs PyTorch: the menu and the head of the page are drawn while
the model is still being loaded.
"""

import threading
from pathlib import Path

import streamlit as st

from app.catalog import FEATURES, GROUPS, HOME, LESSONS, Feature, pages
from app.engine.loading import LOADING
from app.lessons.paths import paths
from app.settings import ASSETS, ROOT
from app.words.blocks import heading, line
from app.words.html import join, stylesheet

# Session key: the page runs inside the whole site, so other pages can be reached.
ON_SITE = "_on_site"

DRAWN = threading.Event()  # set when the first page has been drawn; work that can wait begins then

_SOON = "The model is being loaded; the page continues by itself in a few seconds."
# Session key: the title of the page that a link named, and which is a tab of another one now.
MOVED = "_moved"

# Session keys: the pages of the lessons by their names, and the name of the page being run.
PATHS, WAY = "_paths", "_way"

START = "Start here"
_HEAD = (
    "BERT Explorer",
    "BERT is a model that guesses hidden words. Try a sentence, or lessons:",
)

_HERE = Path(__file__).parent
_KEYS = {("multiple_choice", "text"): "context"}

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
        row.slug: st.Page(ROOT / row.page, title=row.title, url_path=row.slug) for row in pages()
    }
    groups = {name: [tools[row.slug] for row in pages() if row.group == name] for name in GROUPS}
    moved = {row.slug: _moved(row, tools[row.tab_of]) for row in FEATURES if row.tab_of}
    groups[GROUPS[-1]] += moved.values()
    ways = st.session_state[PATHS] = {
        slug: st.Page(ROOT / LESSONS, title=title, url_path=slug)
        for slug, title in {**{p.slug: p.title for p in paths()}, "lessons": "All lessons"}.items()
    }
    start = {"": [home], START: list(ways.values())}
    page = st.navigation(start | groups, position="top")
    st.session_state[WAY] = page.url_path
    asked = st.query_params.get(_PAGE, "")
    if not page.url_path and asked in (known := tools | moved | ways):
        state = {key: st.query_params.get_all(key) for key in st.query_params if key != _PAGE}
        st.switch_page(known[asked], query_params=state)
    if not LOADING.is_over():
        _draw_head(page.url_path)
        LOADING.wait()
        st.rerun()
    try:
        page.run()
    finally:
        DRAWN.set()


def _moved(row: Feature, to: st.Page) -> st.Page:
    def open_tab() -> None:
        state = {_KEYS.get((row.slug, key), key): st.query_params.get_all(key)
                 for key in st.query_params}  # fmt: skip
        st.session_state[MOVED] = row.title
        st.switch_page(to, query_params={**state, "tab": row.title})

    return st.Page(open_tab, title=row.title, url_path=row.slug, visibility="hidden")


def _draw_head(slug: str) -> None:
    title, lead = next(((each.title, each.see) for each in FEATURES if each.slug == slug), _HEAD)
    sheet = stylesheet(own_style() + (ASSETS / "site.css").read_text(encoding="utf-8"))
    st.html(join(sheet, heading(title, lead), line(_SOON)).markup)


def own_style(*slugs: str) -> str:
    """Return the style sheet for Streamlit's own elements, with those for some pages."""
    own = (_HERE / "features" / f"{slug}.css" for slug in slugs if slug)
    sheets = [_HERE / "style.css", *(each for each in own if each.is_file())]
    return "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)

"""The Save menu: everything that a page can give, in one place.

Parts of a page name their files with `offer_file` while they are drawn; the menu at the end of the
answer shows them, with the page itself. The pictures and tables on the page are listed by the
browser (`data-saves` in `bridge.js`), which draws their files.
"""

from collections.abc import Callable
from itertools import groupby
from urllib.parse import urlencode

import streamlit as st

from app.catalog import Feature
from app.declared import declared
from app.engine.models import Engine
from app.engine.models.fit import notices
from app.faces.paper.notebook import notebook
from app.faces.paper.page import Asked, page
from app.faces.streamlit.invite import site_address
from app.faces.streamlit.show import show_html
from app.words.blocks import line, tag
from app.words.screen import File, Report

_FILES = "_files"  # what the parts of the page offered in this run


def begin_files() -> None:
    """Forget what an earlier run of a page offered."""
    st.session_state[_FILES] = []


def offer_file(
    title: str, label: str, make: Callable[[], bytes], name: str, mime: str = "text/plain"
) -> None:
    """Put a file into the Save menu; see `File`."""
    st.session_state.setdefault(_FILES, []).append(File(title, label, make, name, mime))


def save_menu(
    feature: Feature, engine: Engine, report: Callable[[], Report], snippet: Callable[[], str]
) -> None:
    """Draw the menu; files are written only when asked for."""
    offered: list[File] = st.session_state.pop(_FILES, [])
    name, asked = f"bert-{feature.slug}", _asked(feature)
    with st.popover("Save", icon=":material/download:", type="tertiary", key="bx-save"):
        whole = (
            File("This page", "This page (HTML)",
                 lambda: page(feature, engine.provenance, report(), notices(engine.facts), asked),
                 f"{name}.html", "text/html"),
            File("This page", "Notebook (IPYNB)",
                 lambda: notebook(feature.title, snippet()), f"{name}.ipynb", "application/json"),
        )  # fmt: skip
        for title, files in groupby((*whole, *offered), key=lambda file: file.title):
            _row(title, list(files), titled=title != whole[0].title)
        show_html(tag("div", class_="bx-saves", data_saves="Pictures and tables on this page"))


def _asked(feature: Feature) -> Asked:
    boxes = (each for each in declared(feature.slug).parameters if each.is_text)
    texts = {each.field.label: str(st.session_state.get(each.key) or "") for each in boxes}
    given = {label: text for label, text in texts.items() if text.strip()}
    query = urlencode(st.query_params.to_dict())
    return Asked(given, f"{site_address()}{feature.slug}{query and f'?{query}'}")


def _row(title: str, files: list[File], *, titled: bool) -> None:
    if titled:
        show_html(line(title))
    with st.container(horizontal=True, gap="small"):
        for file in files:
            st.download_button(
                file.label, file.make, file.name, file.mime, on_click="ignore",
                key=f"_save_{file.name}",
            )  # fmt: skip

"""The last row of an answer: take the text to another page, save the page, the same in Python."""

from collections.abc import Callable

import streamlit as st

from app.catalog import Feature
from app.engine.models import Engine
from app.engine.models.shelf import UNTRAINED
from app.faces.streamlit.files import save_menu
from app.faces.streamlit.state import send_buttons
from app.words.report import Report

_TRAINED = "# The page's model has random weights; this reads the trained ones.\n"


def take_row(
    feature: Feature,
    engine: Engine,
    report: Callable[[], Report],
    snippet: Callable[[], str],
    *,
    text: str,
    text_pair: str,
) -> None:
    """Draw the row; files are written only when asked for.

    Args:
        feature: the page.
        engine: the model that answered, named in the file.
        report: writes the result as it would appear on paper.
        snippet: writes the same computation in Python.
        text: the text that can be taken to another page, or "".
        text_pair: the text of the second box.
    """

    def code() -> str:
        name = engine.provenance.name
        before = _TRAINED if engine.facts.untrained else ""
        return before + snippet().replace(name, name.removesuffix(UNTRAINED))

    with st.container(horizontal=True, gap="small", key="bx-take"):
        if text.strip():
            send_buttons(feature.slug, text, text_pair)
        save_menu(feature, engine, report, code)
        with st.popover("In Python", icon=":material/code:", type="tertiary"):
            st.code(code(), language="python")

"""The choice of a second model, whose answer is shown beside that of the page's model."""

import streamlit as st

from app.engine.models import Engine
from app.engine.models.second import BESIDE, ONLY_ONE, other_models, second_notices
from app.faces.streamlit.address import left_out
from app.faces.streamlit.show import show_html
from app.words.blocks import cautions, line
from app.words.html import Html
from app.words.two_answers import TITLE

_TAB = "tab"


def second_box(engine: Engine, nothing: str = "Choose a model") -> str:
    """Let the visitor choose a second model by its name on offer; kept in the address.

    Args:
        engine: the model of the page, which is not offered again.
        nothing: what the box says while none is chosen.

    Returns:
        The name; "" if none is chosen.
    """
    names = other_models(engine)
    if not names:
        left_out(BESIDE)
        show_html(line(ONLY_ONE))
        return ""
    if st.session_state.get(BESIDE) not in (None, *names):  # of a page that has other options
        st.session_state[BESIDE] = None
    chosen = st.selectbox(
        "Second model", names, index=None, key=BESIDE, placeholder=nothing, bind="query-params",
        persist_state="session", width=420,
    )  # fmt: skip
    return chosen or ""


def second_cautions(name: str) -> tuple[Html, ...]:
    """Draw what must be known about the second model that was chosen; "" for none."""
    return cautions(second_notices(name))


def open_beside() -> None:
    """Open the tab of two models for a link that names a second one; call this before the tabs."""
    if BESIDE in st.query_params and _TAB not in st.query_params and _TAB not in st.session_state:
        st.session_state[_TAB] = TITLE

"""Show results on the screen: markup, pictures and tables."""

from contextlib import nullcontext

import plotly.graph_objects as go
import streamlit as st

from app.compat.streamlit import by_history
from app.faces.paper.page import style
from app.faces.streamlit.components import PRESENT, show_markup, with_lessons
from app.faces.streamlit.site import own_style
from app.settings import ASSETS
from app.words.html import Html, stylesheet
from app.words.pictures import Picture, Rows, figure, listed, numbers

# Only the button that saves the picture: accidental panning or zooming would confuse a class.
_CHART = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False}
# What is drawn on paper: a visitor may choose another theme than that of the system.
_DARK = (
    "@media screen { .bx-att-paper { filter: invert(1) hue-rotate(180deg); "
    "mix-blend-mode: screen; } }"
)


def show_html(markup: Html) -> None:
    """Show markup from `app.words.html`, if not empty; nothing else may be shown as markup."""
    if markup.markup:
        st.html(with_lessons(markup).markup)


def show_style(*slugs: str) -> None:
    """Load the style sheets into the page, the presenter's as well if asked for in the link.

    This takes up no space.
    """
    presenting = st.query_params.get(PRESENT) == "true"
    if not by_history():
        presenting = st.session_state.get(PRESENT, presenting)
    more = (ASSETS / "presenter.css").read_text(encoding="utf-8") if presenting else ""
    show_html(stylesheet(own_style(*slugs) + style(*slugs) + more))


def show_picture(shown: Picture) -> None:
    """Show a picture with its words, its numbers and its files."""
    show_markup(figure(shown), key=f"picture-{shown.name}")


def show_chart(fig: go.Figure, *, alt: str, table: Rows, key: str) -> None:
    """Show a figure of plotly, for what must be turned or zoomed, with its numbers below.

    Everything that can be still is a `Picture`: plotly costs the browser 4.7 MB once.
    """
    theme = "dark" if st.context.theme.type == "dark" else "light"
    colour = st.get_option(f"theme.{theme}.textColor")  # Streamlit's own charts print in pale grey
    fig.update_layout(font={"color": str(colour), "size": 16})
    st.plotly_chart(fig, key=key, alt=alt, config=_CHART, width="stretch")
    show_html(numbers(table, key))


def show_table(table: Rows, *, alt: str, key: str, title: str = "") -> None:
    """Show a table, collapsed under its title if it has one."""
    with st.expander(title) if title else nullcontext():
        st.dataframe(listed(table), hide_index=True, width="stretch", alt=alt, key=key)

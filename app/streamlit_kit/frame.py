"""The frame of every page: title, lead, model, notices, cautions, and the model's identity."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from app.catalog import Feature, feature
from app.models import Engine, Offer
from app.settings import ASSETS
from app.streamlit_kit.about import model_footer
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.hub_dialog import download_strip
from app.streamlit_kit.picker import model_picker, open_chosen, suits, unknown_model_note
from app.streamlit_kit.show import show_html, show_style
from app.streamlit_kit.state import enter
from app.words.blocks import beware, lead

SITE = "BERT Explorer"


@dataclass(frozen=True, slots=True)
class Page:
    """What a page script gets from its frame.

    Attributes:
        feature: the page's row of the catalog.
        engine: the model the page works with.
    """

    feature: Feature
    engine: Engine


@contextmanager
def page_shell(slug: str) -> Iterator[Page]:
    """Draw the frame of a page around the block; errors inside become messages.

    The order is: title, picker and lead; reasons against using this model on this page; the block;
    what not to conclude; the model's identity. If the model cannot answer, the block is not run.

    Args:
        slug: the page's name in the catalog.
    """
    row = feature(slug)
    configure(row.title)
    enter(slug)
    offer = heading(slug, row.title)
    show_html(lead(row.see))
    unknown_model_note(offer)
    page: Page | None = None
    answers = False
    with guarded():
        page = Page(row, open_chosen(offer))
        # A page that takes no text is drawn whatever the model can do.
        answers = not row.takes_text or suits(page.engine, row.needs)
        if answers:
            yield page
    if page is None:
        st.stop()  # no model: the message is on the page, and there is nothing to draw below it
    show_html(beware(row.beware))
    model_footer(page.engine)
    if not answers:
        st.stop()  # this model cannot answer here; the reason is given above


def heading(slug: str, title: str) -> Offer:
    """Draw the title of a page with the picker next to it; return the chosen model."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="bx-heading"):
        st.title(title, anchor=False)
        offer = model_picker(slug)
    download_strip()
    return offer


def configure(title: str) -> None:
    """Set the browser's title and the site's style."""
    st.set_page_config(
        page_title=f"{title} · {SITE}", page_icon=str(ASSETS / "icon.svg"), layout="wide"
    )
    show_style()

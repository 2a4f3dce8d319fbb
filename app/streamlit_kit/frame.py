"""The frame of every page: title, lead, model, notices, cautions, and the model's identity."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from app.catalog import Feature, feature
from app.engine import Engine, Provenance, open_engine
from app.settings import ASSETS
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.show import show_html, show_style
from app.streamlit_kit.state import enter
from app.views.frame import caution, footer, lead, untrained

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

    Title and lead come first, then (before any number) a notice where the model lacks this
    page's trained weights, then the block, then what not to conclude and the model's identity.

    Args:
        slug: the page's name in the catalog.
    """
    row = feature(slug)
    configure(row.title)
    enter(slug)
    st.title(row.title, anchor=False)
    show_html(lead(row.see))
    page: Page | None = None
    with guarded():
        page = Page(row, _open())
        _notice(page)
        yield page
    if page is None:
        st.stop()  # no model: the message stands there, and there is nothing to draw below it
    show_html(caution(row.beware))
    show_html(footer(facts(page.engine.provenance)))


def configure(title: str) -> None:
    """Set the browser's title and the site's style."""
    st.set_page_config(
        page_title=f"{title} · {SITE}", page_icon=str(ASSETS / "icon.svg"), layout="wide"
    )
    show_style()


def facts(provenance: Provenance) -> list[tuple[str, str]]:
    """Put the identity of a model into pairs of a name and a value."""
    size = f"{provenance.layers} layers × {provenance.heads} heads, {provenance.hidden} wide"
    return [
        ("Model", f"{provenance.name} ({provenance.origin})"),
        ("Size", f"{size}, {provenance.parameters / 1e6:.1f} M weights"),
        ("Vocabulary", f"{provenance.vocabulary:,} pieces"),
        ("Reads", f"at most {provenance.max_length:,} tokens"),
        ("Casing", "lower-cased" if provenance.lower_case else "as written"),
        ("Licence", provenance.licence or "not stated"),
        ("Weights", f"SHA-256 {provenance.fingerprint}…"),
    ]


def _open() -> Engine:
    """Get the model, with a word to the first visitor, who waits for it to load."""
    with st.spinner("Loading the model …"):
        return open_engine()


def _notice(page: Page) -> None:
    """Say it before any number when the weights behind this page were never trained."""
    missing = [
        name for class_name in page.feature.needs for name in page.engine.missing(class_name)
    ]
    if missing:
        show_html(untrained(page.feature.title, missing))

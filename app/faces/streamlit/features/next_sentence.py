"""The buttons of the next-sentence page."""

import random

import streamlit as st

from app.catalog import examples
from app.faces.streamlit import set_text


def below_boxes(slug: str) -> None:
    """Offer to swap the sentences, and to replace the second by one of another example."""
    with st.container(horizontal=True, gap="small"):
        st.button("Swap", icon=":material/swap_vert:", on_click=_swap, args=(slug,))
        st.button("Random partner", icon=":material/casino:", on_click=_partner, args=(slug,))


def _swap(slug: str) -> None:
    first, second = st.session_state["text"], st.session_state["text_pair"]
    set_text(slug, second)
    set_text(slug, first, key="text_pair")


def _partner(slug: str) -> None:
    here = {st.session_state["text"], st.session_state["text_pair"]}
    others = {str(row.values["text_pair"]) for row in examples(slug)} - here
    set_text(slug, random.choice(sorted(others)), key="text_pair")

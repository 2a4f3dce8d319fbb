"""The buttons of the next-sentence page."""

import streamlit as st

from app.faces.streamlit import set_text


def below_boxes(slug: str) -> None:
    """Offer to swap the sentences."""
    st.button("Swap", icon=":material/swap_vert:", on_click=_swap, args=(slug,))


def _swap(slug: str) -> None:
    first, second = st.session_state["text"], st.session_state["text_pair"]
    set_text(slug, second)
    set_text(slug, first, key="text_pair")

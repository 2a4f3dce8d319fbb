"""The buttons and a tab of the next-sentence page."""

import random

import streamlit as st

from app.catalog import examples
from app.faces.streamlit import (
    Page,
    guarded,
    set_text,
    show_html,
    show_picture,
    text_box,
)
from app.faces.streamlit.address import left_out
from app.faces.streamlit.controls import switch
from app.faces.streamlit.progress import progress
from app.features.next_sentence import view_order
from app.features.next_sentence.result_order import SentenceOrderResult
from app.features.next_sentence.task_order import MOST as MOST_SENTENCES
from app.features.next_sentence.task_order import next_sentence_order
from app.words.html import join
from app.words.report import Block

_SHUFFLE = "shuffle"  # in the address: the seed of the order in which sentences are shown
_SEEDS = 10_000


def below_boxes(slug: str) -> None:
    """Offer to swap the sentences, and to replace the second by one of another example."""
    with st.container(horizontal=True, gap="small"):
        st.button("Swap", icon=":material/swap_vert:", on_click=_swap, args=(slug,))
        st.button("Random partner", icon=":material/casino:", on_click=_partner, args=(slug,))


def order_tab(page: Page, *_: object) -> list[Block]:
    """Draw who may follow whom in a paragraph; return the same for a file."""
    blocks: list[Block] = []
    with guarded():
        paragraph = text_box(
            page.feature.slug,
            f"A paragraph of 2 to {MOST_SENTENCES} sentences",
            key="paragraph",
            first=view_order.EXAMPLE["paragraph"],
        )
        with progress("Reading", "pairs") as told:
            result = next_sentence_order(page.engine, paragraph, told)
        shown = _shown(result)
        with st.container(horizontal=True, gap="small"):
            st.button("Shuffle", icon=":material/shuffle:", on_click=_shuffle)
            if shown != result.true:
                st.button("As written", icon=":material/undo:", on_click=_written)
            own = not switch("Darkest colour at 100 %", key="common")
        scale = view_order.scale_of(result, own=own)
        drawn = view_order.matrix(result, shown, scale)
        show_picture(drawn)
        words = join(view_order.legend(scale), view_order.orders(result, shown))
        show_html(words)
        blocks += [drawn, words]
    return blocks


TABS = {"next_sentence_order": order_tab}
"""Tabs with widgets that no other has, by their task."""


def _swap(slug: str) -> None:
    """Exchange the two boxes."""
    first, second = st.session_state["text"], st.session_state["text_pair"]
    set_text(slug, second)
    set_text(slug, first, key="text_pair")


def _partner(slug: str) -> None:
    """Put a sentence of another example into the second box."""
    here = {st.session_state["text"], st.session_state["text_pair"]}
    others = {str(row.values["text_pair"]) for row in examples(slug)} - here
    set_text(slug, random.choice(sorted(others)), key="text_pair")


def _shown(result: SentenceOrderResult) -> tuple[int, ...]:
    """Return the order in which the sentences are shown."""
    seed = st.query_params.get(_SHUFFLE, "")
    order = list(result.true)
    if seed and not (seed.isdecimal() and len(seed) < len(str(_SEEDS))):
        left_out(_SHUFFLE)
    elif seed:
        random.Random(int(seed)).shuffle(order)
    return tuple(order)


def _shuffle() -> None:
    st.query_params[_SHUFFLE] = str(random.randrange(_SEEDS))


def _written() -> None:
    st.query_params.pop(_SHUFFLE, None)

"""The buttons and tabs of the next-sentence page."""

import random

import streamlit as st

from app.catalog import examples
from app.faces.streamlit import (
    Page,
    guarded,
    set_text,
    show_html,
    show_picture,
    show_table,
    text_box,
)
from app.faces.streamlit.address import left_out
from app.faces.streamlit.controls import save_table, switch
from app.faces.streamlit.progress import progress
from app.features.next_sentence import view_order, view_pairs, view_reliability
from app.features.next_sentence.result_order import SentenceOrderResult
from app.features.next_sentence.task_order import MOST as MOST_SENTENCES
from app.features.next_sentence.task_order import next_sentence_order
from app.features.next_sentence.task_pairs import MOST as MOST_PAIRS
from app.features.next_sentence.task_pairs import next_sentence_pairs
from app.features.next_sentence.task_reliability import next_sentence_reliability
from app.words.html import join
from app.words.report import Block

_SHUFFLE = "shuffle"  # in the address: the seed of the order in which sentences are shown
_SEEDS = 10_000


def pair_buttons(slug: str) -> None:
    """Offer to swap the sentences, and to replace the second by one of another example."""
    with st.container(horizontal=True, gap="small"):
        st.button("Swap", icon=":material/swap_vert:", on_click=_swap, args=(slug,))
        st.button("Random partner", icon=":material/casino:", on_click=_partner, args=(slug,))


def order_tab(page: Page) -> list[Block]:
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


def pairs_tab(page: Page) -> None:
    """Score pasted pairs, and offer the table."""
    with guarded():
        table = text_box(
            page.feature.slug,
            f"Pairs, one per line (at most {MOST_PAIRS}): two sentences, a tab or comma between",
            key="pairs",
            first=view_pairs.EXAMPLE["pairs"],
            height=140,
        )
        with progress("Reading", "pairs") as told:
            rows = next_sentence_pairs(page.engine, table, told).rows
        said = view_pairs.pairs_summary(rows)
        st.markdown(said)
        show_table(view_pairs.pairs_table(rows), alt=said, key="pairs_table")
        save_table("Many pairs", lambda: view_pairs.pairs_table(rows), "next-sentence-pairs")


def reliability_tab(page: Page) -> None:
    """Show how sure the model was, and how often it was right."""
    rows = next_sentence_reliability(page.engine).rows
    show_html(view_reliability.reliability_note(rows))
    if rows:
        show_picture(view_reliability.reliability_picture(rows))


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

"""Fill-mask: what the model would write where a word is hidden."""

import streamlit as st

from app.streamlit_kit import (
    examples_row,
    page_shell,
    send_row,
    set_text,
    show_chart,
    show_html,
    text_box,
)
from app.streamlit_kit.words import pick_word
from app.tasks.fill_mask import fill_mask, mask_at_end, mask_word
from app.views import fill_mask as view
from app.views.html import plain

SLUG = "fill_mask"
PICKABLE = 120  # more words than this are no longer a sentence one reads by buttons


def hide(number: int) -> None:
    """Put a mask in the place of one word."""
    set_text(SLUG, mask_word(result.text, result.words[number]))


def append_mask() -> None:
    """Put a mask at the end of the text."""
    set_text(SLUG, mask_at_end(result.text))


with page_shell(SLUG) as page:
    examples_row(SLUG)
    text = text_box(SLUG, "Text with [MASK] where a word is hidden")
    left, right = st.columns(2, gap="medium")
    k = left.slider("Candidates", 1, 20, 5, key="k", bind="query-params", persist_state="session")
    word = right.text_input(
        "How likely is this word?", key="word", bind="query-params", persist_state="session"
    )
    result = fill_mask(page.engine, text, top_k=k, word=word)
    words = [word.text for word in result.words[:PICKABLE]]
    pick_word("Hide a word: choose it", words, key="_hide", on_pick=hide)
    if len(result.words) > PICKABLE:
        st.caption(f"These are the first {PICKABLE} of {len(result.words):,} words.")

    if not result.slots:
        st.info("Nothing is hidden yet: choose a word above, or", icon=":material/touch_app:")
        st.button("Put [MASK] at the end", on_click=append_mask)
    show_html(view.window(result))
    if result.note:
        st.warning(plain(result.note), icon=":material/spellcheck:")
    if result.slots:
        st.header("With its best guess", anchor=False)
        show_html(view.sentence(result))
        show_html(view.several(result))
    for slot in result.slots:
        show_html(view.slot_title(slot))
        show_html(view.named_word(slot, result.vocabulary))
        show_chart(
            view.probability_bars(slot),
            alt=view.describe(slot),
            table=view.candidates_table(slot),
            key=f"bars_{slot.number}",
        )
        show_html(view.certainty(slot))
    send_row(SLUG, text, to=("tokenizer", "attention"))

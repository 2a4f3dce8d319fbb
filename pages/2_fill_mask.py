"""Fill-mask: what the model would write where a word is hidden."""

from itertools import cycle

import streamlit as st

from app.features.fill_mask import view as view
from app.features.fill_mask.controls import pick_word
from app.features.fill_mask.task import fill_mask, mask_at_end, mask_word
from app.streamlit_kit import (
    examples_row,
    page_shell,
    send_row,
    set_text,
    show_chart,
    show_html,
    text_box,
    undo_button,
)
from app.words.html import plain

SLUG = "fill_mask"
PICKABLE = 120  # words; longer texts are not practical to show as buttons


def hide(number: int) -> None:
    """Put a mask in the place of one of the words shown."""
    set_text(SLUG, mask_word(result.text, result.words[shown[number]]))


def append_mask() -> None:
    """Put a mask at the end of the text."""
    set_text(SLUG, mask_at_end(result.text))


with page_shell(SLUG) as page:
    examples_row(SLUG, page.engine)
    left, right = st.columns([3, 1], gap="medium")
    with left:
        text = text_box(SLUG, "Text with [MASK] where a word is hidden", height=150)
    with right:
        word = st.text_input(
            "How likely is this word?", key="word", bind="query-params", persist_state="session"
        )
        k = st.slider("Candidates", 1, 20, 5, key="k", bind="query-params", persist_state="session")
    result = fill_mask(page.engine, text, top_k=k, word=word)
    shown = result.nearby(PICKABLE)
    words = [result.words[number].text for number in shown]
    pick_word("Choose a word to hide it", words, key="_hide", on_pick=hide)
    if len(shown) < len(result.words):
        st.caption(f"Words {shown[0]:,} to {shown[-1]:,} of {len(result.words):,}.")
    undo_button(SLUG, "Bring the last word back")

    if not result.slots:
        st.info("Nothing is hidden yet. Choose a word above, or:", icon=":material/touch_app:")
        st.button("Put [MASK] at the end", on_click=append_mask)
    show_html(view.window(result))
    if result.note:
        st.warning(plain(result.note), icon=":material/spellcheck:")
    show_html(view.sentence(result))
    show_html(view.several(result))
    columns = st.columns(2 if len(result.slots) > 1 else 1, gap="medium")
    for slot, column in zip(result.slots, cycle(columns), strict=False):
        with column:
            show_html(view.slot_title(slot, alone=len(result.slots) == 1))
            show_html(view.named_word(slot, result.vocabulary))
            show_chart(
                view.probability_bars(slot),
                alt=view.describe(slot),
                table=view.candidates_table(slot),
                key=f"bars_{slot.number}",
            )
            show_html(view.certainty(slot))
    show_html(view.calibration_note(result))
    send_row(SLUG, text)

"""Fill-mask: what the model would write where a word is hidden."""

from itertools import cycle

import streamlit as st

from app.features.fill_mask import view as view
from app.features.fill_mask.task import fill_mask, mask_at_end, mask_word
from app.streamlit_kit import page_shell, set_text, show_html, show_picture, text_box, undo_button
from app.words.html import plain

SLUG = "fill_mask"
PICKABLE = 120  # words; longer texts are not practical to show as buttons


def hide(number: int) -> None:
    """Put a mask in the place of a word that was clicked."""
    if number in range(len(result.words)):
        set_text(SLUG, mask_word(result.text, result.words[number]))


def append_mask() -> None:
    """Put a mask at the end of the text."""
    set_text(SLUG, mask_at_end(result.text))


with page_shell(SLUG) as page:
    page.picks["hide"] = hide
    with page.give:
        text = text_box(SLUG, "Text; [MASK] hides a word")
        undo_button(SLUG, "Bring the last word back")
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        word = st.text_input(
            "How likely is this word?", key="word", bind="query-params", persist_state="session"
        )
        k = st.slider("Candidates", 1, 20, 5, key="k", bind="query-params", persist_state="session")
    result = fill_mask(page.engine, text, top_k=k, word=word)
    show_html(view.window(result))
    if result.note:
        st.warning(plain(result.note), icon=":material/spellcheck:")
    show_html(view.sentence(result, result.nearby(PICKABLE)))
    if not result.slots:
        st.button("Put [MASK] at the end", on_click=append_mask)
    show_html(view.several(result))
    columns = st.columns(2 if len(result.slots) > 1 else 1, gap="medium")
    for slot, column in zip(result.slots, cycle(columns), strict=False):
        with column:
            show_html(view.slot_title(slot, alone=len(result.slots) == 1))
            show_html(view.named_word(slot, result.vocabulary))
            show_picture(view.candidates(slot))
            show_html(view.certainty(slot))
    show_html(view.calibration_note(result))
    page.finish(lambda: view.kept(result), lambda: view.snippet(result), text=text)

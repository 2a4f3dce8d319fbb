"""The tab that compares two sentences: patching."""

import streamlit as st

from app.faces.streamlit import Page, set_text, show_html, show_picture
from app.faces.streamlit.carrying import add_ours
from app.faces.streamlit.controls import text_line
from app.faces.streamlit.features.xray import ANSWER, AT, SLUG
from app.faces.streamlit.progress import progress
from app.features.xray import view_patching
from app.features.xray.result import XrayResult
from app.features.xray.task_patching import PRESETS, Preset, patching
from app.words.blocks import line
from app.words.pictures import Picture
from app.words.screen import Block

SECOND, ANSWERS = "second", "answers"  # the keys of the second sentence, and of the two answers

_STOPPED = "_patching_stopped"
ASKS = (
    "Write a second sentence, or choose a ready-made pair. Both must have the same number of "
    "pieces."
)


def show_patching(page: Page, result: XrayResult) -> tuple[Block, ...]:
    """Show which activations carry the difference between two sentences; return what is drawn."""
    other = _second()
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        hint = "first guesses, or: is / are"
        answers = text_line("Answers compared", key=ANSWERS, hint=hint, width=260)
    if not other.strip():
        show_html(line(ASKS))
        return ()
    asked = (result.text, other, answers)
    if st.session_state.get(_STOPPED) == asked:
        show_html(line("Cancelled."))
        st.button("Go on", key="patching_on", on_click=lambda: st.session_state.pop(_STOPPED))
        return ()
    with progress(
        "Patching",
        "layers",
        cancel=lambda: st.session_state.update({_STOPPED: asked}),
    ) as report:
        found = patching(page.engine, result, other, answers=answers, progress=report)
    blocks = tuple(view_patching.screen(found).report().blocks)
    for each in blocks:
        show_picture(each) if isinstance(each, Picture) else show_html(each)
    return blocks


def _second() -> str:
    other = text_line("Second sentence", key=SECOND, max_chars=2000)
    with st.container(horizontal=True, gap="small"):
        for each in PRESETS:
            st.button(each.name, key=f"pair_{each.name}", on_click=_take, args=(each,))
    return other


def _take(preset: Preset) -> None:
    add_ours(preset.text)
    set_text(SLUG, preset.text)
    set_text(SLUG, "", key="text_pair")
    st.session_state[SECOND], st.session_state[ANSWERS] = preset.other, preset.answers
    st.session_state["ask"], st.session_state[ANSWER] = "word", ""
    st.query_params.pop(AT, None)

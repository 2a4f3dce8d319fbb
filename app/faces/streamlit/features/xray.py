"""The state of the X-ray page, its switchboard, and the tab *Patching*.

The address has what is switched off (`off`), the piece that is asked (`at`), how far the zoom is
(`zoom`) and whether all parts are ranked (`rank`), besides the widgets. The session keeps undo.
"""

import re

import streamlit as st

from app.catalog import examples
from app.faces.streamlit import Page, set_text, show_html, show_picture
from app.faces.streamlit.address import left_out, write_parameter
from app.faces.streamlit.carrying import add_ours
from app.faces.streamlit.components import show_component
from app.faces.streamlit.controls import text_line
from app.faces.streamlit.progress import progress
from app.features.xray import view_patching
from app.features.xray import view_switches as view
from app.features.xray.result import XrayResult, names_of, read_parts
from app.features.xray.task_patching import PRESETS, Preset, patching
from app.features.xray.view_words import headline
from app.features.xray.view_zoom import Zoom
from app.words.blocks import line, tag
from app.words.pictures import Picture
from app.words.screen import Block

SLUG = "xray"
# The keys of the page in the session and in the address.
OFF, AT, ZOOM, ANSWER, RANK = "off", "at", "zoom", "answer", "rank"

_UNDO, _TEXTS = "_xray_undo", "_xray_texts"
_MOST_UNDO = 50


# -- what is off ----------------------------------------------------------------------------------


def off(layers: int = 1000, heads: int = 1000) -> str:
    """Return what is switched off, as links have it; only parts that a model of a size has."""
    given = st.query_params.get(OFF, "")
    parts = [each for each in read_parts(given) if each.layer < layers and each.head < heads]
    names = [name for name in re.split(r"[ ,+]+", given) if name]
    if other := [name for name in names if not {*read_parts(name)} & {*parts}]:
        left_out(OFF, other)
        write_parameter(OFF, names_of(parts))
    return names_of(parts)


def set_off(names: str, *, undoing: bool = False) -> None:
    """Switch parts off, and everything else on."""
    before = off()
    if names == before:
        return
    if not undoing:
        st.session_state[_UNDO] = [*st.session_state.get(_UNDO, []), before][-_MOST_UNDO:]
    write_parameter(OFF, names)


def undo() -> None:
    """Take back the last change of the switches."""
    if st.session_state.get(_UNDO):
        set_off(st.session_state[_UNDO].pop(), undoing=True)


def switchboard(result: XrayResult, notes: view.Notes) -> None:
    """Draw the switches, and the buttons that set several at once."""

    def take(off: list[int]) -> None:
        set_off(view.off_by_number(result, off))

    drawn = view.board(result, notes)
    show_html(tag("p", headline(result), class_="bx-xr-effect"))  # where the picture is above
    show_component("xray_switches", drawn, key="switches", several=("off",), then=take)
    with st.container(horizontal=True, gap="small", key="bx-xr-buttons"):
        st.button(
            "Undo", icon=":material/undo:", on_click=undo, key="undo",
            disabled=not st.session_state.get(_UNDO),
        )  # fmt: skip
        st.button("All on", on_click=set_off, args=("",), disabled=not result.off, key="all_on")
        with st.popover("Presets"):
            for number, (name, parts) in enumerate(view.presets(result, notes).items()):
                st.button(
                    f"{name} ({len(parts)})", key=f"preset_{number}", type="tertiary",
                    on_click=set_off, args=(names_of(parts),), disabled=not parts,
                )  # fmt: skip


def is_ranking() -> bool:
    """Return whether the address asks which parts matter."""
    found = st.query_params.get(RANK, "").lower()
    if found not in ("", "true", "false"):
        left_out(RANK)
    return found == "true"


def set_ranking(*, on: bool = True) -> None:
    """Ask which parts matter for this text, or no longer."""
    write_parameter(RANK, "true" if on else "")


# -- what is asked --------------------------------------------------------------------------------


def forget_other_texts(*texts: str) -> None:
    """Drop what belonged to the texts before: the piece, the answer, the zoom, the ranking.

    What an example brings along stays.
    """
    before = st.session_state.get(_TEXTS)
    st.session_state[_TEXTS] = texts
    if before is None or before == texts:
        return
    for key in (AT, ZOOM, RANK):
        st.query_params.pop(key, None)
    brought = any(
        row.values.get("text") == texts[0] and ANSWER in row.values for row in examples(SLUG)
    )
    if not brought and st.session_state.get(ANSWER):
        st.session_state[ANSWER] = ""


def asked_piece(count: int) -> int | None:
    """Return the piece in the address; None for the one that fits."""
    found = st.query_params.get(AT, "")
    if re.fullmatch(r"\d{1,3}", found) and int(found) < count:
        return int(found)
    left_out(AT)
    return None


def ask_piece(at: int) -> None:
    """Ask at a piece, about its own first guess."""
    st.query_params[AT] = str(at)
    st.session_state[ANSWER] = ""


def follow(result: XrayResult, number: int) -> None:
    """Follow a candidate that was picked."""
    if not 0 <= number < len(result.candidates):
        return
    picked = result.candidates[number]
    if result.question.kind in ("start", "end"):
        ask_piece(picked.number)
    elif result.question.kind != "next":
        st.session_state[ANSWER] = picked.name


# -- the zoom -------------------------------------------------------------------------------------


def zoom(result: XrayResult) -> Zoom:
    """Return what is open, as far as this model and text have it."""
    found = st.query_params.get(ZOOM, "")
    fine = re.fullmatch(r"\d{1,3}(\.\d{1,3})?", found)
    numbers = tuple(map(int, found.split("."))) if fine else ()
    sizes = (result.layers, result.heads)
    if numbers and all(number < size for number, size in zip(numbers, sizes, strict=False)):
        return numbers
    left_out(ZOOM)
    return ()


def open_zoom(*numbers: int) -> None:
    """Open a layer or a head; nothing for the whole model."""
    write_parameter(ZOOM, ".".join(map(str, numbers)))


# -- patching --------------------------------------------------------------------------------------


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

"""Heads on a page: which are shown, which cell is pinned, and the heat map."""

import re
from collections.abc import Callable, Mapping

import streamlit as st

from app.catalog import examples
from app.compat.streamlit import by_history, give_parameter
from app.faces.streamlit.address import left_out, write_parameter
from app.faces.streamlit.components import show_component
from app.faces.streamlit.controls import count, pick_number
from app.features.attention.result import AttentionResult, Heads
from app.features.attention.view_text import (
    MEAN,
    head_names,
    layer_names,
)
from app.records.fields import SHUFFLE

# The keys of the attention page in the session and in the address.
LAYER, HEAD, CELL = "layer", "head", "cell"


def heat_map(
    drawn: Mapping[str, object],
    *,
    key: str,
    then: Callable[[int, int], None] = lambda row, column: None,
    cell: tuple[int, int] | None = None,
    said: str = "",
) -> None:
    """Show a head as a heat map, in which a cell can be pinned."""
    data = {**drawn, "cell": cell, "said": said}
    picks = ("row", "column")
    show_component("attention", data, key=key, picks=picks, then=then, isolate=False)


_OPENED, _TEXT = "_opened_head", "_opened_text"


def choose_order() -> int:
    """Ask for the order of the words that is read; 0 as written."""
    return count(SHUFFLE.label, (0, 20), key=SHUFFLE.key, default=0)


def choose_heads(result: AttentionResult) -> None:
    """Draw the choice of a layer and a head; a text opens with a head that has a pattern."""
    state = st.session_state
    rows = (("Layer", LAYER, layer_names(result)), ("Head", HEAD, head_names(result)))
    now = (state.get(LAYER), state.get(HEAD))
    given = any(st.query_params.get(key) in names.values() for _, key, names in rows)
    untouched = now == state.get(_OPENED) or (now == (None, None) and not given)
    is_new = _new_example(result.text)
    if by_history():
        if not given:  # as the text had opened
            for (_, key, names), number in zip(rows, result.telling, strict=True):
                give_parameter(key, names[number])
            state[_OPENED] = result.telling
    elif untouched or is_new:
        # Nothing else was asked for: a text opens with a head of its own.
        state[LAYER], state[HEAD] = state[_OPENED] = result.telling
    for label, key, names in rows:
        if key in state and state[key] not in names:  # of another model
            state[key] = 0
        pick_number(label, names, key=key)


def _new_example(text: str) -> bool:
    """Return whether an example that names no head has just come into the box."""
    before = st.session_state.get(_TEXT)
    st.session_state[_TEXT] = text
    return before not in (None, text) and any(
        row.values["text"] == text and LAYER not in row.values for row in examples("attention")
    )


def chosen_heads(result: AttentionResult) -> Heads:
    """Return the head to show, or the mean of its layer's."""
    layer = _marked(LAYER, result.layers)
    if st.session_state.get(HEAD) == MEAN:
        return Heads.layer(layer, result.heads)
    return Heads.one(layer, _marked(HEAD, result.heads))


def take_head(layer: int, head: int) -> None:
    """Show a head that was picked."""
    st.session_state[LAYER], st.session_state[HEAD] = layer, head


def take_cell(row: int, column: int) -> None:
    """Pin a cell, or none; the address keeps it."""
    write_parameter(CELL, f"{row}.{column}" if min(row, column) >= 0 else "")


def pinned_cell(result: AttentionResult) -> tuple[int, int] | None:
    """Return the pinned cell as positions of pieces; None if there is none in this text."""
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", st.query_params.get(CELL, ""))
    cell = (int(found[1]), int(found[2])) if found else None
    if cell and max(cell) <= result.words.pieces[-1][-1]:
        return cell
    left_out(CELL)
    return None


def _marked(key: str, size: int) -> int:
    """Return the selected layer or head, or the first one if the number is out of range."""
    picked = st.session_state.get(key, 0)
    return picked if isinstance(picked, int) and 0 <= picked < size else 0

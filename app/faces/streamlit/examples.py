"""The examples of a page: a list that unfolds, and a note on the example now in the boxes."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import Example, examples
from app.declared import declared
from app.declared.carried import TEXT_KEYS
from app.faces.streamlit.show import show_html
from app.faces.streamlit.state import put
from app.records.fields import SHUFFLE
from app.words.notes import example_note


def examples_list(slug: str, tools: DeltaGenerator, below: DeltaGenerator) -> None:
    """Draw the page's examples as a list that unfolds, and the note of the one in the boxes."""
    rows = examples(slug)
    with tools, st.popover("Examples", icon=":material/list:"):
        for number, row in enumerate(rows):
            st.button(
                row.label,
                key=f"_example_{number}",
                type="tertiary",
                on_click=_use_example,
                args=(slug, number),
            )
    orders = (each.key for each in declared(slug).parameters if each.field is SHUFFLE)
    shuffled = any(str(_value(key, 0)) in _ORDERS for key in orders)
    shown = None if shuffled else _in_the_boxes(rows)
    # The place is there without a note, too. Otherwise what is below would move, and appear twice
    # until the page is done.
    with below.empty().container(gap=None):
        if shown is not None and shown.note:
            show_html(example_note(shown.note))


OWN = "own"  # the choice of a table that a visitor gives

_ORDERS = {str(each) for each in range(1, 21)}  # that can be chosen; an address may ask for others


def _value(key: str, first: object) -> object:
    """Return what a widget has, also before it is drawn: what the address or the page says."""
    return st.session_state.get(key, st.query_params.get(key, first))


def _in_the_boxes(rows: Sequence[Example]) -> Example | None:
    first = rows[0].values if rows else {}
    keys = (*TEXT_KEYS, "table")
    texts = {key: _value(key, first.get(key, "")) for key in keys}
    if texts["table"] not in (OWN, *(row.values.get("table") for row in rows)):
        texts["table"] = first.get("table", "")  # of an address; the page shows the first, too
    for row in rows:
        if all(texts[key] == row.values[key] for key in keys if key in row.values):
            return row
    return None


def _use_example(slug: str, number: int) -> None:
    rows = examples(slug)
    for key in TEXT_KEYS:
        if key in st.session_state:
            put(slug, key, "")
    for row in rows:
        for key, value in row.values.items():
            if isinstance(value, (str, bool)):  # numbers have no empty value: they stay
                put(slug, key, type(value)())
    for key, value in rows[number].values.items():
        put(slug, key, value)

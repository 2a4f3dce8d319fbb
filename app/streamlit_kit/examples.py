"""The examples of a page: a row of buttons, and a note on the example now in the boxes."""

from collections.abc import Sequence

import streamlit as st

from app.catalog import Example, examples
from app.models import Engine
from app.streamlit_kit.show import show_html
from app.streamlit_kit.state import TEXT_KEYS, put
from app.words.html import plain
from app.words.notes import OPEN, RIGHT, TRY, WRONG, mark_line


def examples_row(slug: str, engine: Engine) -> None:
    """Draw the page's examples as a row, and the note of the one now in the boxes.

    Examples tested with this model are grouped by whether it answers as a person would, marked by
    a word and a sign. For other models there is no such verdict.

    Args:
        slug: the page.
        engine: the model that answers.
    """
    rows = examples(slug)
    weights = engine.provenance.fingerprint
    with st.container(horizontal=True, gap="small", key="bx-examples"):
        for title, numbers in _groups(rows, weights):
            with st.container(horizontal=True, gap="small", width="content"):
                st.caption(title, width="content")
                for number in numbers:
                    st.button(
                        rows[number].label,
                        key=f"_example_{number}",
                        type="tertiary",
                        on_click=_use_example,
                        args=(slug, number),
                    )
    # Reserve the place even without a note. Otherwise the content below would move, and appear
    # twice until the page is done.
    place = st.empty()
    row = _in_the_boxes(rows)
    if row is None or not row.note:
        return
    with place.container(gap=None):
        st.caption(f":material/visibility: {plain(row.note)}")
        mark = row.mark_for(weights)
        if mark is not None:
            show_html(mark_line(slug, right=mark.right, wanted=mark.wanted, seen=mark.seen))


def _groups(rows: Sequence[Example], weights: str) -> list[tuple[str, list[int]]]:
    """Group example numbers by the verdict on the model's answers; omit empty groups."""
    marks = [row.mark_for(weights) for row in rows]
    found = [mark.right if mark is not None else None for mark in marks]
    titles: dict[bool | None, str] = {True: RIGHT, False: WRONG, None: OPEN if any(marks) else TRY}
    groups = [
        (title, [number for number, right in enumerate(found) if right is key])
        for key, title in titles.items()
    ]
    return [(title, numbers) for title, numbers in groups if numbers]


def _in_the_boxes(rows: Sequence[Example]) -> Example | None:
    """Return the example whose texts are in the boxes; new visitors start with the first one."""
    texts = {key: st.session_state.get(key, st.query_params.get(key)) for key in TEXT_KEYS}
    for number, row in enumerate(rows):
        untouched = number == 0 and texts["text"] is None
        same = all(texts[key] == row.values[key] for key in TEXT_KEYS if key in row.values)
        if untouched or same:
            return row
    return None


def _use_example(slug: str, number: int) -> None:
    """Set the boxes and settings an example names; clear those only other examples name."""
    rows = examples(slug)
    for row in rows:
        for key, value in row.values.items():
            if isinstance(value, (str, bool)):  # numbers have no empty value: they stay
                put(slug, key, type(value)())
    for key, value in rows[number].values.items():
        put(slug, key, value)

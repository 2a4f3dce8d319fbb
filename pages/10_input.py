"""Inside the input: word + position + segment, with real numbers."""

import streamlit as st

from app.faces.streamlit import page_shell, show_html, show_picture, show_table, text_box
from app.faces.streamlit.controls import number, save_csv, switch
from app.faces.streamlit.state import put
from app.features.input import task, view
from app.words.html import join
from app.words.pictures import ROWS

SLUG = "input"


def choose_piece(number: int) -> None:
    """Choose the piece that was clicked."""
    if number in range(len(result)):
        put(SLUG, "place", number)


with page_shell(SLUG) as page:
    longest = page.engine.max_length
    with page.give:
        text = text_box(SLUG, "Text")
        text_pair = text_box(SLUG, "Second text (optional)", key="text_pair")
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        length = number("Pad to", (0, longest), key="length", default=12)
        piece = number("Piece", (0, longest - 1), key="place", default=2)
        width = page.engine.provenance.hidden
        value = number("Number", (0, width - 1), key="value", default=0)
        common = switch("One colour scale for all rows", key="common")
    result = task.input(page.engine, text, text_pair, length=length)
    page.picks["piece"] = choose_piece
    at = min(piece, len(result) - 1)
    show_html(join(view.typed_signs(result), view.pieces(result, at)))
    show_picture(view.sums(result, at, common=common))
    show_html(view.part_shown(result, at))
    show_html(view.arithmetic(result, at, value))
    lengths, near, positions, numbers = st.tabs(
        ["Lengths", "Nearest pieces", "Positions", "First numbers"], key="tab", bind="query-params"
    )
    if lengths.open:
        with lengths:
            show_html(view.lengths_note())
            show_picture(view.lengths(result, at))
    if near.open:
        with near:
            found = task.neighbours(page.engine, result, at)
            show_html(view.near_note(result))
            left, right = st.columns(2)
            with left:
                show_picture(view.near_word(result, at, found))
            with right:
                show_picture(view.near_normalised(result, at, found))
    if positions.open:
        with positions:
            show_html(view.position_note(at))
            curve = view.position_curve(at, task.positions(page.engine, at))
            show_picture(curve)
            if len(curve.table) > ROWS:
                show_table(curve.table, alt=curve.alt, key="cosines", title="Numbers")
    if numbers.open:
        with numbers:
            show_html(view.values_table(result, at))
            save_csv("All vectors", lambda: view.all_values(result), "input-vectors.csv")
    page.finish(
        lambda: view.report(result, at, value),
        lambda: view.snippet(result, page.engine.provenance.name, at),
        text=text,
        text_pair=text_pair,
    )

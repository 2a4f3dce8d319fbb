"""Inside the input: word + position + segment, with real numbers."""

import streamlit as st

from app.features.input import task, view
from app.streamlit_kit import page_shell, show_html, show_picture, text_box
from app.streamlit_kit.controls import save_csv, switch
from app.streamlit_kit.state import put

SLUG = "input"


def choose_piece(number: int) -> None:
    """Choose the piece that was clicked."""
    if number in range(len(result)):
        put(SLUG, "piece", number)


with page_shell(SLUG) as page:
    page.picks["piece"] = choose_piece
    longest = page.engine.max_length
    with page.give:
        text = text_box(SLUG, "Text")
        text_pair = text_box(SLUG, "Second text, if you like", key="text_pair")
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        length = st.number_input("Pad to", 0, longest, 12, key="length", bind="query-params")
        piece = st.number_input("Piece", 0, longest - 1, 2, key="piece", bind="query-params")
        width = page.engine.provenance.hidden
        value = st.number_input("Number", 0, width - 1, 0, key="value", bind="query-params")
        common = switch("One colour scale for all rows", key="common")
    result = task.input(page.engine, text, text_pair, length=length)
    at = min(piece, len(result) - 1)
    show_html(view.pieces(result, at))
    show_picture(view.sums(result, at, common=common))
    show_html(view.part_shown(result, at))
    show_html(view.arithmetic(result, at, value))
    near, positions, numbers, lengths = st.tabs(
        ["Nearest pieces", "Positions", "First numbers", "Lengths"], key="tab", bind="query-params"
    )
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
            show_picture(view.position_curve(at, task.positions(page.engine, at)))
    if numbers.open:
        with numbers:
            show_html(view.values_table(result, at))
            save_csv("All vectors (CSV)", lambda: view.all_values(result), "input-vectors.csv")
    if lengths.open:
        with lengths:
            show_picture(view.lengths(result, at))
            show_html(view.lengths_note())
    page.finish(
        lambda: view.kept(result, at, value),
        lambda: view.snippet(result, page.engine.provenance.name, at),
        text=text,
        text_pair=text_pair,
    )

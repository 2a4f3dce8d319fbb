"""The settings of the entity tagger, and what its tabs show."""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256

import streamlit as st

from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import pick_one, save_csv, save_table
from app.faces.streamlit.files import offer_file
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.show import show_html, show_picture, show_table
from app.faces.streamlit.state import put, text_box
from app.features.ner import view, view_agreement, view_pieces, view_ways
from app.features.ner.result import NerResult, Selection
from app.features.ner.result_agreement import Agreement
from app.words.html import join, plain
from app.words.pictures import data_table

_COLOURED = 18  # kinds whose colour can be chosen; more would fill the screen
_ROWS = 200  # of a table drawn in the page


def choose_colours(result: NerResult) -> dict[str, str]:
    """Let the visitor choose a colour for each kind found; kept in the link."""
    found = {entity.kind for entity in result.reading.entities}
    kinds = [kind for kind in result.labels.kinds if kind in found][:_COLOURED]
    colours = {}
    with st.container(horizontal=True, gap="small"):
        for kind in kinds:
            colours[kind] = st.color_picker(
                f"Colour: {plain(kind)}",
                value=view.colour_of(result, kind),
                key=_colour_key(kind),
                bind="query-params",
                persist_state="session",
            )
    return colours


def _colour_key(kind: str) -> str:
    """Name a kind in the address; names of any length and with any signs fit."""
    return f"colour_{kind if kind.isidentifier() and len(kind) < 20 else _short(kind)}"


def _short(kind: str) -> str:
    return sha256(kind.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def table_tab(result: NerResult, selection: Selection, model: str) -> None:
    """Draw the entities as a table; the Save menu has them as files."""
    table = view.entity_table(result, selection)
    if not len(table):
        st.caption("No entity is shown.")
        return
    if len(table) <= _ROWS:
        show_html(data_table(table, "entities"))
    else:
        words = view.describe(result, selection)
        show_table(table.drop(columns="at"), alt=words, key="entities")
    save_csv("Entities", lambda: table.drop(columns="at"), "entities.csv")
    offer_file(
        "Entities",
        "JSON",
        lambda: view.entities_json(result, selection, model),
        "entities.json",
        "application/json",
    )


def show_piece(result: NerResult, number: int) -> None:
    """Pick a piece whose card was clicked."""
    for part in view_pieces.part_names(result).values():
        if number in part:
            names = view_pieces.piece_names(result, part)
            st.session_state["labels"] = next(n for n, at in names.items() if at == number)


def pieces_tab(result: NerResult) -> None:
    """Draw the model's label for every piece, and all its scores for one of them."""
    parts = view_pieces.part_names(result)
    part = next(iter(parts))
    if len(parts) > 1:
        part = pick_one("Part of the text", list(parts), key="stretch")
    shown = parts[part]
    place = st.container()
    names = view_pieces.piece_names(result, shown)
    doubtful = view_pieces.least_sure(result, shown) - shown.start
    picked = names[pick_one("All labels of one piece", list(names), key="labels", index=doubtful)]
    with place:
        show_html(
            join(
                view.label_note(result),
                view_pieces.fault_note(result),
                view_pieces.strip(result, shown, picked),
                view_pieces.strip_note(result),
            )
        )
    show_picture(view_pieces.label_bars(result, picked))
    show_html(view_pieces.bars_note(result))
    words = f"All {len(result.pieces):,} pieces with every label's probability."
    table = partial(view_pieces.piece_table, result)
    with st.expander("Every piece as a table", key="every", on_change="rerun") as fold:
        if fold.open:
            show_table(table(), alt=words, key="all_pieces")
    save_table("Every piece", table, "pieces")


def ways_tab(result: NerResult, colours: view.Colours) -> None:
    """Draw the ways of reading side by side."""
    ways = view_ways.comparison(result)
    show_html(view_ways.said(ways))
    show_markup(view.framed(view_ways.overlaps(result, colours), result.text), key="ways")
    differing = view_ways.differing(ways)
    if not len(differing):
        return
    if len(differing) <= _ROWS:
        show_html(data_table(differing, "differences"))
    else:
        show_table(differing, alt=view_ways.agreement(ways), key="differing")


def gold_tab(
    slug: str, check: Callable[[str], Agreement], result: NerResult, colours: view.Colours
) -> None:
    """Draw the box for annotations and, once it has content, the figures and every difference.

    Args:
        slug: slug of the page.
        check: compares annotated lines with the model's own answers.
        result: the text of the page, whose tags the visitor may start from.
        colours: the visitor's own colours.
    """
    show_html(view_agreement.how())
    with guarded():
        lines = text_box(
            slug, view_agreement.ASK, key="gold", height=150, placeholder=view_agreement.HINT
        )
        if not lines.strip():
            start = view_agreement.start_lines(result)
            st.button("Start from the model's tags", on_click=put, args=(slug, "gold", start))
            return
        with st.spinner("Comparing …"):
            agreement = check(lines)
        show_html(view_agreement.outcome(agreement))
        drawn = view_agreement.overlaps(agreement, result, colours)
        show_markup(view.framed(drawn, agreement.text), key="annotations")
        show_html(data_table(view_agreement.kinds_table(agreement), "kinds"))
        differences = view_agreement.differences_table(agreement)
        if 0 < len(differences) <= _ROWS:
            show_html(data_table(differences, "errors"))
        elif len(differences):
            show_table(differences, alt=view_agreement.describe(agreement), key="gold_differences")
        save_table("Differences", lambda: differences, "errors")


def toggled(kinds: Sequence[str], chosen: Sequence[str], number: int) -> list[str]:
    """Return the labels chosen after a click on one of them."""
    if number not in range(len(kinds)):
        return list(chosen)
    return [kind for kind in kinds if (kind in chosen) != (kind == kinds[number])]

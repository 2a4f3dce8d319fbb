"""Named entities: the persons, places and organisations that the model sees in a text."""

from functools import partial

import streamlit as st

from app.faces.streamlit import page_shell, show_html, text_box
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, choose_some, level
from app.faces.streamlit.features.ner import (
    choose_colours,
    gold_tab,
    pieces_tab,
    show_piece,
    table_tab,
    toggled,
    ways_tab,
)
from app.faces.streamlit.features.why import why_fold
from app.faces.streamlit.progress import progress
from app.features.ner import view as view
from app.features.ner import view_agreement
from app.features.ner.task import ner
from app.features.ner.task_agreement import ner_agreement
from app.words.html import join

SLUG = "ner"


def show_only(number: int) -> None:
    """Show a label alone or together with others, or no longer, after a click in the legend."""
    st.session_state["only"] = toggled(result.labels.kinds, only, number)


def show_all_labels(number: int) -> None:
    """Show all labels of a piece whose card was clicked."""
    show_piece(result, number)


with page_shell(SLUG) as page:
    with page.give:
        text = text_box(SLUG, "Text", placeholder=view.HINT)
    settings = page.settings.expander("Settings", key="set", bind="query-params")
    with settings:
        how = choose("What decides the label of a word?", view.AGGREGATION_NAMES, key="aggregation")
    with progress("Reading") as told:
        result = ner(page.engine, text, aggregation=how, progress=told)
    with settings:
        only = choose_some("Show only (none chosen: all)", result.labels.kinds, key="only")
        least = level("Hide scores below", (0.0, 1.0), key="least", default=0.0)
        colours = choose_colours(result)
    page.picks.update(only=show_only, piece=show_all_labels)
    model = page.engine.provenance.name
    selection = result.select(least=least, only=only)
    show_html(join(view.outcome(result, selection), view.legend(result, selection, colours)))
    show_markup(view.framed(view.running_text(result, selection, colours), text), key="text-drawn")
    show_html(join(view.trust(result, model), view.coverage(result)))
    if result.reading.entities:
        why_fold(page, "ner", text)
    page.finish(
        lambda: view.report(result, selection, colours),
        lambda: view.snippet(result, model),
        text=text,
    )
    table, pieces, ways, gold = st.tabs(
        ["Table", "Pieces", "Ways of reading", view_agreement.TITLE], key="tab", bind="query-params"
    )
    if table.open:
        with table:
            table_tab(result, selection, model)
    if pieces.open:
        with pieces:
            pieces_tab(result)
    if ways.open:
        with ways:
            ways_tab(result, colours)
    if gold.open:
        with gold:
            gold_tab(SLUG, partial(ner_agreement, page.engine), result, colours)

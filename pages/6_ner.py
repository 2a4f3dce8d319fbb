"""Named entities: the persons, places and organisations that the model sees in a text."""

import streamlit as st

from app.features.ner import view as view
from app.features.ner import view_pieces as pieces_view
from app.features.ner.controls import gold_panel
from app.features.ner.result import NerResult
from app.features.ner.task import ner, ner_agreement
from app.streamlit_kit import (
    Page,
    examples_row,
    page_shell,
    send_row,
    show_chart,
    show_html,
    show_table,
    text_box,
)
from app.streamlit_kit.controls import choose, choose_some, level, pick_one, save_page
from app.streamlit_kit.progress import progress
from app.words.html import join

SLUG = "ner"


def draw(page: Page) -> None:
    """Draw the page inside its frame."""
    examples_row(SLUG, page.engine)
    text = text_box(SLUG, "Text", height=140, placeholder=view.HINT)
    how = choose("What decides on a word?", view.AGGREGATION_NAMES, key="aggregation")
    with progress("Reading") as told:
        result = ner(page.engine, text, aggregation=how, progress=told)
    with st.container(horizontal=True, gap="medium"):
        only = choose_some("Show only (none chosen: all)", result.labels.kinds, key="only")
        least = level("Hide scores below", (0.0, 1.0), key="least", default=0.0)
    selection = result.select(least=least, only=only)
    show_html(view.outcome(result, selection))
    show_html(view.marked_text(result, selection))
    show_html(view.legend(result, selection))
    show_html(join(view.score_note(result), view.coverage(result)))
    if selection.shown:
        words, table = view.describe(result, selection), view.entity_table(result, selection)
        show_table(table, alt=words, key="entities", title="The same as a table", expanded=True)
    name = page.engine.provenance.name
    save_page("Keep as a page", lambda: view.kept_page(result, selection, name), "entities.html")
    draw_pieces(result)
    st.header("Other ways of reading", anchor=False)
    ways = pieces_view.comparison(result)
    show_html(pieces_view.agreement_note(ways))
    words = pieces_view.agreement(ways)
    show_table(ways, alt=words, key="ways", title="Side by side")
    show_html(view.rules())
    gold_panel(SLUG, lambda lines: ner_agreement(page.engine, lines))
    send_row(SLUG, text)


def draw_pieces(result: NerResult) -> None:
    """Draw the model's label for every piece, and all its scores for one of them."""
    st.header("Piece by piece", anchor=False)
    show_html(join(view.label_note(result), pieces_view.fault_note(result)))
    parts = pieces_view.part_names(result)
    part = next(iter(parts))
    if len(parts) > 1:
        part = pick_one("Part of the text", list(parts), key="pieces")
    show_html(join(pieces_view.strip_note(result), pieces_view.strip(result, parts[part])))
    table = pieces_view.piece_table(result)
    words = f"All {len(table):,} pieces with every label's probability."
    show_table(table, alt=words, key="all_pieces", title="Every piece as a table")
    names = pieces_view.piece_names(result, parts[part])
    doubtful = pieces_view.least_sure(result, parts[part]) - parts[part].start
    picked = names[pick_one("All labels of one piece", list(names), key="piece", index=doubtful)]
    bars = pieces_view.label_bars(result, picked)
    words = pieces_view.describe_piece(result, picked)
    table = pieces_view.label_table(result, picked)
    show_chart(bars, alt=words, table=table, key="labels")


with page_shell(SLUG) as shell:
    draw(shell)

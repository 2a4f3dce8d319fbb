"""Next sentence: may the second text follow the first?"""

import streamlit as st

from app.faces.streamlit import page_shell, show_html, show_picture, text_box
from app.faces.streamlit.features.next_sentence import (
    order_tab,
    pair_buttons,
    pairs_tab,
    reliability_tab,
)
from app.faces.streamlit.features.why import why_fold
from app.features.next_sentence import view as view
from app.features.next_sentence import view_order, view_pairs, view_reliability
from app.features.next_sentence.task import next_sentence
from app.words.html import join
from app.words.report import Block

SLUG = "next_sentence"


with page_shell(SLUG) as page:
    with page.give:
        first = text_box(SLUG, "First sentence", placeholder=view.HINTS[0])
        second = text_box(SLUG, "Second sentence", key="text_pair", placeholder=view.HINTS[1])
        pair_buttons(SLUG)
    more: list[Block] = []
    if first.strip() and second.strip():
        result = next_sentence(page.engine, first, second)
        show_html(join(view.before(result), view.verdict(result)))
        show_picture(view.scores(result))
        show_html(join(view.oversure(result), view.trust(result, page.engine.provenance.name)))
        why_fold(page, "next_sentence", first, second)
        page.finish(
            lambda: view.report(result, more),
            lambda: view.snippet(result, page.engine.provenance.name),
            text=first,
            text_pair=second,
        )
    else:
        st.info("Write a sentence in each box or pick an example.", icon=":material/edit_note:")
    names = ["Input", view_order.TITLE, view_pairs.TITLE, view_reliability.TITLE]
    pieces, order, pairs, measured = st.tabs(names, key="tab", bind="query-params")
    if pieces.open and first.strip() and second.strip():
        with pieces:
            show_html(view.whole_input(result))
    if order.open:
        with order:
            more += order_tab(page)
    if pairs.open:
        with pairs:
            pairs_tab(page)
    if measured.open:
        with measured:
            reliability_tab(page)

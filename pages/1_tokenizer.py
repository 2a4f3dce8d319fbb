"""Tokenizer inspector: a text as the model reads it, piece by piece."""

import streamlit as st

from app.features.tokenizer import view as view
from app.features.tokenizer.task import replay, tokenizer
from app.settings import settings
from app.streamlit_kit import (
    examples_row,
    page_shell,
    send_row,
    show_html,
    show_table,
)
from app.streamlit_kit.controls import switch, two_texts

SLUG = "tokenizer"
SHOWN = settings().shown_pieces

with page_shell(SLUG) as page:
    examples_row(SLUG, page.engine)
    text, pair = two_texts(SLUG, "Text", "Second text, if you like", hints=view.HINTS)
    cased = switch("Keep capitals and accents", key="cased")
    result = tokenizer(page.engine, text, pair if pair.strip() else None, lower_case=not cased)
    replays = [replay(page.engine, each, lower_case=not cased) for each in result.texts]

    show_html(view.casing(result))
    show_html(view.coloured(result, limit=SHOWN))
    show_html(view.summary(result))
    show_html(view.unknown_words(replays))

    st.header("What the model receives", anchor=False)
    show_html(view.length_meter(result))
    show_html(view.as_read(result, limit=SHOWN))
    show_table(
        view.table(result), alt="Every token: id and place", key="pieces", title="As a table"
    )

    st.header("Step by step", anchor=False)
    show_html(view.stages(replays))
    if words := view.word_choices(replays):
        word = st.selectbox(
            "Watch one word being looked up",
            list(words),
            index=view.most_telling(words),
            key="watch",
            bind="query-params",
            persist_state="session",
        )
        show_html(view.story(words[word]))
        looks = view.tries_table(words[word])
        show_table(looks, alt="Every look-up", key="looks", title="Every look-up as a table")

    st.header("Back from the ids", anchor=False)
    show_html(view.decoded(result))
    send_row(SLUG, text, text_pair=pair)

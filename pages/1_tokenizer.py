"""Tokenizer inspector: a text as the model reads it, piece by piece."""

import streamlit as st

from app.settings import settings
from app.streamlit_kit import (
    examples_row,
    page_shell,
    send_row,
    show_html,
    show_table,
    text_box,
)
from app.tasks.tokenizer import replay, tokenizer
from app.views import tokenizer as view

SHOWN = settings().shown_pieces

with page_shell("tokenizer") as page:
    examples_row("tokenizer")
    text = text_box("tokenizer", "Text")
    with st.container(horizontal=True, gap="medium"):
        two = st.toggle("Two texts", key="two", bind="query-params", persist_state="session")
        cased = st.toggle(
            "Keep capitals and accents",
            key="cased",
            bind="query-params",
            persist_state="session",
        )
    pair = text_box("tokenizer", "Second text", key="text_pair") if two else None
    result = tokenizer(page.engine, text, pair, lower_case=not cased)
    steps = replay(page.engine, text, lower_case=not cased)

    st.header("Pieces over your text", anchor=False)
    show_html(view.summary(result))
    show_html(view.casing(result))
    show_html(view.coloured(result, limit=SHOWN))
    show_html(view.unknown_words(steps))

    st.header("What the model receives", anchor=False)
    show_html(view.length_meter(result))
    show_html(view.as_read(result, limit=SHOWN))
    show_table(
        view.table(result), alt="Every token: id and place", key="pieces", title="As a table"
    )

    st.header("Step by step", anchor=False)
    show_html(view.stages(steps))
    if steps.words:
        names = view.word_choices(steps)
        word = st.selectbox(
            "Watch one word", names, key="word_shown", bind="query-params", persist_state="session"
        )
        show_html(view.story(steps.words[names.index(word)]))

    st.header("Back from the ids", anchor=False)
    show_html(view.decoded(result))
    send_row("tokenizer", text, to=("fill_mask", "next_sentence", "attention"))

"""Tokenizer: a text as the model reads it, piece by piece."""

from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from app.faces.streamlit import Page, page_shell, show_html, show_picture, show_table, text_box
from app.faces.streamlit.controls import number, pick_one, switch
from app.features.tokenizer import view as view
from app.features.tokenizer import view_compare, view_input, view_steps, view_vocabulary
from app.features.tokenizer.result import Replay, TokenizerResult
from app.features.tokenizer.task import receive, replay, tokenizer
from app.features.tokenizer.task_compare import compare, other_models
from app.features.tokenizer.task_vocabulary import look_up
from app.settings import settings
from app.words.html import join

SLUG = "tokenizer"
SHOWN = settings().shown_pieces
INPUT, STEPS, BACK, COMPARE, VOCABULARY = view.TABS


def casing(page: Page) -> bool:
    """Draw the switch of the casing; return whether capitals and accents are kept."""
    if page.engine.provenance.lower_case:
        return switch("Keep capitals and accents", key="cased")
    return not switch("Drop capitals and accents", key="lowered")


def ask_for(piece: str) -> None:
    """Look a piece up in the vocabulary."""
    st.session_state["piece"] = piece
    st.session_state["tab"] = VOCABULARY
    with suppress(StreamlitAPIException):  # a box that is drawn already writes its own address
        st.query_params["piece"] = piece


def ask_position(number: int) -> None:
    """Look up the piece that was clicked in the text."""
    if number in range(len(result.columns)):
        ask_for(result.piece(number).token)


def ask_entry(number: int) -> None:
    """Look up a neighbour that was clicked."""
    if number in page.engine.tokenizer.ids_to_tokens:
        ask_for(page.engine.tokenizer.ids_to_tokens[number])


def watch(number: int) -> None:
    """Watch the word that was clicked."""
    words = list(view_steps.word_choices(replays))
    if number in range(len(words)):
        st.session_state["watch"] = words[number]


def draw_input(page: Page, found: TokenizerResult) -> None:
    """Draw what the model receives, padded to a chosen length."""
    place = st.container()
    length = number("Pad to length", (0, page.engine.max_length), key="pad", default=0)
    given = receive(page.engine, found, length=length)
    with place:
        show_html(view_input.explained(given))
        show_picture(view_input.received(found, given))
        if len(given.tokens) > view_input.DRAWN or found.cut.anything:
            show_table(
                view.table(found), alt="Every token with its id and place", key="pieces",
                title=f"All {len(found.columns):,} tokens",
            )  # fmt: skip


def draw_steps(found: TokenizerResult, steps: list[Replay]) -> None:
    """Draw the steps, and the look-ups of one word."""
    show_html(view_steps.stages(found, steps))
    words = view_steps.word_choices(steps)
    if words:
        chosen = pick_one(
            "Word to look up", list(words), key="watch", index=view_steps.most_telling(words)
        )
        show_html(view_steps.story(words[chosen]))
        looks = view_steps.tries_table(words[chosen])
        show_table(looks, alt="Every look-up", key="looks", title="Look-ups as a table")


def draw_comparison(page: Page, found: TokenizerResult) -> None:
    """Draw the text as another tokenizer reads it, beside this one."""
    names = [view_compare.OTHER_CASING, *other_models(page.engine)]
    chosen = pick_one("Compare with", names, key="versus")
    other = "" if chosen == view_compare.OTHER_CASING else chosen
    show_html(view_compare.side_by_side(compare(page.engine, found, other), limit=SHOWN))


def draw_vocabulary(page: Page, found: TokenizerResult) -> None:
    """Draw a piece of the vocabulary and its neighbours."""
    asked = st.text_input(
        "Piece or word", key="piece", placeholder=view_vocabulary.first_asked(found),
        bind="query-params", persist_state="session",
    )  # fmt: skip
    piece = asked.strip() or view_vocabulary.first_asked(found)
    there = look_up(page.engine, piece, lower_case=found.lower_case)
    show_html(view_vocabulary.entry(there))
    left, right = st.columns(2, gap="medium")
    with left:
        if there.near:
            show_html(view_vocabulary.meaning(there))
            show_picture(view_vocabulary.by_embedding(there))
    with right:
        show_html(view_vocabulary.by_spelling(there))


with page_shell(SLUG) as page:
    with page.give:
        text = text_box(SLUG, "Text", placeholder=view.HINTS[0])
        pair = text_box(SLUG, "Second text (optional)", key="text_pair", placeholder=view.HINTS[1])
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        cased = casing(page)
    result = tokenizer(page.engine, text, pair, cased=cased)
    page.picks.update(piece=ask_position, entry=ask_entry, watch=watch)
    replays = [replay(page.engine, each, lower_case=not cased) for each in result.texts]
    show_html(join(view.casing(result), view.typed_signs(result)))
    show_html(view_input.too_long(result))
    show_html(view.coloured(result, limit=SHOWN))
    show_html(view.summary(result))
    show_html(view_input.length_meter(result))
    show_html(view_steps.unknown_words(replays))
    tabs = dict(zip(view.TABS, st.tabs(view.TABS, key="tab", bind="query-params"), strict=True))
    with tabs[INPUT]:
        if tabs[INPUT].open:
            draw_input(page, result)
    with tabs[STEPS]:
        if tabs[STEPS].open:
            draw_steps(result, replays)
    with tabs[BACK]:
        if tabs[BACK].open:
            show_html(view_steps.decoded(result))
    with tabs[COMPARE]:
        if tabs[COMPARE].open:
            draw_comparison(page, result)
    with tabs[VOCABULARY]:
        if tabs[VOCABULARY].open:
            draw_vocabulary(page, result)
    page.finish(
        lambda: view.report(result, replays),
        lambda: view.snippet(result),
        text=text,
        text_pair=pair,
    )

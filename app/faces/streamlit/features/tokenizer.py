"""The casing of the tokenizer page, and three of its tabs."""

import streamlit as st

from app.declared import declared
from app.faces.streamlit.controls import number, pick_one, switch, text_line
from app.faces.streamlit.frame import Page
from app.faces.streamlit.standard import show_screen
from app.features.tokenizer import view_compare, view_vocabulary
from app.features.tokenizer.result import TokenizerResult
from app.features.tokenizer.task_compare import compare, other_models
from app.features.tokenizer.task_vocabulary import look_up
from app.words.screen import Block


def settings(page: Page) -> dict[str, bool | None]:
    """Draw the switch of the casing, if there is one; return whether capitals are kept."""
    if not page.engine.casings:
        return {"cased": None}
    if page.engine.provenance.lower_case:
        return {"cased": switch("Keep capitals and accents", key="cased")}
    return {"cased": not switch("Drop capitals and accents", key="lowered")}


def _compare_tab(page: Page, result: TokenizerResult, _: object) -> list[Block]:
    names = [view_compare.OTHER_CASING] * page.engine.casings + [*other_models(page.engine)]
    chosen = pick_one("Compare with", names, key="beside")
    other = "" if chosen == view_compare.OTHER_CASING else chosen
    return show_screen(page, view_compare.screen(compare(page.engine, result, other)))


def _vectors_tab(page: Page, result: TokenizerResult, _: object) -> list[Block]:
    task, (text, pair, *_) = declared("input"), (*result.texts, "", "")
    length = len(result.received.ids)
    found = task.run(page.engine, {"text": text, "text_pair": pair, "length": length})
    last = len(found) - 1
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        at = number("Piece", (0, last), key="place", default=min(2, last))
        value = number("Number", (0, found.last_number), key="value", default=0)
    screen = task.on_page(found, page.engine.provenance.name, at=at, value=value)
    return show_screen(page, screen)


def _vocabulary_tab(page: Page, result: TokenizerResult, _: object) -> list[Block]:
    first = view_vocabulary.first_asked(result)
    asked = text_line("Piece or word", key="piece", hint=first)
    found = look_up(page.engine, asked.strip() or first, lower_case=result.lower_case)
    return show_screen(page, view_vocabulary.screen(found))


TABS = {  # tabs with widgets that no other has, by their task
    "tokenizer_compare": _compare_tab,
    "tokenizer_vocabulary": _vocabulary_tab,
    "input": _vectors_tab,
}

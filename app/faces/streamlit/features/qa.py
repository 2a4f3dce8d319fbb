"""The boxes of question answering: several questions at once, and questions that are offered."""

import re
from contextlib import nullcontext
from typing import Any

import streamlit as st

from app.faces.streamlit.address import left_out
from app.faces.streamlit.frame import Page
from app.faces.streamlit.show import show_html
from app.faces.streamlit.state import opened_by, put, set_text, text_box, undo_button
from app.features.qa.result import QaResult
from app.features.qa.task import qa, questions
from app.features.qa.task_suggested import suggested
from app.words.blocks import Html, pick, tag, visible

SLUG = "qa"
_ASK = "ask"  # in the address: the number of the question that is shown
_SHOWN = "_qa_shown"


def form(page: Page) -> tuple[dict[str, Any], nullcontext[None]]:
    """Draw the boxes and the questions that are offered."""
    alone = opened_by() == "address" and "question" not in st.query_params
    if alone and (text := st.query_params.get("text", "")):  # the example's does not belong to it
        put(SLUG, "question", suggested(text, "", 1)[0])
    with page.give:
        box = text_box(
            SLUG, "Questions, one per line", key="question", placeholder="Who? When? Where? …"
        )
        tries = st.container(gap="small")
        hint = "Paste a text that contains the answer."
        passage = text_box(SLUG, "Passage", height=230, placeholder=hint)
        offered = suggested(passage, box)

        def suggest(number: int) -> None:
            if number in range(len(offered)):
                set_text(SLUG, offered[number], key="question")

        page.picks["suggest"] = suggest
        with tries:
            buttons = (
                tag("button", visible(question), class_="bx-button bx-qa-try",
                    **pick("suggest", number, stop=number == 0, element="button"))
                for number, question in enumerate(offered)
            )  # fmt: skip
            show_html(
                tag("p", "Try: ", *buttons, class_="bx-line bx-qa-tries", data_rove="questions")
            )
            undo_button(SLUG, "Restore the last question", key="question")
    asked = questions(box)
    number = st.query_params.get(_ASK, "0")
    if not re.fullmatch(r"\d{1,3}", number) or int(number) >= max(1, len(asked)):
        left_out(_ASK)
        number = "0"
    st.session_state[_SHOWN] = asked, int(number)
    given = {"passage": passage, "question": asked[int(number)] if asked else ""}
    return given, nullcontext()


def boxes() -> tuple[str, str]:
    """Return the passage, and the question that is shown."""
    asked, shown = st.session_state[_SHOWN]
    return str(st.session_state["text"]), asked[shown]


def start(page: Page, result: QaResult) -> None:
    """List several questions with their answers; a click shows one in the passage."""
    asked, shown = st.session_state[_SHOWN]
    if len(asked) == 1:
        return
    page.picks["ask"] = lambda number: st.query_params.update({_ASK: str(number)})
    rules = result.rules
    results = [
        qa(page.engine, result.passage, question, answers=1, longest=result.longest,
           threshold=result.threshold, whole_words=rules.whole_words,
           one_sentence=rules.one_sentence)
        for question in asked
    ]  # fmt: skip
    show_html(_answered(results, shown))


def _answered(results: list[QaResult], shown: int) -> Html:
    rows = (
        tag("li", tag(
            "button",
            tag("span", f"{number + 1}. {visible(each.question)}"),
            tag("strong", tag("bdi", visible(each.answers[0].text)))
            if each.answered else tag("em", "none in this passage"),
            class_="bx-qa-asked", **pick("ask", number, stop=number == shown, element="button"),
            aria_current="true" if number == shown else None,
        ))
        for number, each in enumerate(results)
    )  # fmt: skip
    return tag("ol", *rows, class_="bx-qa-questions", data_rove="asked")

"""Question answering: find the answer in a passage."""

import re

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import (
    Page,
    page_shell,
    set_text,
    show_html,
    show_picture,
    show_table,
    text_box,
    undo_button,
)
from app.faces.streamlit.address import left_out
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, count, level, open_tab, switch
from app.faces.streamlit.features.why import why_fold
from app.faces.streamlit.progress import progress
from app.faces.streamlit.state import ON_SITE, leave_for, opened_by, put
from app.features.qa import view_charts as charts
from app.features.qa import view_text as view
from app.features.qa.result import QaResult
from app.features.qa.task import LEVEL, MOST_SCORE, SINGLE, WHOLE, qa, questions
from app.features.qa.task_suggested import suggested
from app.features.qa.view import screen
from app.words.notes import unread_note
from app.words.pictures import numbers

SLUG = "qa"
ASK, AROUND = "ask", "_around"
TABS = ("Other answers", "Start and end")


def draw(page: Page) -> None:
    """Draw the page inside its frame."""
    alone = opened_by() == "address" and "question" not in st.query_params
    if alone and (linked := st.query_params.get("text", "")):  # the example's does not belong to it
        put(SLUG, "question", suggested(linked, "", 1)[0])
    with page.give:
        box = text_box(SLUG, view.ASK, key="question", placeholder=view.WHO)
        tries = st.container(gap="small")
        passage = text_box(SLUG, "Passage", height=230, placeholder=view.HINT)
        offered = suggested(passage, box)
        page.picks["suggest"] = lambda number: suggest(offered, number)
        with tries:
            show_html(view.suggestions(offered))
            undo_button(SLUG, "Restore the last question", key="question")
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        threshold = level(LEVEL, (-MOST_SCORE, MOST_SCORE), key="threshold", default=0.0, step=0.5)
        longest = count("Longest answer, in pieces", (1, 60), key="longest", default=30)
        most = count("Answers listed", (1, 20), key="answers", default=3)
        whole = switch(WHOLE, key="whole", default=True)
        single = switch(SINGLE, key="single", default=True)
    asked = questions(box)
    if not passage.strip() or not asked:
        st.info("Write a passage and a question or pick an example.", icon=":material/edit_note:")
        return

    def answer(question: str) -> QaResult:
        with progress("Reading") as told:
            return qa(
                page.engine,
                passage,
                question,
                answers=most,
                longest=longest,
                threshold=threshold,
                whole_words=whole,
                one_sentence=single,
                progress=told,
            )

    results = [answer(question) for question in asked]
    shown = chosen_question(len(results))
    result = results[shown]
    if len(results) > 1:
        page.picks["ask"] = show_question
        show_html(view.answered_list(results, shown))
        title = "All questions as a table"
        show_html(numbers(view.overview(results), "qa-questions", title=title))
    show_html(unread_note(result.unread))
    show_markup(view.outcome(result), key="outcome")
    attention_button(result)
    why_fold(page, "qa", passage, result.question)
    with open_tab(SLUG, TABS) as now:
        if now == "Other answers":
            draw_answers(result)
        else:
            draw_ends(page, result)
    page.finish(
        lambda: screen(result),
        lambda: view.snippet(result),
        text=passage,
        text_pair=result.question,
    )


def suggest(offered: tuple[str, ...], number: int) -> None:
    """Ask a suggested question."""
    if number in range(len(offered)):
        set_text(SLUG, offered[number], key="question")


def chosen_question(asked: int) -> int:
    """Return the number of the question that is shown in the passage."""
    number = st.query_params.get(ASK, "0")
    if re.fullmatch(r"\d{1,3}", number) and int(number) < asked:
        return int(number)
    left_out(ASK)
    return 0


def show_question(number: int) -> None:
    """Show another question's answer in the passage; kept in the address."""
    st.query_params[ASK] = str(number)


def attention_button(result: QaResult) -> None:
    """Offer the attention between the question and the passage, open on the answer's row."""
    part = result.part_around()
    if part is None or not st.session_state.get(ON_SITE):
        return
    label = "Show attention"
    if st.button(label, key="_attention", icon=":material/grid_on:", type="tertiary"):
        texts = {"text": result.question, "text_pair": result.passage[slice(*part)]}
        leave_for(feature("attention"), texts, {"row": str(result.position_in(part))})


def draw_answers(result: QaResult) -> None:
    """Draw the tab of other answers."""
    show_picture(charts.answers(result))
    show_html(view.answers_note(result))
    show_html(view.rejected(result))
    table = charts.answers_table(result).drop(columns="at")
    if charts.is_cut(table):
        words = charts.describe_answers(result)
        show_table(table, alt=words, key="t_answers", title="Every place of each answer")


def draw_ends(page: Page, result: QaResult) -> None:
    """Draw the tab of the two ends: the curves, and below them the map of pairs."""

    def show_around(number: int) -> None:
        st.session_state[AROUND] = (result.passage, result.question, number)

    *about, number = st.session_state.get(AROUND, ("", "", 0))
    same = about == [result.passage, result.question]
    middle = number if same and number in range(len(result.words)) else None
    kind = choose("Curves", charts.KINDS, key="curves")
    if charts.is_long(result):
        page.picks["around"] = show_around
        show_html(charts.overview(result, middle))
    show_picture(charts.curves(result, kind, middle))
    show_html(charts.curves_note(result, kind, middle))
    table = charts.words_table(result).drop(columns="at")
    if charts.is_cut(table):
        words = charts.describe_curves(result, kind)
        show_table(table, alt=words, key="t_words", title="Every word")
    scale = choose("Darkest colour of the map", charts.SCALES, key="scale")
    show_picture(charts.pairs(result, scale))
    show_html(charts.pairs_note(result))


with page_shell(SLUG) as shell:
    draw(shell)

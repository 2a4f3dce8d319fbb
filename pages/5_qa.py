"""Question answering: find the answer in a passage."""

import streamlit as st

from app.features.qa import view as view
from app.features.qa import view_charts as charts
from app.features.qa.result import QaResult
from app.features.qa.task import qa, questions
from app.streamlit_kit import (
    Page,
    examples_row,
    guarded,
    page_shell,
    send_row,
    show_chart,
    show_html,
    show_table,
    text_box,
)
from app.streamlit_kit.controls import choose, count, level, switch
from app.streamlit_kit.progress import progress
from bert_core.reading.passage import Rules


def draw(page: Page) -> None:
    """Draw the page inside its frame."""
    examples_row("qa", page.engine)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        passage = text_box("qa", "Passage", height=190, placeholder=view.HINT)
    with right:
        box = text_box("qa", view.ASK, key="question", height=190, placeholder=view.WHO)
        asked = questions(box)
    top = st.container()
    if not passage.strip() or not asked:
        st.info("Write a passage and a question, or pick an example.", icon=":material/edit_note:")
        return
    with st.container(horizontal=True, gap="medium"):
        threshold = level(view.LEVEL, view.SCORES, key="threshold", default=0.0, step=0.5)
        longest = count("Longest answer, in pieces", (1, 60), key="longest", default=30)
        most = count("Answers listed", (1, 20), key="answers", default=5)
    with st.container(horizontal=True, gap="medium"):
        rules = Rules(*(switch(name, key=key, default=True) for key, name in view.RULES.items()))

    def answer(*texts: str) -> QaResult:
        with progress("Reading") as told:
            return qa(
                page.engine, *texts, answers=most, longest=longest, rules=rules, progress=told
            )

    with top:
        results = [answer(passage, question) for question in asked]
        result = results[0]
        if len(results) > 1:
            words = view.describe_overview(results, threshold)
            show_table(view.overview(results, threshold), alt=words, key="overview")
            result = results[choose("Show", view.question_names(asked), key="ask")]
        show_html(view.outcome(result, threshold))
    show_html(view.threshold_note(result))
    st.header("What else was weighed", anchor=False)
    show_html(view.weighed(result))
    words, title = view.describe_answers(result), "The same as a table"
    show_table(view.answers_table(result), alt=words, key="t_answers", title=title)
    st.header("Where it starts and where it ends", anchor=False)
    picture = choose("Picture", charts.PICTURES, key="picture")
    words, table = charts.describe(result, picture), charts.table(result, picture)
    show_chart(charts.draw(result, picture), alt=words, table=table, key="curves")
    show_html(charts.note(result, picture))
    st.header("What if a sentence were not there?", anchor=False)
    names = view.sentence_names(result)
    if chosen := st.selectbox("Take out", list(names), index=None, key="_without"):
        with guarded():
            changed = answer(result.without(names[chosen]), result.question)
            show_html(view.comparison(result, changed, threshold))
    send_row("qa", passage, text_pair=result.question)


with page_shell("qa") as shell:
    draw(shell)

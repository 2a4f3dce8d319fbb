"""Next sentence: may the second text follow the first?"""

import streamlit as st

from app.features.next_sentence import view as view
from app.features.next_sentence.task import next_sentence
from app.streamlit_kit import (
    Page,
    examples_row,
    page_shell,
    send_row,
    set_text,
    show_html,
    show_table,
)
from app.streamlit_kit.controls import two_texts
from app.words.html import join
from app.words.notes import cut_note

SLUG = "next_sentence"


def swap() -> None:
    """Exchange the two boxes."""
    first, second = st.session_state["text"], st.session_state["text_pair"]
    set_text(SLUG, second)
    set_text(SLUG, first, key="text_pair")


def draw(page: Page) -> None:
    """Draw the page inside its frame."""
    examples_row(SLUG, page.engine)
    first, second = two_texts(SLUG, "First sentence", "Second sentence", hints=view.HINTS)
    st.button("Swap the sentences", icon=":material/swap_horiz:", on_click=swap)
    if not (first.strip() and second.strip()):
        st.info(
            "Write one sentence into each box, or pick an example above.",
            icon=":material/edit_note:",
        )
        return
    result = next_sentence(page.engine, first, second)
    show_html(join(view.verdict(result), view.score_bars(result)))
    show_table(
        view.score_table(result),
        alt=view.describe_scores(result),
        key="scores",
        title="The same as a table",
    )
    show_html(join(view.label_key(result), view.oversure(result), cut_note(result.cut)))
    st.header("The input as the model sees it", anchor=False)
    show_html(join(view.input_note(result), view.model_input(result)))
    show_table(
        view.input_table(result),
        alt=f"The {len(result.encoding.tokens)} tokens of the input with their ids and segments.",
        key="input",
        title="The same as a table",
    )
    send_row(SLUG, first, text_pair=second)


with page_shell(SLUG) as shell:
    draw(shell)

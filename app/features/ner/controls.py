"""Input for the user's own annotations, and the comparison with the model's answers."""

from collections.abc import Callable

import streamlit as st

from app.features.ner import view_gold as view
from app.features.ner.result_agreement import Agreement
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.show import show_html, show_table
from app.streamlit_kit.state import text_box


def gold_panel(slug: str, check: Callable[[str], Agreement]) -> None:
    """Draw the input and, once it has content, the figures and every difference.

    Args:
        slug: slug of the page.
        check: compares annotated lines with the model's own answers.
    """
    st.header(view.TITLE, anchor=False)
    show_html(view.how())
    with guarded():
        lines = text_box(slug, view.ASK, key="gold", height=150, placeholder=view.HINT)
        if not lines.strip():
            return
        with st.spinner("Comparing …"):
            agreement = check(lines)
        show_html(view.outcome(agreement))
        kinds, words = view.kinds_table(agreement), view.describe(agreement)
        show_table(kinds, alt="The figures of every kind.", key="gold_kinds")
        if agreement.differences:
            show_table(view.differences_table(agreement), alt=words, key="gold_differences")

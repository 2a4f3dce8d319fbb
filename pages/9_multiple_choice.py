"""Multiple choice: which of several texts goes with a context?"""

import streamlit as st

from app.faces.streamlit import page_shell, show_html, show_picture, text_box
from app.features.multiple_choice import view as view
from app.features.multiple_choice.task import LEAST, MOST, multiple_choice, split_choices
from app.words.html import join

SLUG = "multiple_choice"


with page_shell(SLUG) as page:
    with page.give:
        text = text_box(SLUG, "Context or question", placeholder=view.HINTS[0])
        label = f"Choices, one per line ({LEAST} to {MOST})"
        lines = text_box(SLUG, label, key="choices", placeholder=view.HINTS[1])
    choices = split_choices(lines)
    if text.strip() and choices:
        result = multiple_choice(page.engine, text, choices)
        show_html(join(view.before(result), view.verdict(result)))
        show_picture(view.scores(result))
        show_html(view.trust(result, page.engine.provenance.name))
        page.finish(
            lambda: view.report(result),
            lambda: view.snippet(result, page.engine.provenance.name),
            text=text,
        )
    else:
        st.info("Write a context and some choices or pick an example.", icon=":material/edit_note:")

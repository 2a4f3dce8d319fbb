"""Classification: which label does the model give a text?"""

import streamlit as st

from app.faces.streamlit import guarded, page_shell, show_html, show_picture, show_table, text_box
from app.faces.streamlit.controls import count, save_table
from app.faces.streamlit.features.why import why_fold
from app.faces.streamlit.progress import progress
from app.features.classification import view as view
from app.features.classification import view_lines
from app.features.classification.task import classification
from app.features.classification.task_lines import MOST, classification_lines
from app.words.html import join

SLUG = "classification"
MOST_BARS = 30


with page_shell(SLUG) as page:
    with page.give:
        text = text_box(SLUG, "Text", placeholder=view.HINTS[0])
        pair = text_box(SLUG, "Second text (optional)", key="text_pair")
    if text.strip():
        result = classification(page.engine, text, pair)
        shown = len(result.labels)
        if shown > view.SHOWN and result.kind != "regression":
            with page.settings, st.expander("Settings", key="set", bind="query-params"):
                shown = count("Labels drawn", (2, MOST_BARS), key="k", default=view.SHOWN)
        show_html(join(view.before(result), view.verdict(result)))
        if result.kind == "regression":
            show_table(view.score_table(result), alt="The outputs of the model.", key="values")
        else:
            show_picture(view.scores(result, shown))
            show_html(view.left_out(result, shown))
        show_html(view.trust(result, page.engine.provenance.name))
        if result.kind != "multi":
            why_fold(page, "classification", text, pair)
        page.finish(
            lambda: view.report(result),
            lambda: view.snippet(result, page.engine.provenance.name),
            text=text,
            text_pair=pair,
        )
    else:
        st.info("Write a text or pick an example.", icon=":material/edit_note:")
    one, many = st.tabs(["Input", view_lines.TITLE], key="tab", bind="query-params")
    if one.open and text.strip():
        with one:
            show_html(view.pieces(result))
            if len(result.labels) > shown:
                table = view.score_table(result)
                show_table(table, alt="All labels with their scores.", key="labels")
                save_table("All labels", lambda: table, "classification")
    if many.open:
        with many, guarded():
            lines = text_box(
                SLUG,
                f"Texts, one per line (at most {MOST})",
                key="lines",
                first=view_lines.EXAMPLE["lines"],
                height=140,
            )
            with progress("Reading", "texts") as told:
                rows = classification_lines(page.engine, lines, told).rows
            show_table(view_lines.lines_table(rows), alt="The texts and their labels.", key="texts")
            save_table("Many texts", lambda: view_lines.lines_table(rows), "classification-texts")

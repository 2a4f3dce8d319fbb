"""Senses: one word in many sentences."""

import streamlit as st

from app.faces.streamlit import page_shell, show_chart, show_html, show_picture, text_box
from app.faces.streamlit.controls import choose, save_csv
from app.features.senses import view
from app.features.senses.task import senses

SLUG = "senses"

with page_shell(SLUG) as page:
    with page.give:
        word = st.text_input(
            "Word", "bank", key="target", bind="query-params", persist_state="session"
        )
        text = text_box(SLUG, "Sentences, one per line (a blank line separates senses)", height=260)
    last = page.engine.provenance.layers - 1
    names = {-1: "input", **{layer: str(layer) for layer in range(last + 1)}}
    layer = choose("After layer", names, key="after", default=last)
    result = senses(page.engine, text, word, layer=layer)
    show_html(view.headline(result))
    left, right = st.columns([6, 5], gap="small")
    with left:
        show_picture(view.plane(result))
    with right:
        show_html(view.sentences(result))
    layers, near, pairs, space = st.tabs(
        ["Over the layers", "Neighbours", "All pairs", "In 3-D"], key="tab", bind="query-params"
    )
    if layers.open:
        with layers:
            show_picture(view.over_layers(result))
    if near.open:
        with near:
            show_html(view.neighbours(result))
            save_csv(
                "Neighbours",
                lambda: view.neighbours_table(result).drop(columns="at"),
                "senses-neighbours.csv",
            )
    if pairs.open:
        with pairs:
            show_picture(view.pairs(result))
    if space.open:
        with space:
            words, table = view.describe_space(result), view.space_table(result)
            show_chart(view.space(result), alt=words, table=table, key="space")
    page.finish(
        lambda: view.report(result),
        lambda: view.snippet(result, page.engine.provenance.name),
        text=text,
    )

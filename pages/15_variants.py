"""Variants: BERT and five models based on it, and a configuration of your own, on paper."""

import streamlit as st

from app.catalog import FEATURES
from app.faces.streamlit import page_shell, show_html, show_picture
from app.faces.streamlit.controls import choose, number, pick_one
from app.faces.streamlit.state import put
from app.features.variants import task, view

SLUG = "variants"
MOST_HEADS = 256
LAB = next((row.slug for row in FEATURES if row.slug == "lab"), "")
BASES = {task.MODEL: "this model", **{row["slug"]: row["name"] for row in task.published()}}


def size(label: str, key: str, start: int, *, most: int = task.MOST_SIZE, step: int = 1) -> int:
    """Let the visitor change one size."""
    return number(label, (1, most), key=key, default=start, step=step)


def heads_of(width: int, usual: int) -> int:
    """Let the visitor choose a number of heads that divides the width."""
    options = [str(n) for n in range(1, min(width, MOST_HEADS) + 1) if width % n == 0]
    if st.session_state.get("own_heads", options[0]) not in options:
        del st.session_state["own_heads"]
    fitting = max(n for n, each in enumerate(options) if int(each) <= usual)
    return int(pick_one("Heads", options, key="own_heads", index=fitting))


with page_shell(SLUG) as page:
    left, right = st.columns([1, 2], gap="large")
    with left, st.container(key="bx-va-give", gap="small"):
        base = choose("Start yours from", BASES, key="base")
        start = task.start_of(page.engine, base)
        if st.session_state.setdefault("_variants_start", start) != start:  # another base or model
            st.session_state["_variants_start"] = start
            for name in ("layers", "width", "vocabulary"):
                put(SLUG, f"own_{name}", getattr(start, name))
            put(SLUG, "own_heads", str(start.heads))
        one, two = st.columns(2)
        with one:
            layers = size("Layers", "own_layers", start.layers, most=task.MOST_LAYERS)
        with two:
            width = size("Width", "own_width", start.width, step=64)
            words = size("Vocabulary", "own_vocabulary", start.vocabulary, step=1_000)
        with one:
            heads = heads_of(width, start.heads)
        length = size("Tokens of the text", "tokens", task.LENGTH, most=task.LONGEST, step=128)
    with right:
        found = task.variants(
            page.engine, base, layers=layers, width=width, heads=heads, vocabulary=words,
            length=length,
        )  # fmt: skip
        show_html(view.headline(found))
        show_picture(view.bars(found))
    papers, ideas, reach, memory, sums = st.tabs(view.TABS, key="tab", bind="query-params")
    if papers.open:
        with papers:
            show_html(view.papers(found))
    if ideas.open:
        with ideas:
            show_html(view.cards(found, LAB))
            show_html(view.sources(found))
    if reach.open:
        with reach:
            show_html(view.reach_note(found))
            show_picture(view.reach(found))
    if memory.open:
        with memory:
            show_html(view.memory(found))
            show_html(view.memory_note(found))
    if sums.open:
        with sums:
            show_html(view.arithmetic(found))
            show_html(view.arithmetic_note(found))
    page.finish(lambda: view.report(found), lambda: view.snippet(found))

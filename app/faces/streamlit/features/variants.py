"""The form of the variants: a base, and sizes that start from it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.faces.streamlit.controls import choose, number, pick_one
from app.faces.streamlit.frame import Page
from app.faces.streamlit.state import put
from app.features.variants import task

_MOST_HEADS = 256


def form(page: Page) -> tuple[dict[str, object], DeltaGenerator]:
    """Draw the sizes at the left; return their values, and the place at the right."""
    bases = {task.MODEL: "this model", **{row["slug"]: row["name"] for row in task.published()}}
    left, right = st.columns([1, 2], gap="large")
    with left, st.container(key="bx-va-give", gap="small"):
        base = choose("Start yours from", bases, key="base")
        start = task.start_of(page.engine, base)
        if st.session_state.setdefault("_variants_start", start) != start:  # another base or model
            st.session_state["_variants_start"] = start
            for name in ("layers", "width", "vocabulary"):
                put("variants", f"own_{name}", getattr(start, name))
            put("variants", "own_heads", str(start.heads))
        one, two = st.columns(2)
        with one:
            layers = _size("Layers", "own_layers", start.layers, most=task.MOST_LAYERS)
        with two:
            width = _size("Width", "own_width", start.width, step=64)
            words = _size("Vocabulary", "own_vocabulary", start.vocabulary, step=1_000)
        with one:
            heads = _heads_of(width, start.heads)
        length = _size("Tokens of the text", "tokens", task.LENGTH, most=task.LONGEST, step=128)
    sizes = {"layers": layers, "width": width, "heads": heads, "vocabulary": words}
    return {"base": base, **sizes, "length": length}, right


def _size(label: str, key: str, start: int, *, most: int = task.MOST_SIZE, step: int = 1) -> int:
    return number(label, (1, most), key=key, default=start, step=step)


def _heads_of(width: int, usual: int) -> int:
    options = [str(n) for n in range(1, min(width, _MOST_HEADS) + 1) if width % n == 0]
    if st.session_state.get("own_heads", options[0]) not in options:
        del st.session_state["own_heads"]
    fitting = max(n for n, each in enumerate(options) if int(each) <= usual)
    return int(pick_one("Heads", options, key="own_heads", index=fitting))

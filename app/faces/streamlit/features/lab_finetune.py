"""Fine-tuning in a tab of the lab: the rows, the button, and what comes of it."""

import streamlit as st

from app.faces.streamlit import Page, guarded, show_html
from app.faces.streamlit.controls import choose
from app.faces.streamlit.progress import progress
from app.faces.streamlit.standard import show_screen
from app.faces.streamlit.state import text_box
from app.features.lab import view_finetune as view
from app.features.lab.result_finetune import KINDS, TEXTS, WORDS
from app.features.lab.task_finetune import KEPT, STEPS, Tuned, tune
from app.features.lab.task_finetune_recorded import recorded
from app.features.lab.task_finetune_rows import MOST, READY, read_rows, ready
from app.settings import settings
from app.words.blocks import line

_KEY, _GO = "_tune_key", "_tune_go"
_OWN = "Your own rows"


def show(page: Page) -> None:
    """Draw everything; for a tab of the lab."""
    if not settings().lab:
        _recorded(page)
        return
    show_html(view.INTRO)
    chosen = choose("Rows", {name: name for name in (*READY, _OWN)}, key="rows")
    kind = READY.get(chosen) or choose("What is labelled", KINDS, key="labelled")
    steps = choose("Steps", {each: str(each) for each in STEPS}, key="tune_steps", default=STEPS[1])
    place = st.container()
    rows = None
    with st.expander("The rows", expanded=chosen == _OWN), guarded():
        text = _text(chosen, kind)
        rows = read_rows(text, kind) if text.strip() else None
    with place, guarded():
        st.button("Fine-tune", key="_tune", type="primary", icon=":material/play_arrow:",
                  disabled=rows is None, on_click=_go)  # fmt: skip
        if st.session_state.pop(_GO, False) and rows is not None:
            with progress("Fine-tuning", "steps", cancel=lambda: None) as report:
                st.session_state[_KEY] = KEPT.keep(tune(page.engine, text, kind, steps, report), 1)
    tuned = KEPT.find(st.session_state.get(_KEY, ""))
    if tuned is not None:
        _outcome(page, tuned)
    elif rows is not None:
        show_html(view.preview(rows))


def _go() -> None:
    st.session_state[_GO] = True
    st.session_state.pop(_KEY, None)


def _recorded(page: Page) -> None:
    show_html(
        line(
            "This server trains nothing; this is a recorded training of its bundled model. To "
            "fine-tune on rows of your own, run a copy of this site."
        )
    )
    chosen = choose("Rows", {name: name for name in READY}, key="rows")
    show_screen(page, view.screen(recorded(READY[chosen])))


def _text(chosen: str, kind: str) -> str:
    label = f"One row a line: text, tab, {'label' if kind == TEXTS else 'tags'} (at most {MOST})"
    if chosen == _OWN:
        return text_box("lab", label, key=f"rows_{kind}", first="")
    key = f"_tune_ready_{kind}"
    return str(st.text_area(label, ready(kind), key=key, persist_state="session"))


def _outcome(page: Page, tuned: Tuned) -> None:
    found = tuned.result
    what = "word" if found.rows.kind == WORDS else "text"
    with guarded():
        text = st.text_input(
            f"Try a {what} of your own", found.rows.held_out[0].text, key="_tune_try"
        )
        if text.strip():
            show_html(view.asked(tuned.ask(text), found.rows.kind))
    show_screen(page, view.screen(found))
    st.download_button(
        "Download the model (ZIP)", tuned.archive, "bert-finetuned.zip", "application/zip",
        icon=":material/download:", on_click="ignore",
        help="A folder that `transformers` opens.",
    )  # fmt: skip

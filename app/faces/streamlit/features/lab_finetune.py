"""Fine-tuning in a tab of the lab: the rows, the buttons, and what follows the training."""

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import Page, guarded, show_html, show_picture
from app.faces.streamlit.controls import choose
from app.faces.streamlit.picker import use_model
from app.faces.streamlit.state import ON_SITE, leave_for, text_box
from app.faces.streamlit.visitor import visitor_name
from app.features.lab import view_finetune as view
from app.features.lab.result import State
from app.features.lab.result_finetune import KINDS, TEXTS, WORDS, FinetuneResult
from app.features.lab.task_finetune_recorded import recorded
from app.features.lab.task_finetune_rows import MOST, READY, read_rows, ready
from app.features.lab.task_finetune_run import STEPS, Tuning
from app.features.lab.task_lab import LABS, Job, allowed
from app.features.lab.task_model import archive
from app.words.blocks import line
from app.words.html import plain

_KEY, _GO = "_tune_key", "_tune_go"
_EVERY = 0.5  # seconds between two pictures
_OWN = "Your own rows"
_PAGES = {TEXTS: "classification", WORDS: "ner"}
_GOING = (State.WAITING, State.RUNNING)


def show(page: Page) -> None:
    """Draw everything; for a tab of the lab."""
    if _GO in st.session_state:
        slug, text = st.session_state.pop(_GO)
        leave_for(feature(slug), {"text": text})
    if not allowed():
        _recorded()
        return
    show_html(view.intro())
    chosen = choose("Rows", {name: name for name in (*READY, _OWN)}, key="rows")
    kind = READY.get(chosen) or choose("What is labelled", KINDS, key="labelled")
    steps = choose("Steps", {each: str(each) for each in STEPS}, key="tune_steps", default=STEPS[1])
    place = st.container()
    rows = None
    with st.expander("The rows", expanded=chosen == _OWN), guarded():
        text = _text(chosen, kind)
        rows = read_rows(text, kind) if text.strip() else None
    job = LABS.held(st.session_state.get(_KEY, ""), visitor_name())
    with place, guarded():
        if job is not None and LABS.ask(job).state in _GOING:
            st.button("Stop", key="_tune_stop", icon=":material/stop:", on_click=LABS.stop,
                      args=(job,))  # fmt: skip
        elif st.button("Fine-tune", key="_tune", type="primary", icon=":material/play_arrow:",
                       disabled=rows is None):  # fmt: skip
            _start(Tuning(page.engine, text, kind, steps))
    if job is not None:
        _follow(job)
    elif rows is not None:
        show_html(view.preview(rows))


def _recorded() -> None:
    """Show a recorded training, where training is off."""
    show_html(
        line(
            "This server trains nothing; this is a recorded training of its bundled model. To "
            "fine-tune on rows of your own, run a copy of this site."
        )
    )
    chosen = choose("Rows", {name: name for name in READY}, key="rows")
    found = recorded(READY[chosen])
    show_html(view.headline(found))
    show_picture(view.curves(found))
    _mistakes(found)


def _mistakes(found: FinetuneResult) -> None:
    """Draw what so few rows cannot say, and what the model gets wrong."""
    show_html(view.few(found))
    show_html(view.mistakes(found))
    show_html(view.divided(found))


def _text(chosen: str, kind: str) -> str:
    """Draw the box of the rows; a link has a visitor's own, as it has his texts on other pages."""
    label = f"One row a line: text, tab, {'label' if kind == TEXTS else 'tags'} (at most {MOST})"
    if chosen == _OWN:
        return text_box("lab", label, key=f"rows_{kind}", first="")
    key = f"_tune_ready_{kind}"
    return str(st.text_area(label, ready(kind), key=key, persist_state="session"))


def _start(run: Tuning) -> None:
    """Start training, or wait in line."""
    st.session_state[_KEY] = LABS.train(run, owner=visitor_name()).key
    st.rerun()


def _follow(job: Job[Tuning]) -> None:
    """Draw the training, again and again while it goes on."""
    going = LABS.ask(job).state in _GOING

    def again() -> None:
        with guarded():
            now, found = LABS.ask(job), _result(job)
            if going and now.state not in _GOING:
                st.rerun()
            show_html(view.status_line(now, found))
            if found is not None:
                show_html(view.headline(found))
                show_picture(view.curves(found))

    st.fragment(again, run_every=_EVERY if going else None)()
    found = _result(job)
    if found is not None and job.state in {State.DONE, State.STOPPED}:
        with guarded():
            _outcome(job, found)


def _result(job: Job[Tuning]) -> FinetuneResult | None:
    """Return fine-tuning so far; None before its first point."""
    run = job.runs[0]
    if not run.points:
        return None
    with job.lock:
        return run.result()


def _outcome(job: Job[Tuning], found: FinetuneResult) -> None:
    """Draw what came of it: the mistakes, a text of the visitor's, and the model to take along."""
    run = job.runs[0]
    _mistakes(found)
    first = found.rows.held_out[0].text
    text = st.text_input("Try a text of your own", first, key="_tune_try")
    if text.strip():
        show_html(view.asked(job.compute(lambda: run.ask(text)), found.rows.kind))
    with st.container(horizontal=True, gap="small"):
        slug = _PAGES[found.rows.kind]
        if st.session_state.get(ON_SITE) and not job.private:
            st.button(
                f"Open it in {plain(feature(slug).title)}",
                icon=":material/send:",
                on_click=_open,
                args=(job, slug, text),
            )
        st.download_button(
            "Download the model (ZIP)",
            lambda: archive(run.files()),
            "bert-finetuned.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
            help="A folder that `transformers` opens, with the rows and the script.",
        )
        with st.popover("In Python", icon=":material/code:", type="tertiary"):
            st.code(run.python(), language="python")
    if job.private:
        show_html(
            line("A model trained on your own rows stays in memory, so other pages do not open it.")
        )


def _open(job: Job[Tuning], slug: str, text: str) -> None:
    """Offer the model on every page and choose it; the next run of this page goes there."""
    with guarded():
        use_model(LABS.open_elsewhere(job))
        st.session_state[_GO] = slug, text

"""The lab: a tiny BERT is trained before the visitor's eyes."""

from functools import partial

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import guarded, page_shell, show_html
from app.faces.streamlit.controls import count, open_tabs
from app.faces.streamlit.features import lab as controls
from app.faces.streamlit.features import lab_distil as controls_distil
from app.faces.streamlit.features import lab_exercises as controls_exercises
from app.faces.streamlit.features import lab_finetune as controls_finetune
from app.faces.streamlit.features.lab_live import EVERY, chosen_step, follow, scene, show_prediction
from app.faces.streamlit.files import offer_file
from app.faces.streamlit.picker import use_model
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.lab import view, view_distil
from app.features.lab.task import texts
from app.features.lab.task_lab import LABS, Lab, allowed, warm_up
from app.features.lab.task_model import archive
from app.features.lab.task_run import Run
from app.words.blocks import line

SLUG = "lab"
GO = "_lab_go"
TABS = ("Try it", "Rows", "Vocabulary", "Take along", "Distil", "Fine-tune", "Exercises")


def open_elsewhere(lab: Lab, number: int, step: int | None, text: str) -> None:
    """Offer the model on every page and choose it; the next run of this page goes there."""
    with guarded():
        use_model(LABS.open_elsewhere(lab, number, step))
        st.session_state[GO] = text


def try_it(trained: Run, lab: Lab, step: int | None, text: str) -> None:
    """Let the visitor write a sentence with a gap; the guesses change while the run goes on.

    Args:
        trained: the run whose model fills it.
        lab: it belongs to.
        step: a saved step; None for now.
        text: the sentence at first.
    """
    with guarded():
        text = st.text_input(
            "A sentence with [MASK] or ___", text, key="gap", max_chars=500, persist_state="session"
        )
        show_html(view.filled(text, lab.compute(lambda: trained.fill(text, step))))


def model_file(trained: Run, lab: Lab, step: int | None) -> bytes:
    """Write the folder of the model as one file; see `try_it`."""
    with lab.lock:
        return archive(trained.files(step))


def take_along(trained: Run, lab: Lab, step: int | None, text: str) -> None:
    """Offer the model for the other pages and as files; see `try_it`."""
    with st.container(horizontal=True, gap="small"):
        if st.session_state.get(ON_SITE) and not lab.private:
            st.button(
                "Open it in Fill-mask",
                icon=":material/send:",
                type="primary",
                on_click=open_elsewhere,
                args=(lab, lab.runs.index(trained), step, text),
            )
        st.download_button(
            "Download the model (ZIP)",
            partial(model_file, trained, lab, step),
            "bert-lab.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
            help="A folder that `transformers` opens, with the texts and the script.",
        )


with page_shell(SLUG) as page:
    if allowed():
        warm_up()
    settings = controls.read_settings()
    if GO in st.session_state:
        leave_for(feature("fill_mask"), {"text": st.session_state.pop(GO)})
    lab = controls.find_lab()
    with page.give:
        text = controls.main_settings(settings)
        with guarded():
            controls.buttons(settings, text, lab)
        shown = scene(settings, lab)
        show_prediction(shown)
        distilled = controls_distil.outcome(lab)
        if distilled is not None and not shown.moving:
            show_html(view_distil.headline(distilled))
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        controls.all_settings(settings)
    controls.write_address(settings)
    follow(settings, lab, shown)
    run = shown.runs[-1] if shown.runs else None
    trained = lab.runs[len(shown.runs) - 1] if lab and shown.live and run else None
    back = chosen_step(shown)
    step = back if trained and back in trained.states else None
    gap = run.start.watched[0].text if run and run.start.watched else "[MASK]"
    tried, rows, joins, taken, taught, tuned, posed = open_tabs(SLUG, TABS)
    if tried.open:
        with tried:
            if lab and trained:
                every = EVERY if shown.moving else None
                st.fragment(try_it, run_every=every)(trained, lab, step, gap)
            else:
                show_html(line("Press Start first: a recording has no model."))
    if rows.open and run:
        with rows:
            show_html(view.beginning(run))
            show_html(view.rows(run))
    if joins.open and run:
        with joins:
            most = len(run.start.joins)
            done = count("Joins so far", (0, most), key="joins", default=most // 4)
            show_html(view.vocabulary(run, done))
    if taken.open and run:
        with taken, guarded():
            if lab and trained:
                take_along(trained, lab, step, gap)
            st.code(run.python, language="python", wrap_lines=True)
    if taught.open:
        with taught:
            controls_distil.show(lab, trained, distilled)
    if tuned.open:
        with tuned:
            controls_finetune.show(page)
    if posed.open:
        with posed:
            controls_exercises.show()
    if run:
        if lab and trained:
            make = partial(model_file, trained, lab, step)
            offer_file("The model", "Model (ZIP)", make, "bert-lab.zip", "application/zip")
        else:
            make = partial(texts, run.start.settings)
            offer_file("What the Python reads", "Texts (TXT)", make, "corpus.txt")
        page.finish(
            partial(view.screen, run)
            if distilled is None
            else partial(view_distil.screen, distilled),
            partial(str, run.python),
        )

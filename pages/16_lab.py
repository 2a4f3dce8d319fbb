"""The lab: a tiny BERT is trained before the visitor's eyes."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import Page, guarded, page_shell, show_html
from app.faces.streamlit.controls import count, open_tab
from app.faces.streamlit.features import lab as controls
from app.faces.streamlit.features import lab_distil as controls_distil
from app.faces.streamlit.features import lab_exercises as controls_exercises
from app.faces.streamlit.features import lab_finetune as controls_finetune
from app.faces.streamlit.features import lab_watch as controls_watch
from app.faces.streamlit.features.lab_live import EVERY, chosen_step, follow, scene, show_prediction
from app.faces.streamlit.files import offer_file
from app.faces.streamlit.picker import use_model
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.lab import view, view_distil
from app.features.lab.result import LabResult
from app.features.lab.result_distil import DistilResult
from app.features.lab.result_settings import LabSettings
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
    if controls_watch.is_over(lab):
        st.rerun()
    with guarded(), controls_watch.counted():
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


def draw(page: Page, settings: LabSettings, lab: Lab | None, *, watches: bool) -> None:
    """Draw a run and everything that can be done with it.

    Args:
        page: the page.
        settings: of the run.
        lab: it belongs to; None for a recording.
        watches: whether it is another visitor's, seen by a link.
    """
    with page.give:
        shown = scene(settings, lab)
        show_prediction(shown)
        distilled = controls_distil.outcome(lab)
        if distilled is not None and not shown.moving:
            show_html(view_distil.headline(distilled))
    follow(settings, lab, shown)
    run = shown.runs[-1] if shown.runs else None
    trained = lab.runs[len(shown.runs) - 1] if lab and shown.live and run else None
    back = chosen_step(shown)
    step = back if trained and back in trained.states else None
    gap = run.start.watched[0].text if run and run.start.watched else "[MASK]"
    own_text = lab is not None and lab.private
    names = TABS if not watches else TABS[: 1 if own_text else 3]
    with open_tab(SLUG, names) as now, guarded():
        if now == "Try it" and lab and trained:
            every = EVERY if shown.moving and not watches else None
            st.fragment(try_it, run_every=every)(trained, lab, step, gap)
        elif now == "Try it":
            show_html(line("Press Start first: a recording has no model."))
        elif now == "Rows" and run:
            show_html(view.beginning(run))
            show_html(view.rows(run))
        elif now == "Vocabulary" and run:
            most = len(run.start.joins)
            done = count("Joins so far", (0, most), key="joins", default=most // 4)
            show_html(view.vocabulary(run, done))
        elif now == "Take along" and run:
            if lab and trained:
                take_along(trained, lab, step, gap)
            st.code(run.python, language="python", wrap_lines=True)
        elif now == "Distil":
            controls_distil.show(lab, trained, distilled)
        elif now == "Fine-tune":
            controls_finetune.show(page)
        elif now == "Exercises":
            controls_exercises.show()
    if run and not (watches and own_text):
        model = partial(model_file, trained, lab, step) if lab and trained else None
        finish(page, run, distilled, model)


def finish(
    page: Page, run: LabResult, distilled: DistilResult | None, model: Callable[[], bytes] | None
) -> None:
    """Offer the files of a run and draw the last row.

    Args:
        page: the page.
        run: that is shown.
        distilled: what its two students have come to, if it is one of them.
        model: writes the trained folder; None for a recording.
    """
    if model is not None:
        offer_file("The model", "Model (ZIP)", model, "bert-lab.zip", "application/zip")
    else:
        make = partial(texts, run.start.settings)
        offer_file("What the Python reads", "Texts (TXT)", make, "corpus.txt")
    page.finish(
        partial(view.screen, run) if distilled is None else partial(view_distil.screen, distilled),
        partial(str, run.python),
    )


with page_shell(SLUG) as page:
    if allowed():
        warm_up()
    settings = controls.read_settings()
    if GO in st.session_state:
        leave_for(feature("fill_mask"), {"text": st.session_state.pop(GO)})
    watched = controls_watch.linked()
    if watched is None:
        lab = controls.find_lab()
        with page.give:
            text = controls.main_settings(settings)
            with guarded():
                row = controls.buttons(settings, text, lab)
                with row:
                    controls_watch.offer(lab)
        with page.settings, st.expander("Settings", key="set", bind="query-params"):
            controls.all_settings(settings)
        controls.write_address(settings)
        draw(page, settings, lab, watches=False)
    else:
        controls.write_address(settings)
        with page.give:
            may_see = controls_watch.watch(watched)
        if may_see:
            draw(page, watched.runs[-1].settings, watched, watches=True)

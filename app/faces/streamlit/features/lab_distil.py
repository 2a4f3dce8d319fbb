"""Distillation in a tab of the lab: who teaches, how, and what it was worth."""

from dataclasses import replace

import streamlit as st

from app.faces.streamlit import guarded, show_html, show_picture
from app.faces.streamlit.controls import choose
from app.faces.streamlit.features.lab import show_lab
from app.faces.streamlit.visitor import visitor_name
from app.features.lab import view_distil as view
from app.features.lab.result_distil import SENTENCES, STARTS, TEMPERATURES, DistilResult, Recipe
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_distil import compared, recorded_distil
from app.features.lab.task_distil_run import Student, students
from app.features.lab.task_lab import LABS, Lab, allowed
from app.features.lab.task_run import Run
from app.features.lab.view_curves import accuracies, losses
from app.features.lab.view_words import STUDENTS, named
from app.words.blocks import line
from app.words.html import join
from app.words.pictures import Picture


def show(lab: Lab | None, run: Run | None, found: DistilResult | None) -> None:
    """Draw the recipe and the button; below them what other seeds came to, or a recording.

    Args:
        lab: that is shown; None for a recording.
        run: that could be the teacher, or a student of it.
        found: what the students of this lab have come to.
    """
    show_html(view.intro())
    if not allowed():
        show_html(line("This server trains nothing; this is a recorded distillation."))
    else:
        _offer(lab, run.origin if isinstance(run, Student) else run)
    if found is not None:
        show_html(join(view.measured(found), line("Their curves are at the top of this page.")))
        return
    recorded = recorded_distil(LabSettings(), Recipe())
    if recorded is not None:
        _recorded(recorded)


def _offer(lab: Lab | None, teacher: Run | None) -> None:
    """Let the visitor choose a recipe, and start."""
    recipe = Recipe(
        choose("Students start from", STARTS, key="start"),
        choose("They read", {n: f"{n:,} sentences" for n in SENTENCES}, key="read"),
        choose("Temperature", {n: str(n) for n in TEMPERATURES}, key="temperature"),
    )
    if lab is None or teacher is None or lab.owner != visitor_name():
        show_html(line("Press Start first: the model that you train is the teacher. A recording:"))
        return
    with guarded():
        if st.button("Distil", type="primary", icon=":material/school:"):
            LABS.pause(lab)
            if teacher.points[-1].step < teacher.step:
                lab.compute(teacher.look)
            with lab.lock:
                pair = students(teacher, recipe)
            show_lab(LABS.teach(pair, owner=lab.owner))
            st.rerun()
    show_html(line(f"The teacher: {named(teacher.settings)}, after step {teacher.step:,}."))


def outcome(lab: Lab | None) -> DistilResult | None:
    """Return what a lab of students has come to so far; None for another lab."""
    every = () if lab is None else lab.runs
    runs = [run for run in every if isinstance(run, Student) and run.points]
    if lab is None or len(runs) < 2:
        return None
    with lab.lock:
        one, other = (run.result() for run in runs)
    return compared(one, other, runs[1].origin.settings, runs[1].recipe)


def _recorded(found: DistilResult) -> None:
    """Show a recorded distillation; its pictures have names of their own beside those of a run."""
    show_html(view.headline(found))
    left, right = st.columns(2, gap="small")
    runs = found.alone, found.taught
    with left:
        show_picture(_renamed(losses(runs, STUDENTS)))
    with right:
        show_picture(_renamed(accuracies(runs, STUDENTS)))
    show_html(view.measured(found))


def _renamed(drawn: Picture) -> Picture:
    return replace(drawn, name=f"{drawn.name}-recorded", wide=drawn.narrow)

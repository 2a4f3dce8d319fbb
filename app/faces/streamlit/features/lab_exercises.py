"""Exercises in a tab of the lab: guess, compare with three seeds of each choice, run one."""

from functools import partial

import streamlit as st

from app.faces.streamlit import guarded, show_html, show_picture
from app.faces.streamlit.features.lab import take_settings
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_exercises import exercises
from app.features.lab.task_lab import allowed
from app.features.lab.view_exercises import NONE, bands, phenomena, verdict
from app.features.lab.view_words import named
from app.words.html import plain

_GUESSED = "_lab_exercises"  # by exercise: the choice, or -1 for none


def show() -> None:
    """Draw the exercises; for a tab of the lab."""
    with guarded():
        rows = exercises()
        number = st.segmented_control(
            "Exercise", range(len(rows)), format_func=lambda n: f"{n + 1}. {rows[n].title}",
            key="exercise", default=0, required=True,
        )  # fmt: skip
        exercise = rows[number or 0]
        show_html(phenomena(corpus_of(LabSettings()).phenomena))
        names = {n: each.say for n, each in enumerate(exercise.options)} | {-1: NONE}
        guess = st.radio(
            plain(exercise.ask), list(names), index=None, key=f"_exercise_{number}",
            format_func=lambda n: plain(names[n]),
        )  # fmt: skip
        guessed: dict[int, int] = st.session_state.setdefault(_GUESSED, {})
        if st.button("Check", type="primary", disabled=guess is None, key=f"_check_{number}"):
            guessed[number or 0] = -1 if guess is None else guess
        if (number or 0) not in guessed:
            return
        chosen = guessed[number or 0]
        show_html(verdict(exercise, None if chosen < 0 else chosen))
        show_picture(bands(exercise))
        if allowed():
            with st.container(horizontal=True, gap="small"):
                settings = dict.fromkeys(each.settings for each in exercise.options)
                for n, each in enumerate(settings):
                    st.button(
                        "Set it up: " + plain(named(each)), on_click=partial(take_settings, each),
                        key=f"_setup_{number}_{n}",
                    )  # fmt: skip

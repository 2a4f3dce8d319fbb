"""The end of a lesson, and a lesson as one page with everything revealed."""

import streamlit as st

from app.catalog import feature
from app.declared import declared
from app.engine.models import Engine
from app.faces.streamlit.lesson_scene import PATH, played_in, scene_of
from app.faces.streamlit.lesson_way import open_lesson
from app.faces.streamlit.show import show_html
from app.faces.streamlit.standard import show_parts
from app.lessons.records import Lesson
from app.lessons.shelf import following
from app.lessons.view import prose, rests_on
from app.lessons.whole import larger, step_parts
from app.words.html import Html, plain, tag, visible


def draw_end(engine: Engine, found: Lesson) -> None:
    """Draw the last sentence, the guesses once more, and where to go on."""
    show_html(tag("h2", "Takeaway", tabindex=-1, data_focus=f"{found.slug} end"))
    show_html(prose(found.last, "bx-headline"))
    rows = [row for number in range(1, len(found.steps) + 1) if (row := _once_more(found, number))]
    if rows:
        show_html(tag("h3", "Your guesses once more"))
        show_html(tag("ul", *rows, class_="bx-guesses"))
    if found.larger:
        show_html(larger(found))
    show_html(rests_on(engine, found))
    after = following(found.slug, st.session_state.get(PATH, ""))
    with st.container(horizontal=True):
        if after and st.button(f"Next lesson: {plain(after.title)}", type="primary", key="_after"):
            open_lesson(after.slug)
        slugs = dict.fromkeys(declared(step.page).feature.folder for step in found.steps)
        for page in map(feature, slugs):
            if st.button(plain(page.title), key=f"_page_{page.slug}", icon=page.icon):
                st.switch_page(page.page)


def _once_more(found: Lesson, number: int) -> Html | None:
    """Write what was guessed in a step, and what came out."""
    played = played_in(found, number)
    if not played.mine:
        return None
    heading = tag("strong", visible(f"{found.steps[number - 1].heading} – "))
    return tag("li", heading, visible(f"you: {played.mine}; the model: {played.its}"))


def draw_all(engine: Engine, found: Lesson) -> None:
    """Draw all steps below each other, with everything revealed."""
    for number, step in enumerate(found.steps, 1):
        with st.container(key=f"bx-read-{number}"):
            scene = scene_of(engine, found, number, st.container())
            show_html(tag("h2", visible(f"{number}. {step.heading}")))
            show_parts(scene.page, step_parts(scene.looking, step, number))
    draw_end(engine, found)

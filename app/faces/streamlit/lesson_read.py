"""The end of a lesson, and a lesson as one page with everything revealed."""

from dataclasses import replace

import streamlit as st

from app.catalog import Feature, feature
from app.declared import declared
from app.engine.models import Engine
from app.faces.streamlit.lesson_scene import PATH, drawn, played_in, say, scene_of, write_given
from app.faces.streamlit.lesson_way import open_lesson
from app.faces.streamlit.show import show_html
from app.faces.streamlit.standard import show_parts
from app.lessons.looking import Looking, filled_words
from app.lessons.records import Lesson, Question
from app.lessons.shelf import following
from app.lessons.view import prose, rests_on
from app.words.blocks import line
from app.words.html import Html, plain, tag, visible
from app.words.pictures import Picture
from app.words.screen import Beside, Part, Parts


def draw_end(engine: Engine, found: Lesson) -> None:
    """Draw the last sentence, the guesses once more, and where to go on."""
    show_html(tag("h2", "What remains", tabindex=-1, data_focus=f"{found.slug} end"))
    show_html(prose(found.last, "bx-headline"))
    rows = [row for number in range(1, len(found.steps) + 1) if (row := _once_more(found, number))]
    if rows:
        show_html(tag("h3", "Your guesses once more"))
        show_html(tag("ul", *rows, class_="bx-guesses"))
    if found.larger:
        show_html(line("What larger models do (not checked here): ", visible(found.larger)))
    show_html(rests_on(engine, found))
    after = following(found.slug, st.session_state.get(PATH, ""))
    with st.container(horizontal=True):
        if after and st.button(f"Next lesson: {plain(after.title)}", type="primary", key="_after"):
            open_lesson(after.slug)
        for page in _pages(found):
            if st.button(plain(page.title), key=f"_page_{page.slug}", icon=page.icon):
                st.switch_page(page.page)


def _once_more(found: Lesson, number: int) -> Html | None:
    """Write what was guessed in a step, and what came out."""
    played, step = played_in(found, number), found.steps[number - 1]
    if played.guess is None or step.question is None or not played.its:
        return None
    guess = played.guess
    look = step.looks[0].names
    says = [filled_words(each.say, look) for each in step.question.choices]
    if isinstance(guess, tuple):
        mine = ", ".join(says[n] for n in guess)
    elif step.question.kind == "point":
        mine = played.mine
    elif says and isinstance(guess, int):
        mine = says[guess]
    else:
        mine = f"{guess} {step.question.unit}".strip()
    heading = tag("strong", visible(f"{step.heading}: "))
    return tag("li", heading, visible(f"you {mine}, the model {played.its}"))


def _pages(found: Lesson) -> list[Feature]:
    """Return the pages that a lesson uses."""
    slugs = dict.fromkeys(declared(step.page).feature.folder for step in found.steps)
    return [feature(slug) for slug in slugs]


def draw_all(engine: Engine, found: Lesson) -> None:
    """Draw all steps below each other, with everything revealed."""
    for number in range(1, len(found.steps) + 1):
        with st.container(key=f"bx-read-{number}"):
            scene = scene_of(engine, found, number, st.container())
            step, looking = scene.step, scene.looking
            show_html(tag("h2", visible(f"{number}. {step.heading}")))
            say(scene, step.say)
            write_given(looking.look, scene)
            if step.question:
                _answered(looking, step.question)
            show_html(prose(looking.fill(step.reveal), "bx-reveal"))
            shown = drawn(declared(step.page), looking.result(), step.parts, step.show)
            show_parts(scene.page, _renamed(shown, number))
            if step.why:
                _answered(looking, step.why)
            if step.change:
                show_html(prose(looking.fill(f"Your turn: {step.change.ask}"), "bx-turn"))
    draw_end(engine, found)


def _renamed(parts: Parts, number: int) -> Parts:
    """Give the pictures of a step names of their own."""
    return tuple(_renamed_part(each, number) for each in parts)


def _renamed_part(part: Part, number: int) -> Part:
    if isinstance(part, Beside):
        left, right = _renamed(part.left, number), _renamed(part.right, number)
        return Beside(left, right, part.widths)
    return replace(part, name=f"{part.name}-step-{number}") if isinstance(part, Picture) else part


def _answered(looking: Looking, question: Question) -> None:
    """Write a question with all its choices and the reply to each."""
    show_html(prose(looking.fill(question.ask), "bx-turn"))
    if not question.choices or question.kind == "order":
        return
    right = looking.right(question)
    rows = []
    for number, each in enumerate(question.choices):
        sign = tag("strong", "→ ") if number == right else ""
        says = tag("strong", visible(looking.fill(each.say)))
        rows.append(tag("li", sign, says, prose(looking.fill(each.reply), "bx-reply")))
    show_html(tag("ul", *rows))

"""The page of the lessons: one of them with everything revealed, computed when it is chosen."""

import gradio as gr

from app.compat.gradio import begin_page
from app.declared import declared
from app.declared.answers import engine_of
from app.faces.gradio.look import menu
from app.faces.gradio.pages import ARRIVED, PRIVATE, SITE, show_html, twin_link
from app.faces.gradio.widgets import model_choices
from app.faces.gradio.work import in_turn, message_of
from app.faces.paper.page import style
from app.lessons.shelf import in_order, lesson, shelf
from app.lessons.whole import whole
from app.words.blocks import heading, line, note
from app.words.html import join, stylesheet, tag, visible

SLUG, TITLE = "lessons", "Lessons"
_CHOOSE = line("Choose a lesson. Most take a few seconds, some of the course more.")


def lessons_page(face: gr.Blocks, twin: str) -> None:
    """Draw the page; `twin` is the address of the Streamlit one, where one guesses first, or ""."""
    begin_page(face, SLUG, TITLE)
    pages = {declared(step.page).feature.folder for each in in_order() for step in each.steps}
    show_html(join(stylesheet(style(*sorted(pages))), menu(SLUG)))
    show_html(heading(TITLE, "What BERT does, step by step, with every answer shown."))
    with gr.Row():
        choices = [(each.title, each.slug) for each in in_order()]
        chosen = gr.Dropdown(choices, value=None, label="Lesson")
        model = gr.Dropdown(model_choices(), label="Model", min_width=150)
    answer = show_html(_CHOOSE)
    twin_link("Guess first: the lessons on the full site", twin)

    async def read(slug: object, name: object) -> str:
        return await in_turn(lambda: _written(str(slug), name)) if slug else str(_CHOOSE)

    async def opened(name: object, request: gr.Request) -> list[object]:
        """Show the lesson of the address (`?lesson=...`)."""
        slug = request.query_params.get("lesson", "")
        return [slug if slug in shelf().lessons else None, await read(slug, name)]

    work = {**PRIVATE, "show_progress": "minimal"}
    gr.on([chosen.input, model.input], read, [chosen, model], answer,
          trigger_mode="always_last", **work)  # fmt: skip
    face.load(opened, [model], [chosen, answer], **work)
    face.load(None, js=ARRIVED % f"{TITLE} · {SITE}", api_visibility="private")


def _written(slug: str, name: object) -> str:
    try:
        found = lesson(slug)
        parts = whole(engine_of(name), found)
    except Exception as error:  # noqa: BLE001 - whatever it is, the visitor is told
        return str(note(visible(message_of(error)), caution=True))
    title = tag("h2", visible(found.title))
    return str(tag("div", title, line(visible(found.goal)), *parts, class_="bx-result"))

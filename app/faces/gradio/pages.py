"""The pages of the face: the home page, and one page for each feature."""

from typing import Any

import gradio as gr

from app.declared import Declared
from app.faces.gradio import carry
from app.faces.gradio.look import groups, menu, tab_links
from app.faces.gradio.widgets import filled, model_choices, read, widget
from app.faces.gradio.work import in_turn
from app.faces.gradio.written import write
from app.faces.paper.page import style
from app.words.blocks import heading, line
from app.words.format import shortened
from app.words.html import Html, join, stylesheet, tag, visible

SITE = "BERT Explorer"
_PROGRAMS = (
    "Programs and assistants can call every page: see “Use via API” at "
    "the foot of the page, and the list at /api/openapi.json."
)
# On a phone the menu is wider than the screen.
ARRIVED = """() => {
  document.title = "%s";
  const menu = document.querySelector(".bx-menu");
  menu.scrollLeft = menu.querySelector("[aria-current]").offsetLeft - menu.clientWidth / 2;
}"""
# Gradio checks no values before and after: `Parameter.read` does, with messages for people.
PRIVATE: dict[str, Any] = {
    "preprocess": False,
    "postprocess": False,
    "api_visibility": "private",
    "show_progress": "hidden",
}


def home_page(twin: str) -> None:
    """Draw the home page: every feature in one line."""
    show_html(join(stylesheet(style()), menu("")))
    blocks = [heading(SITE, "See what a BERT model does with a text.")]
    for group, rows in groups().items():
        items = (tag("li", tag("a", row.title, href=row.slug), row.see) for row in rows)
        blocks.append(join(tag("h2", group), tag("ul", *items)))
    blocks.insert(
        1, tag("p", tag("a", "Lessons", href="lessons"), ": what BERT does, step by step")
    )
    show_html(tag("div", *blocks, line(_PROGRAMS), class_="bx-home"))
    twin_link("The full site", twin)


def feature_page(face: gr.Blocks, declared: Declared, twin: str) -> None:
    """Draw the page of a feature and connect its parts; `twin` is its Streamlit page, or ""."""
    row = declared.feature
    show_html(join(stylesheet(style(row.folder)), menu(row.folder)))
    with gr.Row(elem_classes="bx-top"):
        with gr.Column(scale=2, min_width=300):
            show_html(join(heading(row.title, row.see), tab_links(row)))
        names = [each.label for each in declared.examples]
        example = gr.Dropdown(names, label="Examples", min_width=150, visible=bool(names))
        model = gr.Dropdown(model_choices(), label="Model", min_width=150)
    remarks = show_html(join(), "bx-remarks")
    with gr.Row(elem_classes="bx-stage"):
        with gr.Column(min_width=300, elem_classes="bx-give", visible=bool(declared.parameters)):
            boxes, run = _form(declared)
        with gr.Column(scale=2, min_width=300):
            answer = show_html(join())
            with gr.Accordion("As JSON", open=False):
                json = gr.JSON(show_label=False, container=False)
    twin_link("This page on the full site", twin)
    if row.trains and not row.part_of:
        address = f"{twin.removesuffix(row.folder)}live/lab.html"
        show_html(line(tag("a", "Train one in your browser", href=address)))
    inputs = [*boxes, model]

    async def ask(*values: object) -> tuple[str, Any]:
        *given, name = values
        shown = await in_turn(lambda: write(declared, read(declared, given), name))
        return str(shown.markup), shown.json

    work = {
        **PRIVATE,
        "inputs": inputs,
        "outputs": [answer, json],
        "show_progress": "minimal",
        "show_progress_on": answer,
        "trigger_mode": "always_last",
    }
    script = carry.asked(declared, model_choices()[0][1])
    linked = {"fn": None, "inputs": inputs, "js": script, "api_visibility": "private"}
    gr.on([run.click, model.input, *map(_trigger, boxes)], ask, **work).then(**linked)

    def use(label: object) -> Any:
        values = next((each.values for each in declared.examples if each.label == label), {})
        form = filled(declared, declared.example_values(values))
        return form[0] if len(form) == 1 else form  # as Gradio expects them of a function

    used = example.input(use, [example], boxes, **PRIVATE)
    used.then(None, js=carry.EXAMPLE, api_visibility="private")
    used.then(ask, **work).then(**linked)
    if boxes:  # what is changed by hand is no example
        gr.on([each.input for each in boxes], None, None, [example], js="() => null", **PRIVATE)
    face.load(None, js=ARRIVED % f"{row.title} · {SITE}", api_visibility="private")
    opening = gr.Textbox(visible=False)
    opened = face.load(
        _opener(declared), [opening], [*inputs, example, remarks], js=carry.script(), **PRIVATE
    )
    opened.then(None, js=carry.OPENED, api_visibility="private")
    opened.then(ask, **work)


def _form(declared: Declared) -> tuple[list[Any], gr.Button]:
    main = [each for each in declared.parameters if each.required or each.field.lines > 1]
    more = [each for each in declared.parameters if each not in main]
    boxes = {each.name: widget(each) for each in main}
    run = gr.Button("Run", variant="primary")
    if more:
        with gr.Accordion("Settings", open=False, elem_classes="bx-settings"):
            boxes |= {each.name: widget(each) for each in more}
    return [boxes[each.name] for each in declared.parameters], run


def _trigger(box: Any) -> Any:
    """Return what makes the model answer anew: Enter in a text, a change of anything else."""
    if isinstance(box, gr.Textbox):
        return box.submit
    return box.release if isinstance(box, gr.Slider) else box.input


def _opener(declared: Declared) -> Any:
    """Return the function that fills the form of a new page.

    It shows the texts that the page was left with, or those of the address
    (`?text=...&model=...`), or what the visitor wrote on another page, or the first example.
    """

    def opened(message: object, request: gr.Request) -> object:
        asked = declared.by_name(dict(request.query_params))
        texts = (each.name for each in declared.parameters if each.is_text)
        values = carry.brought(declared, message, {n: asked[n] for n in texts if n in asked})
        first = None if values or not declared.examples else declared.examples[0]
        if first is not None:
            values = declared.example_values(first.values)
        choices = model_choices()
        names = [name for _, name in choices]
        wanted = str(asked.get("model") or names[0])
        model = wanted if wanted in names else names[0]
        remarks = [carry.unfit_note(declared.feature, message)]
        if wanted != model:
            says = (
                f"The address asks for the model “{shortened(wanted)}”, which is not offered here."
            )
            remarks.append(line(visible(says), f" {visible(model)} is used instead."))
        shown = str(join(*remarks))
        menu = gr.update(choices=choices, value=model)
        return [*filled(declared, values), menu, first and first.label, shown]

    return opened


def twin_link(title: str, twin: str) -> None:
    """Lead to the other interface, if it is served."""
    if twin:
        show_html(line(tag("a", title, href=twin)))


def show_html(markup: Html, kind: str = "") -> gr.HTML:
    """Show markup. Gradio's own template takes it as it is; only `tag` may have written it."""
    return gr.HTML(str(markup), elem_classes=kind, apply_default_css=False, js_on_load=None)

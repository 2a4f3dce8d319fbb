"""Pages that are drawn from their declaration alone: a form, and the screen of the answer."""

import streamlit as st

from app.declared import Declared, Parameter, declared
from app.faces.streamlit.controls import choose, save_csv, save_table
from app.faces.streamlit.frame import Page, page_shell
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.show import show_chart, show_html, show_picture
from app.faces.streamlit.state import text_box
from app.words.html import Html, join, tag
from app.words.pictures import Picture
from app.words.screen import Beside, Part, Parts, Rows, Screen, Turned


def standard_page(slug: str) -> None:
    """Draw a page: its boxes, what its task answers, and the tab that is open.

    Args:
        slug: the page's name in the catalog.
    """
    task = declared(slug)
    with page_shell(slug) as page:
        given = form(page, task)
        if task.invitation and not all(given[each.name] for each in task.typed):
            st.info(task.invitation, icon=":material/edit_note:")
            return
        result, model = task.run(page.engine, given), page.engine.provenance.name
        assert task.screen is not None and task.snippet is not None, slug
        show_screen(task.screen(result, model))
        snippet = task.snippet
        page.finish(
            lambda: task.report(result),
            lambda: snippet(result, model),
            text=str(st.session_state.get("text", "")),
            text_pair=str(st.session_state.get("text_pair", "")),
        )


def form(page: Page, task: Declared) -> dict[str, object]:
    """Draw the widgets of a task, and return their values by the names of its parameters."""
    with page.give:
        given = {each.name: _box(each, task) for each in task.typed}
    return given | {each.name: _layer(page, each) for each in task.parameters if each.field.layer}


def _box(each: Parameter, task: Declared) -> object:
    """Draw a box for a text, or for several, one per line."""
    key, label, hint = each.key, each.field.label, each.field.hint
    if each.field.lines == 1:
        first = str(task.examples[0].values.get(key, ""))
        return st.text_input(
            label, first, key=key, placeholder=hint or None, bind="query-params",
            persist_state="session",
        )  # fmt: skip
    text = text_box(task.feature.slug, label, key=key, placeholder=hint)
    return each.read(text) if each.kind is list else text.strip() and text


def _layer(page: Page, each: Parameter) -> int:
    """Let the visitor choose a layer of the model; the last one at first."""
    last = page.engine.provenance.layers - 1
    names = {layer: str(layer) if layer >= 0 else "input" for layer in range(-1, last + 1)}
    return choose(each.field.label, names, key=each.key, default=last)


def show_screen(screen: Screen) -> None:
    """Draw an answer: what must be known first, the headline, the main parts, the open tab."""
    headline = screen.answer or tag("p", screen.headline, class_="bx-headline")
    show_html(join(*screen.first, headline))
    show_parts(screen.parts)
    if not screen.tabs:
        return
    tabs = st.tabs(list(screen.tabs), key="tab", bind="query-params")
    for tab, make in zip(tabs, screen.tabs.values(), strict=True):
        if tab.open:
            with tab, guarded():
                show_parts(make())


def show_parts(parts: Parts) -> None:
    """Draw parts below each other."""
    for each in parts:
        _show(each)


def _show(part: Part) -> None:
    """Draw one part; files go into the Save menu."""
    match part:
        case Html():
            show_html(part)
        case Picture():
            show_picture(part)
        case Beside():
            for column, parts in zip(
                st.columns(part.widths, gap="small"), (part.left, part.right), strict=True
            ):
                with column:
                    show_parts(parts)
        case Turned():
            show_chart(part.figure(), alt=part.alt, table=part.table, key=part.name)
        case Rows(title, make, name, json):
            save_table(title, make, name) if json else save_csv(title, make, f"{name}.csv")

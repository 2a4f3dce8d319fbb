"""Pages that are drawn from their declaration alone: a form, the screen of the answer, its tabs.

What only one page needs is in `features/<slug>.py`: `below_boxes(slug)` draws buttons below the
boxes, and `TABS` has functions that draw tabs by hand, by the name of their task; they return what
a saved page has of them.
"""

from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import streamlit as st

from app.declared import Declared, Parameter, declared, tabs
from app.engine.models import Engine
from app.faces.streamlit.controls import choose, count, save_csv, save_table, switch
from app.faces.streamlit.features.why import explains, why_fold
from app.faces.streamlit.frame import Page, page_shell
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.progress import progress
from app.faces.streamlit.show import show_chart, show_html, show_picture, show_table
from app.faces.streamlit.state import text_box
from app.words.html import Html, join, tag
from app.words.pictures import Picture
from app.words.report import Block, Report
from app.words.screen import Beside, Part, Parts, Rows, Screen, Table, Turned

Values = dict[str, Any]
"""Values by the names of their parameters."""


def standard_page(slug: str) -> None:
    """Draw a page: its boxes, what its task answers, and the tab that is open.

    Args:
        slug: the page's name in the catalog.
    """
    task = declared(slug)
    with page_shell(slug) as page:
        given, more = _form(page, task), list[Block]()
        screen = None
        if task.invitation and not all(given[each.name] for each in task.typed):
            st.info(task.invitation, icon=":material/edit_note:")
        else:
            screen = _answer(page, task, given, more)
        _tabs(page, task, given, screen, more)


@cache
def _own(slug: str) -> Any:
    """Return the module with what only this page needs; None if there is none."""
    name = f"app.faces.streamlit.features.{slug}"
    return import_module(name) if find_spec(name) else None


def _answer(page: Page, task: Declared, given: Values, more: list[Block]) -> Screen:
    """Run the task and draw what is seen first; a saved page has the open tab as well."""
    assert task.screen is not None
    assert task.snippet is not None
    snippet = task.snippet
    result, model = run(page.engine, task, given), page.engine.provenance.name
    screen: Screen = task.screen(result, model, **_settings(page, task, result))
    text, pair = (str(st.session_state.get(key, "")) for key in ("text", "text_pair"))
    headline = screen.answer or tag("p", screen.headline, class_="bx-headline")
    show_html(join(*screen.first, headline))
    show_parts(screen.parts)
    if screen.why and (of := explains(task.feature.slug)):
        why_fold(page, of, text, pair)
    page.finish(
        lambda: _with(task.report(result), more),
        lambda: snippet(result, model),
        text=text,
        text_pair=pair,
    )
    return screen


def _with(report: Report, more: list[Block]) -> Report:
    """Add what is not in a report yet."""
    return replace(report, blocks=(*report.blocks, *more))


def run(engine: Engine, task: Declared, given: Values) -> Any:
    """Run a task, with a bar if it reports its progress."""
    if not task.reports_progress:
        return task.run(engine, given)
    with progress("Reading", task.steps) as told:
        return task.run(engine, given, progress=told)


def _form(page: Page, task: Declared) -> Values:
    """Draw the widgets of a task, and return their values."""
    texts = [each for each in task.parameters if each.field.lines and not each.required]
    with page.give:
        given = {each.name: _box(each, task) for each in (*task.typed, *texts)}
        if hasattr(own := _own(task.feature.slug), "below_boxes"):
            own.below_boxes(task.feature.slug)
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
    folder, own = task.feature.folder, task.example.get(key)
    text = text_box(folder, label, key=key, placeholder=hint, first=own)
    if each.kind is list:
        return each.read(text)
    return text if text.strip() or task.example else ""


def _layer(page: Page, each: Parameter) -> int:
    """Let the visitor choose a layer of the model; the last one at first."""
    last = page.engine.provenance.layers - 1
    names = {layer: str(layer) if layer >= 0 else "input" for layer in range(-1, last + 1)}
    label = each.field.label.partition(" (")[0]  # the options are named
    return choose(label, names, key=each.key, default=last)


def _settings(page: Page, task: Declared, result: object) -> Values:
    """Draw the widgets of what the screen can be given, where there is a choice."""
    offered = {each.name: each for each in task.settings if _most(each, result) > each.default}
    if not offered:
        return {}
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        return {name: _setting(each, _most(each, result)) for name, each in offered.items()}


def _most(each: Parameter, result: object) -> Any:
    """Return the highest value of a setting for this result."""
    high = True if each.kind is bool else each.field.high
    return min(high, getattr(result, each.field.most)) if each.field.most else high


def _setting(each: Parameter, most: Any) -> object:
    """Draw one of these widgets."""
    if each.kind is bool:
        return switch(each.field.label, key=each.key)
    low = int(each.field.low or 0)
    return count(each.field.label, (low, int(each.field.high or most)), key=each.key,
                 default=int(str(each.default)))  # fmt: skip


def _tabs(
    page: Page, task: Declared, given: Values, screen: Screen | None, more: list[Block]
) -> None:
    """Draw the tabs: parts of the screen, then tasks of their own; only the open one is made."""
    own = dict(screen.tabs) if screen else {}
    further = {each.feature.title: each for each in map(declared, tabs(task.feature.slug))}
    names = [*own, *further]
    if not names:
        return
    for name, tab in zip(names, st.tabs(names, key="tab", bind="query-params"), strict=True):
        if not tab.open:
            continue
        with tab, guarded():
            if name in further:
                by_hand = getattr(_own(task.feature.slug), "TABS", {})
                draw = by_hand.get(further[name].feature.slug)
                more += draw(page) if draw else _task_tab(page, further[name], given)
            elif name in own:
                show_parts(own[name]())


def _task_tab(page: Page, task: Declared, given: Values) -> list[Block]:
    """Draw a tab that is a task of its own; what the page's boxes give is not asked again."""
    assert task.screen is not None
    drawn = {each.name: _box(each, task) for each in task.parameters if each.name not in given}
    shared = {each.name: given[each.name] for each in task.parameters if each.name in given}
    result = run(page.engine, task, shared | drawn)
    screen: Screen = task.screen(result, page.engine.provenance.name)
    show_html(join(*screen.first, screen.answer or join()))
    show_parts(screen.parts)
    return list(screen.report().blocks)


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
            columns = st.columns(part.widths, gap="small")
            for column, parts in zip(columns, (part.left, part.right), strict=True):
                with column:
                    show_parts(parts)
        case Table():
            show_table(part.rows, alt=part.alt, key=part.name)
        case Turned():
            show_chart(part.figure(), alt=part.alt, table=part.table, key=part.name)
        case Rows(title, make, name, json):
            save_table(title, make, name) if json else save_csv(title, make, f"{name}.csv")

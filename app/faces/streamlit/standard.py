"""Pages that are drawn from their declaration alone: a form, the screen of the answer, its tabs.

What only one page needs is in `features/<slug>.py`, under these names:

- `form(page)` draws the page's own form; returns values of the task and the answer's place.
- `boxes()` returns the texts that are asked, if they are not what the boxes have.
- `below_boxes(slug)` draws buttons below the boxes.
- `settings(page)` draws settings of the task that depend on the model; returns them.
- `view_settings(page, result)` gives those of the screen that depend on the result.
- `start(page, result)` does what comes before the answer is drawn.
- `missing(page, result)` draws what helps where nothing was asked.
- `TABS` has functions that draw tabs by hand, by the name of their task. They get the page, the
  result, and what `view_settings` returned; like `missing` they return what a saved page has.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from app.declared import Declared, Parameter, declared, tabs, tabs_shown
from app.declared.carried import TEXT_KEYS
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import (
    choose,
    count,
    level,
    number,
    open_tab,
    pick_one,
    save_table,
    switch,
    text_line,
)
from app.faces.streamlit.features.why import explains, why_fold
from app.faces.streamlit.files import offer_file
from app.faces.streamlit.frame import Page, page_shell
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.picker import only_tabs
from app.faces.streamlit.progress import progress
from app.faces.streamlit.show import show_chart, show_html, show_picture, show_table
from app.faces.streamlit.state import put, set_text, text_box
from app.words.blocks import Html, join, line, tag, visible
from app.words.pictures import Picture
from app.words.screen import (
    Beside,
    Block,
    Choice,
    Clicks,
    Drawn,
    File,
    Part,
    Parts,
    Rows,
    Screen,
    Table,
    Turned,
)

Values = dict[str, Any]

# Opens the fold of the settings, which is there only if there is something to set.
Place = Callable[[], DeltaGenerator]


def standard_page(slug: str) -> None:
    """Draw a page: its boxes, what its task answers, and the tab that is open."""
    task = declared(slug)
    with page_shell(slug) as page:
        fold: Place = cache(
            lambda: page.settings.expander("Settings", key="set", bind="query-params")
        )
        given, place = _form(page, task, fold)
        with place:
            result = screen = None
            view: Values = {}
            if only_tabs(page.engine, slug):
                show_html(line(visible(misfits(page.engine.facts, task.feature.needs)[0].says)))
            elif task.invitation and not all(given[each.name] for each in task.typed):
                st.info(task.invitation, icon=":material/edit_note:")
            else:
                result = run(page.engine, task, given)
                view = _view(page, task, result, fold)
                screen = _answer(page, task, result, view)
        more: dict[str, list[Block]] = {}
        if screen is not None:
            _finish(page, task, result, view, screen, more)
        if screen is not None and screen.unanswered:
            with guarded():
                more[""] = _own(slug).missing(page, result)
        else:
            _tabs(page, task, given, screen, lambda draw: draw(page, result, view), more)


@cache
def _own(slug: str) -> Any:
    name = f"app.faces.streamlit.features.{slug}"
    return import_module(name) if find_spec(name) else None


def _hook(slug: str, name: str) -> Callable[..., Any] | None:
    return getattr(_own(slug), name, None)


def _answer(page: Page, task: Declared, result: Any, view: Values) -> Screen:
    slug = task.feature.slug
    screen: Screen = task.on_page(result, page.engine.provenance.name, **view)
    _take_clicks(page, screen.clicks)
    if start := _hook(slug, "start"):
        start(page, result)
    headline = screen.answer or tag("p", screen.headline, class_="bx-headline")
    show_html(join(*screen.first, headline))
    show_parts(page, screen.parts)
    if screen.why and (of := explains(slug)):
        text, pair = _boxes(slug)
        why_fold(page, of, screen.text or text, pair)
    return screen


def _finish(
    page: Page,
    task: Declared,
    result: Any,
    view: Values,
    screen: Screen,
    more: dict[str, list[Block]],
) -> None:
    """Draw the last row; a saved page has what was drawn of the open tab by hand as well."""
    assert task.snippet is not None
    make, code, name = task.screen, task.snippet, page.engine.provenance.name
    text, pair = _boxes(task.feature.slug)
    shown = {key: view[key] for key in signature(code).parameters if key in view}
    page.finish(
        lambda: _with(make(result, **view), more),
        lambda: code(result, name, **shown),
        text=text,
        text_pair=pair,
    )


def _boxes(slug: str) -> tuple[str, str]:
    if own := _hook(slug, "boxes"):
        return own()  # type: ignore[no-any-return]
    text, pair = (str(st.session_state.get(key, "")) for key in ("text", "text_pair"))
    return text, pair


def _with(screen: Screen, more: dict[str, list[Block]]) -> Screen:
    tabs = {title: partial(tuple[Part, ...], blocks) for title, blocks in more.items()}
    return replace(screen, tabs={**screen.tabs, **tabs})


def _take_clicks(page: Page, clicks: Clicks) -> None:
    page.picks.update({name: partial(_take, page, make) for name, make in clicks.items()})


def _take(page: Page, values: Callable[[int], Any], clicked: int) -> None:
    """Set the widgets that a click sets; a text that it replaces can be restored."""
    slug = page.feature.slug
    for key, value in values(clicked).items():
        if key in TEXT_KEYS:
            set_text(slug, value, key=key)
            continue
        put(slug, key, value)
        if isinstance(value, str):
            with suppress(StreamlitAPIException):  # a widget that is drawn writes its own address
                st.query_params[key] = value


def run(engine: Engine, task: Declared, given: Values) -> Any:
    """Run a task, with a bar if it reports its progress."""
    if not task.reports_progress:
        return task.run(engine, given)
    with progress("Reading", task.steps) as told:
        return task.run(engine, given, progress=told)


def _form(page: Page, task: Declared, fold: Place) -> tuple[Values, AbstractContextManager[object]]:
    slug = task.feature.slug
    place: AbstractContextManager[object] = nullcontext()
    if form := _hook(slug, "form"):
        given, place = form(page)
        return given | _settings(page, task, given, fold), place
    boxes = [each for each in task.parameters if each.required and not each.field.layer]
    boxes.sort(key=lambda each: not each.field.first)
    boxes += [each for each in task.parameters if each.field.lines > 1 and not each.required]
    layers = [each for each in task.parameters if each.field.layer]
    with page.give:
        given = {each.name: _box(each, task) for each in boxes}
        if below := _hook(slug, "below_boxes"):
            below(slug)
    if settings := _hook(slug, "settings"):
        with fold():
            given |= settings(page)
    given |= {each.name: _layer(page, each) for each in layers}
    return given | _settings(page, task, given, fold), place


def _settings(page: Page, task: Declared, given: Values, fold: Place) -> Values:
    drawn_later = {each.key for each in task.settings}
    found: Values = {}
    for each in task.parameters:
        if each.name not in given and each.key not in drawn_later:
            with fold():
                found[each.name] = _setting(each, _most(each, page.engine))
    return found


def _box(each: Parameter, task: Declared, key: str = "") -> object:
    label, hint = each.field.label, each.field.hint
    first = str(task.examples[0].values.get(each.key, ""))
    if each.field.lines == 1:
        return text_line(label, first, key=each.key, hint=hint or None)
    folder, own = task.feature.folder, first if key else task.example.get(each.key)
    text = text_box(folder, label, key=key or each.key, placeholder=hint, first=own)
    if each.kind is list:
        return each.read(text)
    return text if text.strip() or task.example else ""


def _layer(page: Page, each: Parameter) -> int:
    last = page.engine.provenance.layers - 1
    names = {layer: str(layer) if layer >= 0 else "input" for layer in range(-1, last + 1)}
    label = each.field.label.partition(" (")[0]  # the options are named
    return choose(label, names, key=each.key, default=last)


def _view(page: Page, task: Declared, result: object, fold: Place) -> Values:
    view: Values = {}
    if own := _hook(task.feature.slug, "view_settings"):
        with fold():
            view |= own(page, result)
    for each in task.settings:
        most = _most(each, result)
        if each.name not in view and most > _start(each):
            with fold():
                view[each.name] = _setting(each, most)
    return view


def _start(each: Parameter) -> Any:
    return each.default if each.field.start is None else each.field.start


def _most(each: Parameter, of: object) -> Any:
    high, most = each.field.high, each.field.most
    limit = getattr(of, most) if isinstance(most, str) and most else most or None
    ends = [value for value in (high, limit) if value is not None]
    return True if each.kind is bool else min(ends, default=0)


def _setting(each: Parameter, most: Any) -> object:
    label, key, low = each.field.label, each.key, each.field.low or 0
    if each.choices:
        names = dict(each.field.names) or {choice: choice for choice in each.choices}
        return choose(label, names, key=key, default=str(_start(each)))
    if each.kind is str:
        return text_line(label, key=key)
    if each.kind is bool:
        return switch(label, key=key, default=bool(_start(each)))
    if each.kind is float:
        step = 0.01 if most - low <= 2 else 0.5
        ends, first = (float(low), float(most)), float(_start(each))
        return level(label, ends, key=key, default=first, step=step)
    start = int(_start(each))
    if each.field.high is None:
        return number(label, (int(low), int(most)), key=key, default=start)
    fixed = each.field.high if isinstance(each.field.most, str) else most
    return count(label, (int(low), int(fixed)), key=key, default=start)


def _tabs(
    page: Page,
    task: Declared,
    given: Values,
    screen: Screen | None,
    by_hand: Callable[[Callable[..., list[Block]]], list[Block]],
    more: dict[str, list[Block]],
) -> None:
    """Draw the tabs: parts of the screen, then tasks of their own; only the open one is made."""
    own = dict(screen.tabs) if screen else {}
    slug = task.feature.slug
    every = screen is not None or only_tabs(page.engine, slug)
    more_tasks = (tabs_shown if every else tabs)(slug)
    further = {each.feature.title: each for each in map(declared, more_tasks)}
    names = [*own, *further]
    if not names:
        return
    with open_tab(task.feature.slug, names) as name, guarded():
        if name in further:
            slug = further[name].feature.slug
            draw = getattr(_own(task.feature.slug), "TABS", {}).get(slug)
            more[name] = by_hand(draw) if draw else _task_tab(page, slug, given)
        else:
            show_parts(page, own[name]())


def _task_tab(page: Page, name: str, given: Values) -> list[Block]:
    task = declared(name)
    needs = task.feature.needs if task.feature.tab_of else ()
    unfit = [
        each for each in misfits(page.engine.facts, needs) if each.severity is not Severity.REMARK
    ]
    if unfit:
        show_html(line(visible(unfit[0].says)))
        return []
    taken = {each.key for each in declared(page.feature.slug).parameters}
    drawn = {
        each.name: _box(each, task, each.name if each.key in taken else "")
        for each in task.parameters
        if each.name not in given
    }
    shared = {each.name: given[each.name] for each in task.parameters if each.name in given}
    result = run(page.engine, task, shared | drawn)
    return show_screen(page, task.on_page(result, page.engine.provenance.name))


def show_screen(page: Page, screen: Screen) -> list[Block]:
    """Draw the screen of a tab; return what a saved page has of it."""
    _take_clicks(page, screen.clicks)
    show_html(join(*screen.first, screen.answer or join()))
    show_parts(page, screen.parts)
    return list(screen.report().blocks)


def show_parts(page: Page, parts: Parts) -> None:
    """Draw parts below each other."""
    for each in parts:
        _show(page, each)


def _show(page: Page, part: Part) -> None:
    match part:
        case Html():
            show_html(part)
        case Picture():
            show_picture(part)
        case Beside():
            columns = st.columns(part.widths, gap="small")
            for column, parts in zip(columns, (part.left, part.right), strict=True):
                with column:
                    show_parts(page, parts)
        case Drawn(markup, name):
            show_markup(markup, key=name)
        case Choice():
            _choice(page, part)
        case Table():
            _table(part)
        case Turned():
            show_chart(part.figure(), alt=part.alt, table=part.table, key=part.name)
        case Rows(title, make, name, json):
            save_table(title, make, name, json=json)
        case File():
            offer_file(part.title, part.label, part.make, part.name, part.mime)


def _choice(page: Page, part: Choice) -> None:
    place = st.container() if part.above else None
    chosen = pick_one(part.label, part.options, key=part.key, index=part.start)
    if place is not None and part.above:
        with place:
            show_parts(page, part.above(chosen))
    show_parts(page, part.make(chosen))


def _table(part: Table) -> None:
    """Draw a table; one that a function makes is made when its fold is open."""
    if not callable(part.rows):
        show_table(part.rows, alt=part.alt, key=part.name, title=part.title)
        return
    with st.expander(part.title, key=f"_{part.name}_fold", on_change="rerun") as fold:
        if fold.open:
            show_table(part.rows(), alt=part.alt, key=part.name)

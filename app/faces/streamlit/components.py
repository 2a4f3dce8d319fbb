"""Custom components: our own script and style, with visitor input passed only as data.

A component's script is `assets/components/<name>.js`; components whose names begin with the
same word share one style sheet, `<word>.css`. The script is trusted and constant; visitor input
reaches it only through `data`, and the script shows it as text.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from app.settings import ASSETS, LIVE
from app.words.blocks import HINT_END
from app.words.html import Html, filled, join

_FOLDER = ASSETS / "components"
_EVENT = "pick"
_MOST = 2000  # numbers in a list
PRESENT = "present"  # the key of the presenter switch, in the session and in the address

LESSON_LINKS = "_lesson_links"  # session key: what names the lessons of the page that is drawn

_BRIDGE = "_bridge"
_PICKS = "_picks"  # the page and the functions of its last run


def show_component(
    name: str,
    data: Mapping[str, object],
    *,
    key: str,
    picks: tuple[str, ...] = (),
    several: tuple[str, ...] = (),
    then: Callable[..., None] | None = None,
    isolate: bool = True,
) -> None:
    """Mount a component.

    Args:
        name: its script, without the extension.
        data: what it draws; must survive JSON.
        key: its name on the page.
        picks: names of the whole numbers that are taken of what a visitor picks in the component.
        several: names of lists of whole numbers that are taken as well.
        then: called with these numbers, by name; without it, they become the values of the
            widgets of these names.
        isolate: whether it has a style of its own; without, the page's style reaches it.
    """
    take = then or st.session_state.update
    _component(name, isolate=isolate)(
        key=key, data=dict(data), on_pick_change=lambda: _take(key, picks, several, take)
    )


def show_markup(markup: Html, *, key: str) -> None:
    """Show markup with SVG in it, which Streamlit's own element for HTML removes."""
    show_script("markup", {"markup": with_lessons(markup).markup}, key=key)


def show_script(name: str, data: Mapping[str, object], *, key: str) -> None:
    """Mount a component that only draws, in the style of the page."""
    _component(name, isolate=False)(key=key, data=dict(data))


def with_lessons(markup: Html) -> Html:
    """Let every "?" in markup end with the lessons of the page."""
    return filled(markup, HINT_END, st.session_state.get(LESSON_LINKS, join()))


def mount_bridge(page: str, picks: dict[str, Callable[[int], None]]) -> None:
    """Mount the script that makes the site's own markup clickable; see `bridge.js`.

    A click can interrupt a run before the page has filled `picks`. It was made on what the run
    before had drawn, so it is then answered by that run's function.

    Args:
        page: the page; a change of it, or of the presenter's switch, scrolls to the top.
        picks: what to call with the number of a clicked `data-pick`, by its name; "name+" is
            called for a click with Shift, if it is there.
    """
    before, earlier = st.session_state.get(_PICKS, ("", {}))
    if before == page:
        picks |= earlier | picks
    st.session_state[_PICKS] = page, picks

    def picked() -> None:
        state = st.session_state.get(_BRIDGE)
        pick = state.get(_EVENT) if isinstance(state, Mapping) else None
        if isinstance(pick, Mapping) and type(pick.get("value")) is int:
            name = str(pick.get("name"))
            call = picks.get(name) or picks.get(name.removesuffix("+"))
            if call is not None:
                call(pick["value"])

    with st.container(key="bx-bridge"):
        data = {"page": page, "present": bool(st.session_state.get(PRESENT))}
        _component("bridge")(key=_BRIDGE, data=data, on_pick_change=picked)


def _take(
    key: str, picks: tuple[str, ...], several: tuple[str, ...], then: Callable[..., None]
) -> None:
    """Pass the picked values on.

    Data from a browser is untrusted: anything but whole numbers is dropped here, and each widget
    drops numbers that are not among its options.
    """
    state = st.session_state.get(key)
    pick = state.get(_EVENT) if isinstance(state, Mapping) else None
    if not isinstance(pick, Mapping):
        return
    numbers = {name: pick.get(name) for name in picks}
    lists = {name: pick.get(name) for name in several}
    fine = all(type(value) is int for value in numbers.values()) and all(
        isinstance(value, list) and len(value) <= _MOST and all(type(each) is int for each in value)
        for value in lists.values()
    )
    if fine and (numbers or lists):
        then(**numbers, **lists)


@lru_cache
def script(name: str) -> str:
    """Return the source of a component's script."""
    return (_FOLDER / f"{name}.js").read_text(encoding="utf-8")


@lru_cache
def _component(name: str, *, isolate: bool = True) -> ComponentRenderer:
    """Register a component once per process; without isolation the page's style reaches it."""
    sheet = f"{name.partition('_')[0]}.css"
    style = next((each / sheet for each in (_FOLDER, LIVE) if (each / sheet).is_file()), None)
    return st.components.v2.component(
        f"bert_explorer.{name}",
        css=style.read_text(encoding="utf-8") if style else None,
        js=script(name),
        isolate_styles=isolate,
    )

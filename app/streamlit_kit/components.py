"""Our own small components: a script and a style of ours, and data that is only ever data.

A component's script stands in `assets/components/<name>.js`; components whose names begin with the
same word share one style sheet, `<word>.css`. The script is trusted and constant; what a
visitor typed reaches it through `data` alone, and the script shows it as text.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from app.settings import ASSETS

_FOLDER = ASSETS / "components"
_EVENT = "pick"


def show_component(
    name: str,
    data: Mapping[str, object],
    *,
    key: str,
    on_pick: Callable[[], None] | None = None,
) -> None:
    """Mount a component.

    Args:
        name: its script, without the extension.
        data: what it draws; must survive JSON.
        key: its name on the page.
        on_pick: called after the visitor picked something; `picked` says what.
    """
    _component(name)(key=key, data=dict(data), on_pick_change=on_pick or _nothing)


def picked(key: str, *names: str) -> tuple[int, ...] | None:
    """Return the whole numbers a component sent with its last pick, None if it sent others.

    What arrives from a browser is not to be trusted: anything but the named numbers is dropped.
    """
    state = st.session_state.get(key)
    pick = state.get(_EVENT) if isinstance(state, Mapping) else None
    if not isinstance(pick, Mapping):
        return None
    values = tuple(pick.get(name) for name in names)
    whole = tuple(value for value in values if type(value) is int)
    return whole if len(whole) == len(names) else None


@lru_cache
def _component(name: str) -> ComponentRenderer:
    """Register a component once per process."""
    return st.components.v2.component(
        f"bert_explorer.{name}",
        css=(_FOLDER / f"{name.partition('_')[0]}.css").read_text(encoding="utf-8"),
        js=(_FOLDER / f"{name}.js").read_text(encoding="utf-8"),
    )


def _nothing() -> None:
    """Do nothing; Streamlit reports events only where somebody listens."""

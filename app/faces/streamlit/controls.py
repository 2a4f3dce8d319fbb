"""Widgets whose value is kept in the address under the widget's own key."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st

from app.declared import declared, tabs
from app.faces.streamlit.address import drop_infinity, named_choice, old_labels
from app.faces.streamlit.files import offer_file
from app.words.pictures import Rows, csv, listed

_OPEN = "_open_tabs"  # the title of the tab that was open last, by page
V = TypeVar("V", bound=str | int)
T = TypeVar("T")


def choose(label: str, options: Mapping[V, str], *, key: str, default: V | None = None) -> V:
    """Let the visitor choose exactly one of a few options, value -> name on the screen."""
    first = next(iter(options)) if default is None else default
    chosen: V | None = _one_of(
        options, key, first,
        lambda: st.segmented_control(
            label, list(options), format_func=lambda value: options.get(value, str(value)),
            default=first, required=True, wrap=True, key=key, persist_state="session",
        ),
    )  # fmt: skip
    return first if chosen is None else chosen  # a forged message can have none


def _one_of(options: Mapping[V, str], key: str, first: V, draw: Callable[[], T]) -> T:
    by_key = {str(value): value for value in options}
    return named_choice(key, by_key, {name: value for value, name in options.items()}, first, draw)


@contextmanager
def open_tab(page: str, titles: Sequence[str], *, key: str = "tab") -> Iterator[str]:
    """Draw tabs, and give the title of the open one, in whose place the block draws."""
    title, tab = next(each for each in draw_tabs(page, titles, key=key).items() if each[1].open)
    with tab:
        yield title


def draw_tabs(page: str, titles: Sequence[str], *, key: str = "tab") -> dict[str, Any]:
    """Draw tabs, and return them by their titles; what is drawn in a closed one stays there.

    In the address a tab has the name of its task, or the one that `assets/labels.toml` gives it.
    """
    keys = {**old_labels()[key], **{declared(task).feature.title: task for task in tabs(page)}}
    by_key = {keys.get(title, title): title for title in titles}
    labels = {title: title for title in titles}
    kept: dict[str, str] = st.session_state.setdefault(_OPEN, {})  # also while no tab is drawn
    if st.session_state.get(key) not in titles:
        st.session_state[key] = kept.get(f"{page} {key}")
    drawn = named_choice(
        key, by_key, labels, titles[0], lambda: st.tabs(titles, key=key, on_change="rerun")
    )
    kept[f"{page} {key}"] = st.session_state[key]
    return dict(zip(titles, drawn, strict=True))


def pick_one(label: str, options: Sequence[str], *, key: str, index: int = 0) -> str:
    """Let the visitor pick one of many options from a list that can be searched."""
    return st.selectbox(
        label, options, index=index, key=key, bind="query-params", persist_state="session"
    )


def pick_number(label: str, names: Mapping[int, str], *, key: str) -> int | None:
    """Let the visitor pick a layer or a head; the address has the first one, too."""
    # No option is the default: the address leaves out defaults, and 0 must be in it.
    return st.selectbox(
        label, list(names), index=None, format_func=names.__getitem__, key=key, placeholder="0",
        required=True, width=125, bind="query-params", persist_state="session",
    )  # fmt: skip


def pick_from(label: str, options: Mapping[V, str], *, key: str) -> V:
    """Let the visitor pick one of several options from a list; the first one at first."""
    return _one_of(
        options, key, next(iter(options)),
        lambda: st.selectbox(
            label, list(options), format_func=lambda value: options.get(value, str(value)),
            key=key, persist_state="session",
        ),
    )  # fmt: skip


def text_line(label: str, first: str = "", *, key: str, hint: str | None = None, **how: Any) -> str:
    """Let the visitor type one line; an empty box has the hint, and `how` goes to the box."""
    typed: str = st.text_input(
        label, first, key=key, placeholder=hint, bind="query-params", persist_state="session", **how
    )
    return typed


def switch(label: str, *, key: str, default: bool = False, hint: str | None = None) -> bool:
    """Let the visitor switch something on or off."""
    return st.toggle(
        label, value=default, key=key, help=hint, bind="query-params", persist_state="session"
    )


def level(
    label: str, ends: tuple[float, float], *, key: str, default: float, step: float = 0.01
) -> float:
    """Let the visitor set a number on a scale, in steps of a hundredth if nothing else is said."""
    return st.slider(
        label, *ends, default, step, key=key, bind="query-params", persist_state="session"
    )


def count(label: str, ends: tuple[int, int], *, key: str, default: int) -> int:
    """Let the visitor set a whole number."""
    return st.slider(label, *ends, default, key=key, bind="query-params", persist_state="session")


def number(label: str, ends: tuple[int, int], *, key: str, default: int, step: int = 1) -> int:
    """Let the visitor type a whole number of a wide range."""
    low, high = ends
    drop_infinity(key)
    if not low <= st.session_state.get(key, default) <= high:  # of another model
        st.session_state[key] = default
    return st.number_input(
        label, low, high, default, step, key=key, bind="query-params", persist_state="session"
    )


def on_demand(label: str, make: Callable[[], T], *, key: str, about: object, icon: str) -> T | None:
    """Draw a button that computes something, and return the last result.

    The result stays while the visitor does other things on the page; a new press recomputes it.
    """
    kept = f"{key}_kept"
    if st.button(label, key=key, icon=icon):
        st.session_state.pop(kept, None)
        with st.spinner("Reading and computing …", show_time=True):
            st.session_state[kept] = (about, make())
    subject, found = st.session_state.get(kept, (None, None))
    return found if subject == about else None


def save_table(title: str, make: Callable[[], Rows], name: str, *, json: bool = True) -> None:
    """Put a table as CSV and as JSON into the Save menu."""
    offer_file(title, "CSV", lambda: csv(listed(make())), f"{name}.csv", "text/csv")
    if json:
        offer_file(
            title, "JSON", lambda: listed(make()).to_json(orient="records", indent=1).encode(),
            f"{name}.json", "application/json",
        )  # fmt: skip

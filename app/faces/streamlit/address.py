"""What an address asks of a page, and what of it is not possible there.

There is one rule for all values: one that is not a number, out of range, or not among the options
falls back to the usual value, and the page says so in one line. Streamlit, to whose widgets the
parameters are bound, does the first half without a word. So when the widgets are drawn, what the
address asked for is compared with what they show. What a page reads from the address itself
reports to `left_out`.

Streamlit would write the label of a choice. So choices are not bound: `named_choice` reads and
writes them by keys, which stay when a label changes.
"""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.compat.streamlit import (
    by_history,
    drop_parameter,
    first_parameter,
    is_bound,
    is_drawn,
    shown,
)
from app.settings import ASSETS
from app.words.html import plain

_ASKED = "_asked"  # parameter -> values that no widget has shown yet
_LEFT_OUT = "_left_out"  # parameter -> the values that were asked for, and what is shown instead
_CHOICES = "_choices"  # parameters of the choices that were drawn since the page was opened
_SHOWN = 40  # characters of a value
_LABELS = ASSETS / "labels.toml"
# Parameters that a page once had; links with them open it, and the page says so.
RETIRED: Mapping[str, tuple[str, ...]] = {
    "attention": (
        *("beside", "by", "file", "floor", "heads", "how", "log", "part", "renormalise", "scale"),
        *("tab", "top"),
    ),
    "xray": ("beside", "other", "site"),
    "variants": ("tab",),
    "atlas": ("colour", "tab"),
    "tokenizer": ("common",),
    "why": ("baseline", "operator"),
    "ner": ("least", "only"),
    "classification": ("k",),
}

Values = Sequence[str]
T = TypeVar("T")
V = TypeVar("V")


def read_address(skip: Sequence[str]) -> None:
    """Remember what the address asks for; call this when a page is opened, before its widgets."""
    asked = {key: st.query_params.get_all(key) for key in st.query_params if key not in skip}
    st.session_state[_ASKED] = {key: values for key, values in asked.items() if any(values)}
    st.session_state[_LEFT_OUT], st.session_state[_CHOICES] = {}, set()


def left_out(key: str, impossible: Values | None = None) -> None:
    """Report a parameter that the page reads itself and cannot use; it leaves the address.

    Args:
        key: the parameter.
        impossible: the part of its value that cannot be used, if the rest can, and stays.
    """
    values = st.session_state.get(_ASKED, {}).pop(key, None)
    if values is not None:
        st.session_state[_LEFT_OUT][key] = impossible or values, None
        if impossible is None:
            st.query_params.pop(key, None)


def say_left_out(place: DeltaGenerator, slug: str = "") -> None:
    """Say what of the address is not possible; call this when all widgets are drawn.

    The line stays until the visitor changes what it is about, or leaves the page.
    """
    for key in RETIRED.get(slug, ()):
        left_out(key)
    asked, gone = st.session_state.get(_ASKED, {}), st.session_state.get(_LEFT_OUT, {})
    for key in [key for key in st.session_state.get(_CHOICES, ()) if not is_drawn(key)]:
        st.query_params.pop(key, None)
    for key in [key for key in asked if is_bound(key)]:
        values, now = asked.pop(key), shown(key)
        if impossible := [each for each in values if not _among(each, now)]:
            gone[key] = impossible, now
    for key in [key for key in gone if is_bound(key) and gone[key][1] != shown(key)]:
        del gone[key]
    if gone:
        parts = [
            f"{key}={value[:_SHOWN]}{'…' if len(value) > _SHOWN else ''}"
            for key, (values, _) in gone.items()
            for value in values
        ]
        place.caption(
            ":material/link_off: Left out of the address, because it is not possible here: "
            f"{plain(', '.join(parts))}{_instead(gone)}"
        )


def _instead(gone: Mapping[str, tuple[Values, object]]) -> str:
    asked, _ = gone.get("tab", (("",), None))
    name = asked[-1]
    says = old_labels()["gone"].get(old_labels()["tab"].get(name, name))
    return f". {says}" if says else ""


@cache
def old_labels() -> Mapping[str, Mapping[str, str]]:
    """Return what labels once stood for in addresses: parameter -> label -> key."""
    return tomllib.loads(_LABELS.read_text(encoding="utf-8"))


def named_choice(
    key: str, by_key: Mapping[str, V], labels: Mapping[str, V], first: V, draw: Callable[[], T]
) -> T:
    """Draw a choice that the address names by the key of what is chosen.

    Args:
        key: the parameter, and the widget.
        by_key: what can be chosen.
        labels: the same by its labels, which addresses had once; see also `old_labels`.
        first: what is chosen if the address names nothing, and left out of it.
        draw: draws the widget.
    """
    state = st.session_state
    asked = state.get(_ASKED, {}).get(key)
    named = None if asked is None else _named(key, asked[-1], by_key, labels)
    if asked is not None and named is None:
        left_out(key)
        state[_LEFT_OUT][key] = asked, first
    elif asked is not None:
        del state[_ASKED][key]
    if named is not None:
        state[key] = named
    elif asked or by_history() or state.get(key, first) not in by_key.values():
        state[key] = first  # also if it was chosen for another model, or on another page
    drawn = draw()
    _write(key, state[key], by_key, first)
    return drawn


def _named(key: str, name: str, by_key: Mapping[str, V], labels: Mapping[str, V]) -> V | None:
    old = old_labels().get(key, {}).get(name, "")
    return by_key.get(name, labels.get(name, by_key.get(old)))


def _write(key: str, chosen: V, by_key: Mapping[str, V], first: V) -> None:
    """Write what was chosen into the address; the parameter goes when the widget does."""
    st.session_state.setdefault(_CHOICES, set()).add(key)
    gone = st.session_state.get(_LEFT_OUT, {})
    if key in gone and gone[key][1] != chosen:
        del gone[key]
    name = next((name for name, each in by_key.items() if each == chosen != first), None)
    if name is None:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != name:
        st.query_params[key] = name


def write_parameter(key: str, value: str) -> None:
    """Put a value into the address; "" takes the parameter out."""
    if value:
        st.query_params[key] = value
    else:
        st.query_params.pop(key, None)


def drop_infinity(key: str) -> None:
    """Remove an infinite number from the address, which Streamlit would try to round."""
    with suppress(ValueError):
        if math.isinf(float(first_parameter(key))):
            drop_parameter(key)


def _among(given: str, shown: Values) -> bool:
    """Return whether a value is shown, however it is written.

    >>> _among("5", ["5.0"]), _among("TRUE", ["True"]), _among("1e400", ["5.0"]), _among("", ["0"])
    (True, True, False, True)
    """
    if not given or given.lower() in (each.lower() for each in shown):
        return True
    with suppress(ValueError):
        return any(float(given) == float(each) for each in shown)
    return False

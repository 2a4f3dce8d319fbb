"""The lab's widgets: settings, prediction, buttons."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import Example, examples
from app.faces.streamlit import guarded, show_html
from app.faces.streamlit.address import left_out
from app.faces.streamlit.controls import switch
from app.faces.streamlit.state import opened_by
from app.faces.streamlit.visitor import visitor_name
from app.features.lab.result import LabResult, State
from app.features.lab.result_settings import CHOICES, OWN, LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_lab import LABS, Lab, allowed
from app.features.lab.task_recorded import recorded
from app.features.lab.view_exercises import phenomena
from app.features.lab.view_words import (
    CORPORA,
    LABELS,
    choices,
    learnable,
    question,
    shown,
)
from app.words.blocks import line, note
from app.words.html import plain
from bert_core.errors import InputError

SLUG = "lab"
RUN, LINK = "run", "watch"
"""The key of a lab, and that of a link to another visitor's, in the address."""

_SETTINGS, _KEY, GUESS, PLAY = "_lab_settings", "_lab_key", "_lab_guess", "_lab_play"
_WIDGET = "_lab_set_"
_WHAT = "_lab_what"
LOOK, WATCHING = "moment", "_lab_watching"
_ALWAYS = ("corpus", "seed", "steps")  # not a change of what is tried
_AS_THEY_ARE = -1


# -- settings --------------------------------------------------------------------------------------


def read_settings() -> LabSettings:
    """Return the settings: those of the address, or of the last visit."""
    named = {each.name for each in fields(LabSettings)} & st.query_params.to_dict().keys()
    by = opened_by()
    if by == "address" or (by == "visit" and named) or _SETTINGS not in st.session_state:
        st.session_state[_KEY] = st.query_params.get(RUN, "")
        try:
            st.session_state[_SETTINGS] = LabSettings.from_link(st.query_params.to_dict())
        except InputError as error:
            st.session_state[_SETTINGS] = LabSettings()
            st.warning(plain(str(error)), icon=":material/edit:")
    settings: LabSettings = st.session_state[_SETTINGS]
    return settings


def write_address(settings: LabSettings) -> None:
    """Put the settings and the visitor's lab into the address, or the link to another one's."""
    key, link = (st.session_state.get(name, "") for name in (_KEY, WATCHING))
    wanted = {LINK: link} if link else settings.link() | ({RUN: key} if key else {})
    for name in (LINK, RUN, *(each.name for each in fields(settings))):
        if name in wanted and st.query_params.get(name) != wanted[name]:
            st.query_params[name] = wanted[name]
        elif name not in wanted and name in st.query_params:
            del st.query_params[name]


def main_settings(settings: LabSettings) -> str:
    """Draw the text to train on and the change to try; return the visitor's own text."""
    _widget("corpus", settings, st.segmented_control, CORPORA, required=True)
    text = _own_text() if settings.corpus == OWN else ""
    rows = _changes(settings)
    now = _change(settings, rows)
    st.session_state[_WHAT] = now
    options = list(range(len(rows))) + ([now] if now == _AS_THEY_ARE else [])
    st.selectbox(
        "What if …",
        options,
        format_func=lambda n: "the settings below" if n == _AS_THEY_ARE else rows[n].label,
        key=_WHAT,
        on_change=_what_if,
    )
    if now != _AS_THEY_ARE:
        show_html(line(rows[now].note))
    if now:
        switch("Beside the run without the change", key="beside")
    return text


def all_settings(settings: LabSettings) -> None:
    """Draw every setting; by default a change resets the others."""
    switch("Predict first", key="predict", default=True)
    if not allowed():
        return
    switch("Change several settings at once", key="several")
    for name in (*CHOICES, *(each.name for each in fields(settings) if each.name not in CHOICES)):
        if name == "corpus":
            continue
        if name in CHOICES:
            _widget(name, settings, st.selectbox, sorted(CHOICES[name]))
        else:
            _widget(name, settings, st.toggle)


def _widget(name: str, settings: LabSettings, draw: Any, options: Any = None, **more: Any) -> None:
    """Draw the widget of one setting, which shows the settings and changes them."""
    key = _WIDGET + name
    st.session_state[key] = getattr(settings, name)
    if options is not None:
        more |= {"options": list(options), "format_func": lambda value: shown(name, value)}
    draw(LABELS[name], key=key, on_change=_changed, args=(name,), **more)


def _changed(name: str) -> None:
    """Take a widget's value into the settings."""
    value = st.session_state[_WIDGET + name]
    settings: LabSettings = st.session_state[_SETTINGS]
    if not st.session_state.get("several") and (name not in _ALWAYS or name == "corpus"):
        settings = usual_of(settings)
    if value is not None:
        _set(replace(settings, **{name: value}))


def _what_if() -> None:
    """Take the chosen change into the settings."""
    settings: LabSettings = st.session_state[_SETTINGS]
    number = st.session_state[_WHAT]
    if number != _AS_THEY_ARE:
        values: Any = _changes(settings)[number].values
        _set(replace(usual_of(settings), **{n: v for n, v in values.items() if n not in _ALWAYS}))


def _set(settings: LabSettings) -> None:
    """Change the settings; a prediction made for others is dropped."""
    st.session_state[_SETTINGS] = settings
    st.session_state.pop(GUESS, None)
    st.session_state.pop(PLAY, None)


def take_settings(settings: LabSettings) -> None:
    """Put settings into the page, to be started there; for a callback."""
    st.session_state["several"] = True  # it changes more than one
    _set(settings)


def usual_of(settings: LabSettings) -> LabSettings:
    """Return the same run without a change."""
    return LabSettings(**{name: getattr(settings, name) for name in _ALWAYS})


def _changes(settings: LabSettings) -> list[Example]:
    """Return the changes to choose from; where training is off, those that are recorded."""
    found = [each for each in examples(SLUG) if each.values.get("corpus", "grammar") == "grammar"]
    if allowed():
        return found
    return [each for each in found if recorded(_with(settings, each)) is not None]


def _change(settings: LabSettings, rows: Sequence[Example]) -> int:
    """Return which of the changes the settings are; -1 for none of them."""
    for number, each in enumerate(rows):
        if _with(settings, each) == settings:
            return number
    return _AS_THEY_ARE


def _with(settings: LabSettings, example: Example) -> LabSettings:
    values: Any = {name: value for name, value in example.values.items() if name not in _ALWAYS}
    return replace(usual_of(settings), **values)


def _own_text() -> str:
    """Draw the box for the visitor's own text, which is kept in this page's session alone."""
    show_html(
        note(
            "Paste nothing private. Text and model stay in this server’s memory, for you alone, "
            "never on its disk. In a minute of training the model learns little from "
            "ordinary prose; several thousand short sentences work best.",
            caution=True,
        )
    )
    return str(
        st.text_area("Your own text", key="own_text", height=140, persist_state="session",
                     placeholder="At least 20 sentences")
    )  # fmt: skip


# -- prediction and buttons ------------------------------------------------------------------------


WATCH = "Just watch"


@st.dialog("Predict first")
def ask_first(settings: LabSettings, text: str, *, play: bool) -> None:
    """Ask what will happen; the choice starts the run, or the recorded one.

    Args:
        settings: of the run.
        text: the visitor's own text.
        play: whether to play the recorded run instead of training.
    """
    ask(settings, lambda guess: _go(settings, text, guess, play=play))


def ask(settings: LabSettings, then: Callable[[str], None]) -> None:
    """Ask what will come of a run, and pass on the choice."""
    usual = recorded(LabSettings(corpus=settings.corpus))
    names = learnable(usual) if usual else ("frequent words", "other words")
    if usual:
        show_html(phenomena(corpus_of(LabSettings(corpus=settings.corpus)).phenomena))
    st.write(question(settings))
    with guarded():
        for guess in (*choices(settings, names), WATCH):
            if st.button(guess, key=f"_guess_{guess}", width="stretch"):
                then(guess)


def find_lab() -> Lab | None:
    """Return the visitor's lab, or the one of the link."""
    key = st.session_state.get(_KEY, "")
    found = LABS.find(key, visitor_name()) if key else None
    if key and found is None:
        st.session_state[_KEY] = ""
        left_out(RUN)
    if found is not None and found.owner == visitor_name():
        take_up(found)
    return found


def take_up(lab: Lab) -> None:
    """Let a lab go on that was stopped because no one was looking."""
    if lab.left:
        with suppress(InputError):  # the line is full; the button stays
            LABS.resume(lab)


def buttons(settings: LabSettings, text: str, lab: Lab | None) -> DeltaGenerator:
    """Draw what can be done now: start, pause, resume, stop, play a recorded run.

    Returns:
        The row of buttons, for more.
    """
    state = None if lab is None else LABS.ask(lab).state
    mine = lab is not None and lab.owner == visitor_name()
    active = state in {State.WAITING, State.RUNNING}
    row = st.container(horizontal=True, gap="small", key="bx-lab-buttons")
    with row:
        if lab is not None and mine and active:
            st.button("Pause", icon=":material/pause:", on_click=LABS.pause, args=(lab,))
            st.button("Stop", icon=":material/stop:", on_click=LABS.stop, args=(lab,))
        elif allowed():
            if lab is not None and mine and state in {State.PAUSED, State.STOPPED}:
                _resume(lab)
                st.button("One step", icon=":material/skip_next:", on_click=LABS.step, args=(lab,))
            if st.button("Start", type="primary", icon=":material/play_arrow:"):
                _ask_or_go(settings, text, play=False)
        if state is not State.RUNNING and recordings(settings):
            kind: Literal["primary", "secondary"] = "secondary" if allowed() else "primary"
            if st.button("Play a recorded run", type=kind, icon=":material/replay:"):
                _ask_or_go(settings, text, play=True)
    if not allowed():
        none = "" if recordings(settings) else " There is none with these settings."
        show_html(line(f"This server trains nothing; it plays recorded runs.{none}"))
    return row


def _ask_or_go(settings: LabSettings, text: str, *, play: bool) -> None:
    """Start, or ask for a prediction first."""
    if asks():
        ask_first(settings, text, play=play)
    else:
        _go(settings, text, "", play=play)


def asks() -> bool:
    """Return whether the visitor is to predict before anything is shown."""
    return bool(st.session_state.get("predict", st.query_params.get("predict") != "false"))


def _go(settings: LabSettings, text: str, guess: str, *, play: bool) -> None:
    """Start a lab with these settings, or play the recorded run."""
    if play:
        _play()
    else:
        _start(settings, text)
    st.session_state[GUESS] = guess
    st.session_state.pop(LOOK, None)
    st.rerun()


def _resume(lab: Lab) -> None:
    """Offer to go on training."""
    if st.button("Resume", icon=":material/play_arrow:"):
        LABS.resume(lab)
        st.rerun()


def _start(settings: LabSettings, text: str) -> None:
    """Start a lab with these settings, beside the run without the change if that is wanted."""
    wanted = [settings]
    if st.session_state.get("beside") and settings != usual_of(settings):
        wanted = [usual_of(settings), settings]
    show_lab(LABS.start(wanted, owner=visitor_name(), text=text))


def show_lab(lab: Lab) -> None:
    """Show a lab from its beginning; what belongs to another one is dropped."""
    st.session_state[_KEY] = lab.key
    for each in (PLAY, LOOK, GUESS):
        st.session_state.pop(each, None)


def _play() -> None:
    """Play the recorded run; a lab that waits keeps its place."""
    st.session_state[PLAY] = time.monotonic()
    lab = find_lab()
    if lab is not None and LABS.ask(lab).state is not State.WAITING:
        st.session_state[_KEY] = ""


def recordings(settings: LabSettings) -> tuple[LabResult, ...]:
    """Return the recorded run, beside that without the change if that is wanted."""
    run, usual = recorded(settings), recorded(usual_of(settings))
    if run is None:
        return ()
    beside = st.session_state.get("beside") and settings != usual_of(settings)
    return (usual, run) if beside and usual is not None else (run,)

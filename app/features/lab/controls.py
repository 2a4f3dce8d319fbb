"""The lab's widgets: settings, prediction, buttons, and the pictures that follow a run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import streamlit as st

from app.catalog import Example, examples
from app.features.lab import view
from app.features.lab.result import LabResult, Point, State, Status
from app.features.lab.result_settings import CHOICES, OWN, LabSettings
from app.features.lab.task_lab import LABS, Lab, allowed
from app.features.lab.task_recorded import recorded
from app.features.lab.view_curves import accuracies, losses
from app.features.lab.view_inside import attention, vectors
from app.features.lab.view_words import (
    CORPORA,
    LABELS,
    choices,
    learnable,
    named,
    outcome,
    pair_names,
    question,
    shown,
)
from app.streamlit_kit import guarded, show_html, show_picture
from app.streamlit_kit.controls import choose, switch
from app.streamlit_kit.progress import waiting_line
from app.streamlit_kit.state import opened_by_address
from app.streamlit_kit.visitor import visitor_name
from app.words.blocks import line, note
from app.words.html import Html, join, plain
from app.words.pictures import Picture
from bert_core.errors import InputError

SLUG = "lab"
EVERY = 0.5  # seconds between two pictures
RUN = "run"
"""The key of a lab, in the address."""

_SETTINGS, _KEY, _GUESS, _PLAY = "_lab_settings", "_lab_key", "_lab_guess", "_lab_play"
_WIDGET = "_lab_set_"
_WHAT = "_lab_what"
_LOOK = "_lab_look"
_ALWAYS = ("corpus", "seed", "steps")  # not a change of what is tried
_AS_THEY_ARE = -1


@dataclass(frozen=True, slots=True)
class Scene:
    """What the page shows at one moment.

    Attributes:
        runs: so far; one, two, or none if there is nothing to show.
        status: of the visitor's lab; None if there is none.
        name: of what is shown.
        moving: whether there will be more to see.
        live: whether the runs are those of the visitor's lab, not recorded.
    """

    runs: tuple[LabResult, ...]
    status: Status | None
    name: str
    moving: bool
    live: bool = False

    @property
    def stage(self) -> tuple[object, ...]:
        """What the rest of the page depends on."""
        state = None if self.status is None else self.status.state
        return state, len(self.runs), self.moving, self.live


# -- settings --------------------------------------------------------------------------------------


def read_settings() -> LabSettings:
    """Return the settings: those of the address, or of the last visit."""
    if opened_by_address() or _SETTINGS not in st.session_state:
        st.session_state[_KEY] = st.query_params.get(RUN, "")
        try:
            st.session_state[_SETTINGS] = LabSettings.from_link(st.query_params.to_dict())
        except InputError as error:
            st.session_state[_SETTINGS] = LabSettings()
            st.warning(plain(str(error)), icon=":material/edit:")
    settings: LabSettings = st.session_state[_SETTINGS]
    return settings


def write_address(settings: LabSettings) -> None:
    """Put the settings and the visitor's lab into the address."""
    key = st.session_state.get(_KEY, "")
    wanted = settings.link() | ({RUN: key} if key else {})
    for name in (RUN, *(each.name for each in fields(settings))):
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
        settings = _usual(settings)
    if value is not None:
        _set(replace(settings, **{name: value}))


def _what_if() -> None:
    """Take the chosen change into the settings."""
    settings: LabSettings = st.session_state[_SETTINGS]
    number = st.session_state[_WHAT]
    if number != _AS_THEY_ARE:
        values: Any = _changes(settings)[number].values
        _set(replace(_usual(settings), **{n: v for n, v in values.items() if n not in _ALWAYS}))


def _set(settings: LabSettings) -> None:
    """Change the settings; a prediction made for others is dropped."""
    st.session_state[_SETTINGS] = settings
    st.session_state.pop(_GUESS, None)
    st.session_state.pop(_PLAY, None)


def _usual(settings: LabSettings) -> LabSettings:
    """Return the same run without a change."""
    return LabSettings(**{name: getattr(settings, name) for name in _ALWAYS})


def _changes(settings: LabSettings) -> list[Example]:
    """Return the changes to choose from; where nobody trains, those that are recorded."""
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
    return replace(_usual(settings), **values)


def _own_text() -> str:
    """Draw the box for the visitor's own text, which is kept in this page's session alone."""
    show_html(
        note(
            "Paste nothing private. Text and model stay in this server’s memory, for you alone, "
            "never on its disk. A minute of training learns little of a free text; several "
            "thousand short sentences work best.",
            caution=True,
        )
    )
    return str(
        st.text_area("Your own text", key="own_text", height=140, persist_state="session",
                     placeholder="At least 20 sentences")
    )  # fmt: skip


# -- prediction and buttons ------------------------------------------------------------------------


_WATCH = "I only watch"


@st.dialog("Predict first")
def ask_first(settings: LabSettings, text: str, *, play: bool) -> None:
    """Ask what will happen; the choice starts the run, or the recorded one.

    Args:
        settings: of the run.
        text: the visitor's own text.
        play: whether to play the recorded run instead of training.
    """
    usual = recorded(LabSettings(corpus=settings.corpus))
    names = learnable(usual) if usual else ("frequent words", "other words")
    st.write(question(settings))
    with guarded():
        for guess in (*choices(settings, names), _WATCH):
            if st.button(guess, key=f"_guess_{guess}", width="stretch"):
                _go(settings, text, guess, play=play)


def find_lab() -> Lab | None:
    """Return the visitor's lab, or the one of the link."""
    key = st.session_state.get(_KEY, "")
    return LABS.find(key, visitor_name()) if key else None


def buttons(settings: LabSettings, text: str, lab: Lab | None) -> None:
    """Draw what can be done now: start, pause, resume, stop, play a recorded run."""
    state = None if lab is None else LABS.ask(lab).state
    mine = lab is not None and lab.owner == visitor_name()
    active = state in {State.WAITING, State.RUNNING}
    with st.container(horizontal=True, gap="small", key="bx-lab-buttons"):
        if lab is not None and mine and active:
            st.button("Pause", icon=":material/pause:", on_click=LABS.pause, args=(lab,))
            st.button("Stop", icon=":material/stop:", on_click=LABS.stop, args=(lab,))
        elif allowed():
            if lab is not None and mine and state in {State.PAUSED, State.STOPPED}:
                _resume(lab)
            if st.button("Start", type="primary", icon=":material/play_arrow:"):
                _ask_or_go(settings, text, play=False)
        if state is not State.RUNNING and _recordings(settings):
            kind: Literal["primary", "secondary"] = "secondary" if allowed() else "primary"
            if st.button("Play a recorded run", type=kind, icon=":material/replay:"):
                _ask_or_go(settings, text, play=True)


def _ask_or_go(settings: LabSettings, text: str, *, play: bool) -> None:
    """Start, or ask for a prediction first."""
    if _asks():
        ask_first(settings, text, play=play)
    else:
        _go(settings, text, "", play=play)


def _asks() -> bool:
    """Return whether the visitor is to predict before anything is shown."""
    return bool(st.session_state.get("predict", st.query_params.get("predict") != "false"))


def _go(settings: LabSettings, text: str, guess: str, *, play: bool) -> None:
    """Start a lab with these settings, or play the recorded run."""
    if play:
        _play()
    else:
        _start(settings, text)
    st.session_state[_GUESS] = guess
    st.session_state.pop(_LOOK, None)
    st.rerun()


def _resume(lab: Lab) -> None:
    """Offer to go on training."""
    if st.button("Resume", icon=":material/play_arrow:"):
        LABS.resume(lab)
        st.rerun()


def _start(settings: LabSettings, text: str) -> None:
    """Start a lab with these settings, beside the run without the change if that is wanted."""
    wanted = [settings]
    if st.session_state.get("beside") and settings != _usual(settings):
        wanted = [_usual(settings), settings]
    lab = LABS.start(wanted, owner=visitor_name(), text=text)
    st.session_state[_KEY] = lab.key
    st.session_state.pop(_PLAY, None)


def _play() -> None:
    """Play the recorded run; a lab that waits keeps its place."""
    st.session_state[_PLAY] = time.monotonic()
    lab = find_lab()
    if lab is not None and LABS.ask(lab).state is not State.WAITING:
        st.session_state[_KEY] = ""


# -- what is shown ---------------------------------------------------------------------------------


def scene(settings: LabSettings, lab: Lab | None) -> Scene:
    """Return what the page shows now; asking keeps the visitor's lab going."""
    if lab is not None:
        status = LABS.ask(lab)
        runs = tuple(run.result() for run in lab.runs if run.prepared and run.points)
        moving = status.state in {State.WAITING, State.RUNNING}
        if runs or not moving:
            name = _name([run.settings for run in lab.runs])
            return Scene(runs, status, name, moving, live=True)
        return replace(_played(settings), status=status, moving=True)
    runs = _recordings(settings)
    if runs and not _asks() and _PLAY not in st.session_state:  # there is nothing to give away
        return Scene(runs, None, _name([run.start.settings for run in runs]), moving=False)
    return _played(settings)


def _name(runs: Sequence[LabSettings]) -> str:
    return " | ".join(pair_names(*runs) if len(runs) == 2 else map(named, runs))


def _played(settings: LabSettings) -> Scene:
    """Return the recorded run as far as it has been played; at first, a model not trained yet."""
    runs = _recordings(settings)
    name = _name([run.start.settings for run in runs])
    began = st.session_state.get(_PLAY)
    if runs and began is not None:
        shown_ = 1 + int((time.monotonic() - began) / EVERY)
        steps = [point.step for point in runs[-1].points]
        moving = shown_ < len(steps)
        if moving:
            runs = tuple(run.until(steps[shown_ - 1]) for run in runs)
        return Scene(runs, None, name, moving)
    runs = runs or tuple(
        run for run in [recorded(LabSettings(corpus=settings.corpus))] if run is not None
    )
    return Scene(tuple(run.until(0) for run in runs), None, "", moving=False)


def _recordings(settings: LabSettings) -> tuple[LabResult, ...]:
    """Return the recorded run, beside that without the change if that is wanted."""
    run, usual = recorded(settings), recorded(_usual(settings))
    if run is None:
        return ()
    beside = st.session_state.get("beside") and settings != _usual(settings)
    return (usual, run) if beside and usual is not None else (run,)


def follow(settings: LabSettings, lab: Lab | None, drawn: Scene) -> None:
    """Draw the run, again and again while there is more to see."""
    every = EVERY if drawn.moving else None

    def again() -> None:
        with guarded(), waiting_line():
            now = scene(settings, lab)
            if now.stage != drawn.stage:
                st.rerun()
            _draw(now)

    st.fragment(again, run_every=every)()


def looked_at(run: LabResult) -> Point:
    """Return the moment that the visitor looks at: the newest, or one that was chosen."""
    step = st.session_state.get(_LOOK)
    if step is None or step >= run.points[-1].step:
        return run.points[-1]
    return run.at(step)


def _draw(now: Scene) -> None:
    """Draw everything that changes while a run goes on."""
    trained = bool(now.name)
    with st.container(key="bx-lab-live", gap="small"):
        where, back = st.columns([2, 1], gap="medium") if trained else [st.container()] * 2
        with where:
            show_html(join(view.pictures_hint(), _where(now)))
        if not now.runs:
            return
        run = now.runs[-1]
        point = looked_at(run)
        at = None if point is run.points[-1] else point.step
        with where:
            show_html(view.progress(run, point))
        if trained:
            with back:
                _look_back(run)
        names = _names(now.runs)
        left, right = st.columns(2, gap="small")
        with left:
            _show(losses(now.runs, names, at))
        with right:
            _show(accuracies(now.runs, names, at))
        if trained:
            _inside(now, names, point)
        else:
            show_html(view.gaps(run, point))


def _names(runs: Sequence[LabResult]) -> Sequence[str]:
    """Name the runs by what differs between them."""
    return pair_names(*(run.start.settings for run in runs)) if len(runs) == 2 else [""]


def _show(drawn: Picture) -> None:
    """Show a picture beside another one: the drawing for narrow places suits any screen."""
    show_picture(replace(drawn, wide=drawn.narrow))


def _where(now: Scene) -> Html:
    """Say what is shown and where the visitor's lab is."""
    shows = view.recorded_state(now.name) if now.name else view.not_trained()
    if now.status is None:
        return shows
    if now.live:
        return view.state(now.status, now.name)
    return join(view.state(now.status, ""), shows)


def _inside(now: Scene, names: Sequence[str], point: Point) -> None:
    """Draw the gaps, the attention and the word vectors of one run."""
    run = now.runs[-1]
    if len(now.runs) == 2:
        number = choose("Inside of", dict(enumerate(names)), key="which", default=1)
        run = now.runs[number]
        point = run.at(point.step)
    gaps, heads, words = st.columns([6, 5, 5], gap="small")
    with gaps:
        show_html(view.gaps(run, point))
    with heads:
        layer, head = _head(run)
        show_picture(attention(run, point, layer, head))
    with words:
        show_picture(vectors(run, point))


def _look_back(run: LabResult) -> None:
    """Let the visitor look at one of the saved states; what is not reached yet is the newest."""
    steps = run.start.settings.steps
    options = [round(number * steps / 19) for number in range(20)]
    if st.session_state.get(_LOOK, steps) not in options:
        del st.session_state[_LOOK]
    st.select_slider("Look back to step", options, value=steps, key=_LOOK)


def _head(run: LabResult) -> tuple[int, int]:
    """Let the visitor choose a head; layers and heads count from 0."""
    settings = run.start.settings
    heads = [(layer, head) for layer in range(settings.layers) for head in range(settings.heads)]
    key = "_lab_head"
    if st.session_state.get(key, heads[0]) not in heads:
        del st.session_state[key]
    found: tuple[int, int] = st.selectbox(
        "Attention of",
        heads,
        index=heads.index(view.last_head(run)),
        format_func=lambda each: f"layer {each[0]}, head {each[1]}",
        key=key,
        label_visibility="collapsed",
    )
    return found


def show_prediction(drawn: Scene) -> None:
    """Repeat the prediction, and say how it came out when the run is at its end."""
    guess = st.session_state.get(_GUESS)
    if guess in {None, "", _WATCH} or not drawn.runs:
        return
    run = drawn.runs[-1]
    over = not drawn.moving and run.points[-1].step == run.start.settings.steps
    if not over and not run.diverged:
        show_html(view.predicted(str(guess)))
        return
    before = _usual(run.start.settings)
    usual = next((each for each in drawn.runs if each.start.settings == before), recorded(before))
    show_html(view.verdict(str(guess), outcome(run, usual)))

"""The lab's pictures, which follow a run while there is more to see."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from app.faces.streamlit import guarded, show_html, show_picture
from app.faces.streamlit.address import named_choice
from app.faces.streamlit.controls import choose
from app.faces.streamlit.features.lab import (
    GUESS,
    LOOK,
    PLAY,
    WATCH,
    WATCHING,
    asks,
    recordings,
    usual_of,
)
from app.faces.streamlit.features.lab_watch import is_over
from app.faces.streamlit.progress import waiting_line
from app.features.lab import view
from app.features.lab.result import LabResult, Point, State, Status
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_lab import LABS, Lab
from app.features.lab.task_recorded import recorded
from app.features.lab.view_curves import accuracies, losses
from app.features.lab.view_inside import attention, vectors
from app.features.lab.view_words import named, outcome, pair_names
from app.words.html import Html, join
from app.words.pictures import Picture

EVERY = 0.5
"""Seconds between two pictures."""

_RARER = 4  # how many times as long for each of those who watch another visitor's run


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
    runs = recordings(settings)
    if runs and not asks() and PLAY not in st.session_state:  # there is nothing to give away
        return Scene(runs, None, _name([run.start.settings for run in runs]), moving=False)
    return _played(settings)


def _name(runs: Sequence[LabSettings]) -> str:
    return " | ".join(pair_names(*runs) if len(runs) == 2 else map(named, runs))


def _played(settings: LabSettings) -> Scene:
    """Return the recorded run as far as it has been played; at first, a model not trained yet."""
    runs = recordings(settings)
    name = _name([run.start.settings for run in runs])
    began = st.session_state.get(PLAY)
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


def follow(settings: LabSettings, lab: Lab | None, drawn: Scene) -> None:
    """Draw the run, again and again while there is more to see."""
    before = drawn.stage, chosen_step(drawn)

    def again() -> None:
        with guarded(), waiting_line():
            if lab is not None and is_over(lab):
                st.rerun()
            now = scene(settings, lab)
            if (now.stage, chosen_step(now)) != before:
                st.rerun()  # the rest of the page depends on it
            _draw(now)

    every = EVERY * _RARER if st.session_state.get(WATCHING) else EVERY
    st.fragment(again, run_every=every if drawn.moving else None)()


def chosen_step(now: Scene) -> int | None:
    """Return the saved step that the visitor looks back to; None for the newest moment."""
    step: int | None = st.session_state.get(LOOK)
    newest = now.runs[-1].points[-1].step if now.runs else 0
    return None if step is None or step >= newest else step


def _draw(now: Scene) -> None:
    """Draw everything that changes while a run goes on."""
    trained = bool(now.name)
    with st.container(key="bx-lab-live", gap="small"):
        where, back = st.columns([2, 1], gap="medium") if trained else [st.container()] * 2
        with where:
            show_html(join(view.pictures_hint(), _where(now)))
        if not now.runs:
            show_html(view.no_text() if now.status is None else join())
            return
        run = now.runs[-1]
        if trained:
            with back:
                _look_back(run)
        at = chosen_step(now)
        point = run.points[-1] if at is None else run.at(at)
        with where:
            show_html(view.progress(run, point))
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
        number = choose("Look inside", dict(enumerate(names)), key="which", default=1)
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
    st.session_state.setdefault(LOOK, steps)
    named_choice(
        LOOK, {str(step): step for step in options}, {}, steps,
        lambda: st.select_slider(
            "Look back to step", options, key=LOOK,
            format_func=lambda step: "newest" if step == steps else f"{step:,}",
        ),
    )  # fmt: skip


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
    guess = st.session_state.get(GUESS)
    if guess in {None, "", WATCH} or not drawn.runs:
        return
    run = drawn.runs[-1]
    over = not drawn.moving and run.points[-1].step == run.start.settings.steps
    if not over and not run.diverged:
        show_html(view.predicted(str(guess)))
        return
    before = usual_of(run.start.settings)
    usual = next((each for each in drawn.runs if each.start.settings == before), recorded(before))
    show_html(view.verdict(str(guess), outcome(run, usual)))

"""A step of a lesson that is being played: what it needs, what was done in it, what it shows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import feature
from app.declared import declared
from app.engine.models import Engine
from app.faces.streamlit.frame import Page
from app.faces.streamlit.show import show_html
from app.lessons.looking import Looking
from app.lessons.records import Lesson, Look, Step
from app.lessons.view import prose
from app.lessons.whole import looking_at

_PLAYED, PATH = "_played", "_path"
Guess = str | int
# What is called with the number of what was clicked, by the name of the click.
Picks = dict[str, Callable[[int], None]]


@dataclass(slots=True)
class Played:
    """What a visitor did in one step."""

    guess: Annotated[Guess | None, "what was guessed; None before"] = None
    mine: Annotated[str, 'the same in words; "" before it was compared'] = ""
    its: Annotated[str, "what the model did, in words"] = ""
    reason: Annotated[int | None, "the number of the reason that was chosen"] = None


@dataclass(frozen=True, slots=True)
class Scene:
    """A step that is being played."""

    page: Annotated[Page, "the record with which the site draws parts of a screen"]
    lesson: Annotated[Lesson, "the lesson"]
    number: Annotated[int, "of the step, counted from 1"]
    step: Annotated[Step, "the step"]
    looking: Annotated[Looking, "computes what the step needs"]
    played: Annotated[Played, "what was done in it"]

    @property
    def name(self) -> str:
        """The name of the step in keys of widgets."""
        return f"{self.lesson.slug}-{self.number}"


def played_in(found: Lesson, number: int) -> Played:
    """Return what was done in a step in this session."""
    kept: dict[tuple[str, int], Played] = st.session_state.setdefault(_PLAYED, {})
    return kept.setdefault((found.slug, number), Played())


def scene_of(
    engine: Engine, found: Lesson, number: int, place: DeltaGenerator, picks: Picks | None = None
) -> Scene:
    """Return a step, counted from 1, as this model plays it; without `picks` nothing is clicked.

    Raises:
        CheckpointError: the model cannot answer on this page.
    """
    looking = looking_at(engine, found, number)
    step = found.steps[number - 1]
    row = feature(declared(step.page).feature.folder)
    page = Page(row, engine, place, place, place, {} if picks is None else picks)
    return Scene(page, found, number, step, looking, played_in(found, number))


def say(scene: Scene, template: str) -> None:
    """Write a text of the lesson, its gaps filled."""
    show_html(prose(scene.looking.fill(template)))


def lines_of(look: Look) -> int:
    """Count the lines of what the model is given."""
    return sum(1 + value.count("\n") for value in look.values.values() if isinstance(value, str))

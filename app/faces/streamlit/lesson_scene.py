"""A step of a lesson that is being played: what it needs, what was done in it, what it shows."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import feature
from app.declared import Declared, declared
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits
from app.faces.streamlit.frame import Page
from app.faces.streamlit.show import show_html
from app.lessons.claims import figure, look_number, looked
from app.lessons.looking import Looking
from app.lessons.records import Lesson, Look, Step
from app.lessons.view import prose
from app.words.html import Html, join, tag, visible
from app.words.screen import Choice, Computed, Drawn, File, Part, Parts, Rows
from bert_core.errors import CheckpointError

_PLAYED, PATH = "_played", "_path"
Guess = str | int | float | tuple[int, ...]
Picks = dict[str, Callable[[int], None]]
"""What is called with the number of what was clicked, by the name of the click."""


@dataclass(slots=True)
class Played:
    """What a visitor did in one step.

    Attributes:
        guess: what was guessed; None before.
        mine: what was pointed at, in words; "" for another kind of question.
        its: what the model did, in words.
        reason: the number of the reason that was chosen.
        item: which further item is asked, counted from 1; 0 for none.
        item_guess: whether it was guessed to count; None before.
    """

    guess: Guess | None = None
    mine: str = ""
    its: str = ""
    reason: int | None = None
    item: int = 0
    item_guess: bool | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """A step that is being played.

    Attributes:
        page: the record with which the site draws parts of a screen.
        lesson: the lesson.
        number: of the step, counted from 1.
        step: the step.
        looking: computes what the step needs.
        played: what was done in it.
    """

    page: Page
    lesson: Lesson
    number: int
    step: Step
    looking: Looking
    played: Played

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
    """Return a step as this model plays it.

    Args:
        engine: the model.
        found: the lesson.
        number: of the step, counted from 1.
        place: where its page's parts go.
        picks: where the step puts what answers clicks; None if nothing can be clicked.

    Raises:
        CheckpointError: the model cannot answer on this page.
    """
    step = found.steps[number - 1]
    row = feature(declared(step.page).feature.folder)
    unfit = [each.says for each in misfits(engine.facts, row.needs) if _grave(each.severity)]
    if unfit:
        raise CheckpointError(f"{engine.provenance.name} cannot answer here. {' '.join(unfit)}")
    look = looked(engine, step.looks[look_number(engine, found.slug, number - 1)])
    looking = Looking(engine, step.page, look, partial(figure, engine))
    page = Page(row, engine, place, place, place, {} if picks is None else picks)
    return Scene(page, found, number, step, looking, played_in(found, number))


def _grave(severity: Severity) -> bool:
    return severity is not Severity.REMARK


def say(scene: Scene, template: str) -> None:
    """Write a text of the lesson, its gaps filled."""
    show_html(prose(scene.looking.fill(template)))


def write_given(look: Look, scene: Scene) -> None:
    """Write what the model is given."""
    labels = {each.name: each.field.label for each in declared(scene.step.page).parameters}
    rows = [
        tag("p", tag("small", visible(labels[name].partition(" (")[0])), " ",
            tag("bdi", visible(str(value))), class_="bx-given")
        for name, value in look.values.items()
        if isinstance(value, str)
    ]  # fmt: skip
    show_html(join(*rows))


def lines_of(look: Look) -> int:
    """Count the lines of what the model is given."""
    return sum(1 + value.count("\n") for value in look.values.values() if isinstance(value, str))


def drawn(task: Declared, result: object, most: int, show: Collection[str] = ()) -> Parts:
    """Return parts of a page's screen, as paper has them: without clicks.

    Args:
        task: of the page.
        result: what it answered.
        most: so many parts are drawn, the first ones.
        show: how the names of pictures begin that are drawn instead, and no headline.
    """
    screen = task.screen(result)
    head: tuple[Part, ...] = (screen.answer or tag("p", screen.headline, class_="bx-headline"),)
    if screen.answer is not None and not screen.answer.markup:
        head = ()
    parts = [each.paper if isinstance(each, Drawn) else each for each in screen.parts]
    left = (Rows, File, Choice, Computed)
    seen = [each for each in parts if not isinstance(each, left) and not _is_empty(each)]
    if show:
        head = ()
        chosen = [each for each in seen if getattr(each, "name", "").startswith(tuple(show))]
    else:
        chosen = seen[:most]
    return (*(each for each in screen.first if each.markup), *head, *chosen)


def _is_empty(part: Part) -> bool:
    return isinstance(part, Html) and not part.markup

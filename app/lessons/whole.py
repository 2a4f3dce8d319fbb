"""A lesson as one page: its steps below each other, with everything revealed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from app.declared import Declared, declared
from app.engine.models import Engine
from app.engine.models.fit import notices
from app.lessons.claims import figure, looked, unfit
from app.lessons.looking import Looking
from app.lessons.records import Lesson, Question, Step
from app.lessons.view import beforehand, prose, rests_on, step_of_second
from app.words.blocks import Html, cautions, join, line, note, tag, visible
from app.words.notes import unread_note
from app.words.pictures import Picture
from app.words.pictures import figure as framed
from app.words.screen import Beside, Choice, Drawn, File, Part, Parts, Rows
from app.words.screen import drawn as on_paper
from bert_core.errors import BertError, CheckpointError
from bert_core.reading.unread import Unread

Wrapped = Callable[[Looking, Step, Sequence[Html]], Html]
"""Puts the blocks of a step into one element."""


def looking_at(engine: Engine, lesson: Lesson, number: int) -> Looking:
    """Return what computes a step for a model; steps count from 1.

    Raises:
        CheckpointError: the model cannot answer on this page.
    """
    step = lesson.steps[number - 1]
    if why := unfit(engine, step.page):
        raise CheckpointError(why)
    return Looking(engine, step.page, looked(engine, step.look), partial(figure, engine))


def given(looking: Looking) -> Html:
    """Write what the model is given."""
    return join(
        *(
            tag("p", tag("small", label), " ", tag("bdi", visible(text)), class_="bx-given")
            for label, text in looking.given()
        )
    )


def drawn(task: Declared, result: object, most: int, show: Collection[str] = ()) -> Parts:
    """Return the first parts of a page's screen, as paper has them: without clicks.

    With `show`, the pictures whose names begin so are drawn instead, without the headline.
    """
    screen = task.screen(result)
    head: tuple[Part, ...] = (screen.answer or tag("p", screen.headline, class_="bx-headline"),)
    if show or (screen.answer is not None and not screen.answer.markup):
        head = ()
    parts = [
        each.paper if isinstance(each, Drawn) and each.paper is not each.markup else each
        for each in screen.parts  # of what can be clicked, what paper has
    ]
    left = (Rows, File, Choice)
    seen = [
        each
        for each in parts
        if not isinstance(each, left) and not (isinstance(each, Html) and not each.markup)
    ]
    unread = getattr(result, "unread", None)  # of which the lesson itself tells
    told = unread_note(unread) if isinstance(unread, Unread) else join()
    named = [each for each in seen if getattr(each, "name", "").startswith(tuple(show))]
    return (
        *(each for each in screen.first if each.markup not in ("", told.markup)),
        *head,
        *(named if show else seen[:most]),
    )


def whole(engine: Engine, lesson: Lesson, wrapped: Wrapped | None = None) -> list[Html]:
    """Write a lesson with everything revealed; a step that this model cannot do says why."""
    blocks = [*cautions(notices(engine.facts)), beforehand(engine, lesson)]
    for number, step in enumerate(lesson.steps, 1):
        title = tag("h2", visible(f"{number}. {step.heading}"))
        try:
            looking = looking_at(engine, lesson, number)
            shown = _framed((title, *step_parts(looking, lesson, number, see=False)))
            blocks += [wrapped(looking, step, shown)] if wrapped else shown
        except BertError as error:
            blocks += [title, note(visible(str(error)), caution=True)]
    blocks += [tag("h2", "Takeaway"), prose(lesson.last, "bx-headline", see=False)]
    blocks += [larger(lesson)] if lesson.larger else []
    return [*blocks, rests_on(engine, lesson)]


def _framed(parts: Parts) -> list[Html]:
    blocks = (block for part in parts for block in on_paper(part))
    return [framed(each) if isinstance(each, Picture) else each for each in blocks]


def larger(lesson: Lesson) -> Html:
    """Write what others found."""
    return line("Elsewhere (not checked here): ", visible(lesson.larger))


def step_parts(looking: Looking, lesson: Lesson, number: int, *, see: bool = True) -> Parts:
    """Write one step with its answers."""
    step = lesson.steps[number - 1]

    def said(template: str, kind: str = "bx-prose") -> Html:
        return prose(looking.fill(template), kind, see=see)

    shown = drawn(declared(step.page), looking.result(), step.parts, step.show)
    parts = [said(step.say), given(looking)]
    if step.question:
        parts.append(_answered(looking, step.question, said))
    second = step_of_second(looking, lesson, number)
    says = prose(looking.fill(step.reveal), see=see)
    parts.append(tag("div", says, second, class_="bx-reveal"))
    after = [_answered(looking, step.why, said)] if step.why else []
    if step.change:
        after.append(said(f"Your turn: {step.change.ask}", "bx-turn"))
    return (*parts, *(_renamed(each, number) for each in shown), *after)


def _renamed(part: Part, number: int) -> Part:
    """Give the pictures of a step names of their own."""
    if isinstance(part, Beside):
        left, right = (tuple(_renamed(each, number) for each in side)
                       for side in (part.left, part.right))  # fmt: skip
        return Beside(left, right, part.widths)
    return (
        replace(part, name=f"{part.name}-step-{number}")
        if isinstance(part, Picture | Drawn)
        else part
    )


def _answered(looking: Looking, question: Question, said: Callable[..., Html]) -> Html:
    """Write a question with all its choices and the reply to each."""
    ask = said(question.ask, "bx-turn")
    if not question.choices:
        return ask
    right = looking.right(question)
    rows = []
    for number, each in enumerate(question.choices):
        sign = tag("strong", "→ ") if number == right else ""
        says = tag("strong", visible(looking.fill(each.say)))
        rows.append(tag("li", sign, says, said(each.reply, "bx-reply")))
    return join(ask, tag("ul", *rows))

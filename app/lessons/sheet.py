"""The sheet of a lesson to be printed: a page for students, and one for their teacher.

What is true is computed with the model, as in the lesson; nothing is typed.
"""

from collections.abc import Iterator
from functools import partial

from app.engine.models import Engine
from app.engine.models.fit import notices
from app.lessons.claims import figure, look_number, looked
from app.lessons.looking import CLAIM, HEAD, Looking
from app.lessons.notes import Notes, notes_of
from app.lessons.quantity import Reference, Value
from app.lessons.records import Lesson, Question, Step
from app.lessons.shelf import claims
from app.lessons.view import shown_by, unfit, unmarked
from app.settings import ASSETS
from app.words.html import Html, document, join, tag, visible
from app.words.qr import qr

_BOX, _LINE, _LONG_LINE = "☐ ", "_" * 12, "_" * 48


def sheet(engine: Engine, found: Lesson, address: str) -> bytes:
    """Write the sheet of a lesson: two pages of A4 or Letter.

    Args:
        engine: the model whose answers the teacher's page has.
        found: the lesson.
        address: of the site that the students open, such as "http://192.168.1.20:8501".

    Raises:
        InputError: something is wrong with the teacher's notes.
    """
    link = f"{address.rstrip('/')}/lessons?lesson={found.slug}"
    css = (ASSETS / "sheet.css").read_text(encoding="utf-8")
    pages = _for_students(engine, found, link), _for_teacher(engine, found, notes_of(found))
    return document(found.title, css, *pages)


# -- the page for students -------------------------------------------------------------------------


def _for_students(engine: Engine, found: Lesson, link: str) -> Html:
    head = tag(
        "header",
        tag("div", tag("h1", visible(found.title)),
            tag("p", "Name ", _LONG_LINE[:30]),
            tag("p", "Write down every guess before you look. Then open the lesson: ",
                tag("span", link, class_="link"))),
        qr(link),
    )  # fmt: skip
    steps = (_blank(engine, found, number) for number in range(len(found.steps)))
    last = tag("p", "What I would tell a friend about it now: ", _LONG_LINE, class_="last")
    return tag("section", head, *steps, last, class_="page")


def _blank(engine: Engine, found: Lesson, number: int) -> Html:
    """Write a step with boxes for a guess."""
    looking, step = _looking(engine, found, number), found.steps[number]
    parts = [tag("h2", visible(f"{number + 1}. {step.heading}"))]
    given = _given(looking)
    if number and given and given == _given(_looking(engine, found, number - 1)):
        given = ["The same text."]
    parts += [tag("p", tag("bdi", visible(text)), class_="given") for text in given]
    if step.question is None:
        parts.append(tag("p", "What I see: ", _LONG_LINE))
    elif why := _cannot(engine, step):
        parts.append(tag("p", visible(why)))
    else:
        parts.append(tag("p", tag("strong", _words(looking, step.question.ask))))
        parts.append(tag("p", *_boxes(looking, step.question), class_="boxes"))
    return tag("div", *parts, class_="step")


def _boxes(looking: Looking, question: Question) -> Iterator[Html | str]:
    """Yield the places for a guess."""
    match question.kind:
        case "choose":
            for each in question.choices:
                yield tag("span", _BOX, _words(looking, each.say))
        case "order":
            for each in question.choices:
                yield tag("span", "__ ", _words(looking, each.say))
        case "number":
            low, high = looking.ends(question)
            yield f"{_LINE} {question.unit} ({low} to {high})"
        case _:
            yield _LONG_LINE
    yield tag("span", "Because: ", _LONG_LINE, class_="because")


def _given(looking: Looking) -> list[str]:
    """Return the texts of a step, without what is left empty."""
    return [text for _, text in looking.given()]


# -- the page for the teacher ----------------------------------------------------------------------


def _for_teacher(engine: Engine, found: Lesson, notes: Notes | None) -> Html:
    model = engine.provenance
    head = tag("h1", visible(f"For the teacher: {found.title}"))
    goal = tag("p", tag("strong", "Goal: "), visible(unmarked(found.goal)))
    steps = tag("ol", *(_answered(engine, found, n) for n in range(len(found.steps))))
    counted = (
        tag("li", visible(f"{says}: {figures}"), "" if holds else _refused(holds))
        for says, holds, figures in shown_by(engine, found)
    )
    larger = _told("What larger models do (not checked here)", unmarked(found.larger))
    last = tag("p", tag("strong", "Takeaway: "), visible(unmarked(found.last)))
    told = _told("Note", *notices(engine.facts))
    said = f"Counted and answered by {model.name}, weights {model.fingerprint}."
    return tag(
        "section", head, *told, goal, *_advice(found, notes), tag("h2", "Answers"), steps, last,
        *larger, tag("h2", "What it rests on"), tag("ul", *counted), tag("small", visible(said)),
        class_="page teacher",
    )  # fmt: skip


def _refused(holds: bool | None) -> Html | str:
    return tag("strong", " This model does not show it.") if holds is False else ""


def _advice(found: Lesson, notes: Notes | None) -> Iterator[Html]:
    """Yield what the notes say."""
    if notes is None:
        yield tag("p", f"{found.minutes} minutes alone. There are no further notes.")
        return
    yield from _told("Time", f"{found.minutes} minutes alone, {notes.minutes} with a class")
    yield from _told("What students believe beforehand", *notes.before)
    yield from _told("With a class", *notes.run)
    yield from _told("Without a network", notes.offline)
    yield from _told("What may go wrong", *notes.wrong)


def _told(title: str, *says: str) -> Iterator[Html]:
    if any(says):
        yield tag("p", tag("strong", f"{title}: "), visible(" ".join(says)))


def _answered(engine: Engine, found: Lesson, number: int) -> Html:
    """Write what is said, asked and true in a step."""
    looking, step = _looking(engine, found, number), found.steps[number]
    if why := _cannot(engine, step):
        return tag("li", tag("strong", visible(step.heading)), " ", visible(why))
    holds = "" if looking.holds(step.holds) else "This model does not show it. "
    parts: list[Html | str] = [_words(looking, step.say), " "]
    if step.question:
        truth = tag("mark", visible(unmarked(looking.says(step.question))))
        parts += [tag("em", _words(looking, step.question.ask)), " ", truth, " "]
    parts += [tag("strong", holds), _words(looking, step.reveal)]
    if step.why:
        reason = next(each for each in step.why.choices if each.right)
        says = tag("mark", _words(looking, reason.say))
        parts += [" ", tag("em", _words(looking, step.why.ask)), " ", says]
    return tag("li", tag("strong", visible(step.heading)), " ", join(*parts))


# -- what both need --------------------------------------------------------------------------------


def _looking(engine: Engine, found: Lesson, number: int) -> Looking:
    step = found.steps[number]
    look = step.looks[look_number(engine, found.slug, number)]
    if not any(unfit(engine, each.task) for each in claims().values() if each.role):
        look = looked(engine, look)
    return Looking(engine, step.page, look, partial(_figure, engine))


def _figure(engine: Engine, wanted: Reference) -> tuple[str, Value]:
    """Return a figure of a claim; a dash if the model was not trained for its task."""
    about = wanted.about.partition(".")[0]
    used = (
        each
        for name, each in claims().items()
        if about == (each.role if wanted.name == HEAD else name)
    )
    if any(unfit(engine, each.task) for each in used):
        return "word", "–"
    return figure(engine, wanted)


def _cannot(engine: Engine, step: Step) -> str:
    """Say why a model cannot answer in a step; "" if it can."""
    asked = step.question.of if step.question else ""
    name = asked.removeprefix(f"{CLAIM}:").partition(".")[0] if asked.startswith(CLAIM) else ""
    return unfit(engine, step.page) or (unfit(engine, claims()[name].task) if name else "")


def _words(looking: Looking, template: str) -> str:
    return visible(unmarked(looking.fill(template)))

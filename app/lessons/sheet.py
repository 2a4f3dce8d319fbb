"""The sheet of a lesson to be printed: a page for students, and one for their teacher.

What is true is computed with the model, as in the lesson; nothing is typed.
"""

from collections.abc import Iterator

from app.engine.models import Engine
from app.engine.models.fit import notices
from app.lessons.looking import Looking
from app.lessons.notes import notes_of
from app.lessons.records import Lesson, Question
from app.lessons.view import shown_by, unmarked
from app.lessons.whole import looking_at
from app.settings import ASSETS
from app.words.html import Html, document, join, tag, visible
from app.words.qr import qr
from bert_core.errors import BertError

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
    return document(found.title, css, _for_students(engine, found, link),
                    _for_teacher(engine, found))  # fmt: skip


def _for_students(engine: Engine, found: Lesson, link: str) -> Html:
    head = tag(
        "header",
        tag("div", tag("h1", visible(found.title)),
            tag("p", "Name ", _LONG_LINE[:30]),
            tag("p", "Write down every guess before you look. Then open the lesson: ",
                tag("span", link, class_="link"))),
        qr(link),
    )  # fmt: skip
    steps = []
    before: list[str] = []
    for number, step in enumerate(found.steps, 1):
        parts: list[Html | str] = [tag("h2", visible(f"{number}. {step.heading}"))]
        try:
            looking = looking_at(engine, found, number)
            texts = [text for _, text in looking.given()]
            shown = ["The same text."] if texts and texts == before else texts
            parts += [tag("p", tag("bdi", visible(text)), class_="given") for text in shown]
            parts += _blank(looking, step.question)
            before = texts
        except BertError as error:  # this model cannot answer here
            parts.append(tag("p", visible(str(error))))
        steps.append(tag("div", *parts, class_="step"))
    last = tag("p", "What I would tell a friend about it now: ", _LONG_LINE, class_="last")
    return tag("section", head, *steps, last, class_="page")


def _blank(looking: Looking, question: Question | None) -> list[Html]:
    """Write a question with places for a guess."""
    if question is None:
        return [tag("p", "What I see: ", _LONG_LINE)]
    places: list[Html | str] = []
    if question.kind == "choose":
        places += [tag("span", _BOX, _words(looking, each.say)) for each in question.choices]
    elif question.kind == "number":
        low, high = looking.ends(question)
        places.append(f"{_LINE} {question.unit} ({low} to {high})")
    else:
        places.append(_LONG_LINE)
    places.append(tag("span", "Because: ", _LONG_LINE, class_="because"))
    asked = tag("strong", _words(looking, question.ask))
    return [tag("p", asked), tag("p", *places, class_="boxes")]


def _for_teacher(engine: Engine, found: Lesson) -> Html:
    model = engine.provenance
    steps = tag("ol", *(_answered(engine, found, n + 1) for n in range(len(found.steps))))
    counted = (
        tag("li", visible(f"{says}: {figures}"),
            tag("strong", " This model does not show it.") if holds is False else "")
        for says, holds, figures in shown_by(engine, found)
    )  # fmt: skip
    said = f"Counted and answered by {model.name}, weights {model.fingerprint}."
    return tag(
        "section", tag("h1", visible(f"For the teacher: {found.title}")),
        *_lines(("Note", *notices(engine.facts)), ("Goal", unmarked(found.goal))),
        *_lines(*_advice(found)), tag("h2", "Answers"), steps,
        *_lines(
            ("Takeaway", unmarked(found.last)),
            ("Elsewhere (not checked here)", unmarked(found.larger)),
        ),
        tag("h2", "What it rests on"), tag("ul", *counted), tag("small", visible(said)),
        class_="page teacher",
    )  # fmt: skip


def _advice(found: Lesson) -> Iterator[tuple[str, ...]]:
    """Yield what the teacher's notes say."""
    notes = notes_of(found)
    if notes is None:
        yield "Time", f"{found.minutes} minutes alone. There are no further notes."
        return
    yield "Time", f"{found.minutes} minutes alone, {notes.minutes} with a class"
    yield "What students believe beforehand", *notes.before
    yield "With a class", *notes.run
    yield "Without a network", notes.offline
    yield "What may go wrong", *notes.wrong


def _lines(*rows: tuple[str, ...]) -> Iterator[Html]:
    """Yield a line for each row that says something under its title."""
    for title, *says in rows:
        if any(says):
            yield tag("p", tag("strong", f"{title}: "), visible(" ".join(says)))


def _answered(engine: Engine, found: Lesson, number: int) -> Html:
    """Write what is said, asked and true in a step."""
    step = found.steps[number - 1]
    parts: list[Html | str] = []
    try:
        looking = looking_at(engine, found, number)
        parts += [_words(looking, step.say), *_true(looking, step.question), " "]
        if not looking.holds(step.holds):
            parts.append(tag("strong", "This model does not show it. "))
        parts += [_words(looking, step.reveal), *_true(looking, step.why)]
    except BertError as error:  # this model cannot answer here
        parts = [visible(str(error))]
    return tag("li", tag("strong", visible(step.heading)), " ", join(*parts))


def _true(looking: Looking, question: Question | None) -> list[Html | str]:
    """Write a question with its answer."""
    if question is None:
        return []
    says = tag("mark", visible(unmarked(looking.says(question))))
    return [" ", tag("em", _words(looking, question.ask)), " ", says]


def _words(looking: Looking, template: str) -> str:
    return visible(unmarked(looking.fill(template)))

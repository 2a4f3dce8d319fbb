"""The words and pictures of a lesson: prose with its terms, a guess beside the truth, claims."""

import re
from collections.abc import Iterator, Sequence
from math import nan
from urllib.parse import urlencode

from app.catalog import feature
from app.engine.models import Engine
from app.lessons.claims import LEVEL, figures_of, unfit
from app.lessons.looking import CLAIM, Looking
from app.lessons.measured import Measured, reference, stored
from app.lessons.quantity import among
from app.lessons.reading import TERM
from app.lessons.records import Claim, Figures, Lesson, Question, Term
from app.lessons.shelf import claims, glossary
from app.records.counted import fisher
from app.words.blocks import Html, fold, hint, join, line, record_table, tag, visible
from app.words.format import count, p_value, percent, share_of
from app.words.panel import Panel
from app.words.pictures import NARROW, Picture, listed, svg

_HIGH = 74  # of the scale of a number, in units of the drawing
_COUNT = re.compile(r"\{claim:(\w+)\.k\}")
_SAMPLE = (
    "One author wrote the texts before they were run: they are not a random sample. The 95 % "
    "interval (Wilson) says what share to expect of other texts of the same kind. Tests are exact, "
    "with two tails at 5 %, each on its own: of forty false claims, about one would pass. "
    "Fisher’s test takes two counts as independent, also where they are of the same texts."
)
_EMPTY = (
    "The column of a second model is empty: `python -m app lessons measure --model "
    "google-bert/bert-base-uncased` fills it."
)
_KEPT = {True: " It holds.", False: " This model does not show it.", None: ""}
_HALF = 0.5
_LETTER = 8.6  # mean width of a letter


def lesson_links(lessons: Sequence[Lesson], address: str, **attributes: str) -> Html:
    """Name lessons, each as a link; nothing if there are none."""
    links = [
        tag("a", visible(each.title), href=address.format(each.slug), **attributes)
        for each in lessons
    ]
    title = "Lesson: " if len(links) == 1 else "Lessons: "
    return line(title, join(*links, by=" · ")) if links else join()


def prose(text: str, kind: str = "bx-prose", *, see: bool = True) -> Html:
    """Write a text; a term unfolds where it stands, and with `see` leads to its page."""
    first, *rest = TERM.split(text)
    parts: list[Html | str] = [visible(first)]
    for shown, named, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        name = named or shown
        parts += [_term(shown, name, among(glossary(), "term", name), see=see), visible(after)]
    return tag("div", *parts, class_=kind)


def unmarked(text: str) -> str:
    """Return a text as it is read, without the marks of its terms.

    >>> unmarked("A [[gap]] and [[a head|head]].")
    'A gap and a head.'
    """
    return TERM.sub(lambda match: match[1], text)


def _term(shown: str, name: str, term: Term, *, see: bool) -> Html:
    """Draw a word of the glossary, with what it means one click away."""
    meaning = tag("span", tag("strong", visible(name)), ": ", visible(term.says), " ",
                  _see(term) if see else join())  # fmt: skip
    return tag("details", tag("summary", visible(shown)), meaning, class_="bx-term")


def all_terms() -> Html:
    """List all words of the glossary, each with the page that shows it."""
    rows = []
    for name, term in sorted(glossary().items(), key=lambda row: row[0].strip("[#").lower()):
        says = tag("strong", visible(name))
        rows.append(tag("li", says, ": ", visible(term.says), " ", _see(term)))
    return tag("ul", *rows, class_="bx-terms")


def _see(term: Term) -> Html:
    address = f"{term.page}?{urlencode(term.values)}" if term.values else term.page
    return tag("a", f"See it on “{feature(term.page).title}”", href=address, target="_blank")


def both(mine: str, its: str, own: str = "You") -> Html:
    """Write a guess beside what the model does."""
    rows = ((own, mine), ("The model", its))
    cells = (
        tag("li", tag("strong", f"{name}: "), tag("bdi", visible(says)))
        for name, says in rows
        if says
    )
    return tag("ul", *cells, class_="bx-both")


def on_one_axis(looking: Looking, question: Question, guess: float) -> Picture:
    """Draw a guessed number and the true one on one scale."""
    whose = "counted" if question.of.startswith(CLAIM) else "the model"
    low, high = looking.ends(question)
    kind, value = looking.truth(question)
    truth = float(value) * (100 if kind == "share" else 1)
    mine = f"you: {guess:g} {question.unit}".rstrip()
    its = f"{whose}: {looking.says(question)}"

    panel = Panel((20, NARROW - 20), (_HIGH / 2 + 4, _HIGH / 2 - 4), (low, high), (0, 1))
    panel.span((low, high), (0, 1), class_="bx-svg-track")
    for at, says, dy, class_ in (
        (guess, mine, -20, "bx-svg-bar"),
        (truth, its, 20, "bx-svg-mark"),
    ):
        panel.dot(at, 0.5, 8, class_=class_)
        half = len(says) * _LETTER / 2
        middle = min(max(panel.x(at), half), NARROW - half)
        panel.text(at, 0.5, says, middle - panel.x(at), dy, class_="bx-svg-middle")
    rows = [("you", guess), (whose, truth)]
    alt = f"On a scale from {low} to {high} {question.unit}".rstrip() + f": {mine}, {its}."
    drawing = svg(NARROW, _HIGH, *panel.drawn)  # its place is narrow on every screen
    return Picture("guess", drawing, drawing, alt, listed(rows, ("who", "value")))


def intervals(engine: Engine, template: str) -> Html:
    """Say how far the counts that a text names can be trusted; nothing if it names none."""
    names = dict.fromkeys(_COUNT.findall(template))
    found = [(claims()[name].says, figures_of(engine, name)) for name in names]
    rows = [tag("li", visible(f"{says}: {share_of(of.k, of.n)}.")) for says, of in found]
    return hint(tag("ul", *rows), line(_SAMPLE)) if rows else join()


def shown_by(engine: Engine, lesson: Lesson) -> Iterator[tuple[str, bool | None, str]]:
    """Yield each claim of a lesson, whether it holds for a model, its figures and its test.

    For a task that the model was not trained for, it yields None and the reason.
    """
    for name in lesson.claims:
        claim = among(claims(), "claim", name)
        says = f"Mostly not so: {claim.says}" if claim.fewer else claim.says
        if why := unfit(engine, claim.task):
            yield says, None, why
        else:
            found = figures_of(engine, name)
            holds = None if found.left and not found.holds else found.holds  # too few to tell
            yield says, holds, f"{share_of(found.k, found.n)}. {test_of(claim, found)}"


def test_of(claim: Claim, found: Figures) -> str:
    """Say how a claim is tested, and how likely such a count would be if it did not hold."""
    if claim.exact:
        return "Follows from the vocabulary or the architecture: all must count."
    more, tests = "fewer" if claim.fewer else "more", []
    if claim.stated:
        stated = found.tell.get(claim.stated, nan)
        tests.append(f"{more} than it states, {percent(stated, 0)}")
    elif claim.chance is not None:
        usual = "half" if claim.chance == _HALF else f"the {percent(claim.chance, 0)} of chance"
        tests.append(f"{more} than {usual}")
    for other in claim.against:
        tests.append(f"{more} than in “{claims()[other].says}” (Fisher’s test)")
    p = "" if found.p is None else f": {p_value(found.p)}"
    left = f" For time, {found.left} more were not asked." if found.left else ""
    return (f"Tested: {' and '.join(tests)}{p}." if tests else "Counted for comparison.") + left


def rests_on(engine: Engine, lesson: Lesson) -> Html:
    """List the claims of a lesson: their tests, this model, and a second one where it is known."""
    return fold("What this lesson rests on", *_claims(engine, lesson))


def beforehand(engine: Engine, lesson: Lesson) -> Html:
    """Say how many claims of a lesson hold, if it was not written for this model."""
    if is_written_for(engine) or not lesson.claims:
        return join()
    held = sum(holds is True for _, holds, _ in shown_by(engine, lesson))
    title = f"This model shows {held} of the {count(len(lesson.claims), 'claim')} of this lesson"
    return fold(title, *_claims(engine, lesson))


def _claims(engine: Engine, lesson: Lesson) -> tuple[Html, Html]:
    other, own = second(engine), engine.provenance.name
    rows = []
    for (says, holds, figures), name in zip(shown_by(engine, lesson), lesson.claims, strict=True):
        theirs = [_compared(name, engine, other)] if other else []
        rows.append([visible(each) for each in (says, f"{figures}{_KEPT[holds]}", *theirs)])
    columns = ("Claim", own, *([other.model] if other else []))
    return record_table("Claims", columns, rows), line(f"{_SAMPLE} {'' if other else _EMPTY}")


def _compared(name: str, engine: Engine, other: Measured) -> str:
    """Say what a second model shows of a claim, and whether the two can be told apart."""
    found = other.claims.get(name)
    if found is None:
        return "It cannot answer here."
    says = f"{share_of(found.k, found.n)}. {test_of(claims()[name], found)}{_KEPT[found.holds]}"
    if unfit(engine, claims()[name].task):
        return says
    mine = figures_of(engine, name)
    p = fisher((mine.k, mine.n), (found.k, found.n))
    differ = "The two models differ" if p < LEVEL else "No difference of the two is shown"
    return f"{says} {differ} ({p_value(p)})."


def second(engine: Engine) -> Measured | None:
    """Return the model that is shown beside this one; None for an empty column."""
    found = reference() if is_written_for(engine) else stored()
    return found if found and found.weights != engine.provenance.fingerprint else None


def step_of_second(looking: Looking, lesson: Lesson, number: int) -> Html:
    """Write what a step showed with the second model; nothing where it was not measured."""
    other = second(looking.engine)
    seen = other.steps.get(f"{lesson.slug} {number}") if other else None
    if other is None or seen is None:
        return join()
    try:
        says = looking.filled(lesson.steps[number - 1].reveal, lambda gap: seen.values[gap])
    except KeyError:  # measured before the text was changed
        return join()
    title = "" if seen.holds else " (it does not show what the step is about)"
    return fold(f"The same with {other.model}{title}", line(visible(unmarked(says))))


def is_written_for(engine: Engine) -> bool:
    """Return whether the lessons were written for this model."""
    return engine.provenance.fingerprint == stored().weights

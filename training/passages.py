"""Short passages made by rule, and questions that they answer or do not answer.

A passage states a few properties of one or two people, places, companies or buildings. A question
without an answer asks for a property that the passage does not state, or that it states of the
other: what is needed to say no is to look for the property, not for the name. Half of the questions
have an answer, so that neither the names nor the wording of a question tells whether it has one.
"""

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bert_core.finetuning import Question
from training.rows import surnames

_FILE = Path(__file__).with_name("passages.toml")
_KINDS = {"person": 0.55, "place": 0.15, "company": 0.15, "building": 0.15}
_FEW = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"


@dataclass(frozen=True, slots=True)
class Property:
    """Something that can be said of a subject, and asked.

    Attributes:
        name: of the property, for `tells`.
        says: statements with {x}, the subject, and {v}, the value.
        asks: questions with {x}.
        value: kind of the value.
        tells: properties whose statement may answer the questions too.
    """

    name: str
    says: Sequence[str]
    asks: Sequence[str]
    value: str
    tells: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Subject:
    """A subject of a passage: its name, the pronoun for it, and the facts stated about it."""

    name: str
    pronoun: str
    said: Sequence[Property]


def made_questions(data: Path, count: int, seed: int) -> list[Question]:
    """Return questions about made passages, every second without an answer; seeded.

    There are none without family names.
    """
    source = random.Random(seed)
    families = surnames(data)
    if not families:
        return []
    return [_question(source, families, answered=number % 2 == 0) for number in range(count)]


def _question(
    source: random.Random, families: Mapping[str, Sequence[str]], *, answered: bool
) -> Question:
    while True:
        kind = source.choices(list(_KINDS), weights=list(_KINDS.values()))[0]
        subjects = _subjects(kind, source, families)
        sentences = _sentences(kind, subjects, source, families)
        asked = _asked(kind, subjects, sentences, source, answered=answered)
        if asked is not None:
            return asked


def _subjects(
    kind: str, source: random.Random, families: Mapping[str, Sequence[str]]
) -> list[_Subject]:
    """Draw one or two subjects and facts about each."""
    properties, found = _properties()[kind], list[_Subject]()
    for _ in range(source.choice((1, 1, 1, 2, 2))):
        name, pronoun = _name(kind, source, families)
        if any(name == other.name for other in found):
            continue
        said = source.sample(properties, source.choice((2, 3, 3, 4)))
        found.append(_Subject(name, pronoun, said))
    return found


def _name(
    kind: str, source: random.Random, families: Mapping[str, Sequence[str]]
) -> tuple[str, str]:
    """Draw a name and the pronoun for it."""
    names = _table()["names"]
    if kind != "person":
        return source.choice(names[kind].split("|")), "it"
    woman = source.random() < 0.5
    first = source.choice(names["women" if woman else "men"].split("|"))
    last = f" {source.choice(families[source.choice(list(families))])}" * (source.random() < 0.7)
    return f"{first}{last}", "she" if woman else "he"


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a passage; `subject` and `of` are its subject and property, if it has them."""

    text: str
    value: str = ""
    subject: _Subject | None = None
    of: Property | None = None


def _sentences(
    kind: str,
    subjects: Sequence[_Subject],
    source: random.Random,
    families: Mapping[str, Sequence[str]],
) -> list[_Said]:
    """State the properties, one subject after the other or in turn, and add a filler or two."""
    turns = [(subject, each) for subject in subjects for each in subject.said]
    if source.random() < 0.3:
        source.shuffle(turns)
    found, before = list[_Said](), ""
    for subject, each in turns:
        value = _value(each.value, source, families)
        again = before == subject.name and source.random() < 0.6
        way = source.choice(each.says)
        name = subject.pronoun if again and way.startswith("{x} ") else subject.name
        found.append(_Said(_upper(way.format(x=name, v=value)), value, subject, each))
        before = subject.name
        if source.random() < 0.25:
            filler = source.choice(_table()["fillers"][kind]).format(x=subject.name)
            found.append(_Said(_upper(filler)))
    return found


def _asked(
    kind: str,
    subjects: Sequence[_Subject],
    sentences: Sequence[_Said],
    source: random.Random,
    *,
    answered: bool,
) -> Question | None:
    """Ask for a stated property or for one that is not; None if none fits."""
    passage = " ".join(said.text for said in sentences)
    subject = source.choice(subjects)
    stated = {each.name for each in subject.said}
    if answered:
        asked = source.choice(subject.said)
        said = next(s for s in sentences if s.subject is subject and s.of is asked)
        start = passage.index(said.text) + said.text.lower().index(said.value.lower())
        answer = passage[start : start + len(said.value)]
        if passage.lower().count(answer.lower()) > 1:
            return None  # which of them is meant would be open
        return Question(_ask(asked, subject, source), passage, answer, start)
    open_ = [
        each
        for each in _properties()[kind]
        if each.name not in stated and stated.isdisjoint(each.tells)
    ]
    values = {said.of.value for said in sentences if said.of}
    alike = [each for each in open_ if each.value in values]  # a value of this kind is there
    asked = source.choice(alike if alike and source.random() < 0.6 else open_)
    return Question(_ask(asked, subject, source), passage, None)


def _ask(asked: Property, subject: _Subject, source: random.Random) -> str:
    return source.choice(asked.asks).format(x=subject.name)


def _value(kind: str, source: random.Random, families: Mapping[str, Sequence[str]]) -> str:
    """Draw a value of a kind."""
    numbers: dict[str, Callable[[], str]] = {
        "year": lambda: str(source.randint(1850, 2023)),
        "number": lambda: str(source.randint(13, 97)),
        "few": lambda: source.choice(_FEW.split("|")),
        "large": lambda: f"{source.randint(11, 990) * 100:,}",
        "tall": lambda: str(source.randint(148, 205)),
        "first": lambda: _name("person", source, families)[0].split()[0],
        "woman": lambda: source.choice(_table()["names"]["women"].split("|")),
        "person": lambda: _name("person", source, families)[0],
    }
    if kind in numbers:
        return numbers[kind]()
    return str(source.choice(_table()["values"][kind].split("|")))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


@cache
def _properties() -> dict[str, list[Property]]:
    """Return the properties of each kind of subject."""
    found: dict[str, list[Property]] = {}
    for row in _table()["property"]:
        each = {name: value for name, value in row.items() if name != "of"}
        found.setdefault(row["of"], []).append(Property(**each))
    return found


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))

"""Sentences with people, places and organisations of many countries, as tagged words.

A culture is drawn first, then a name of it; so a language with many family names in the data is not
seen more often than others. Titles are outside the names, initials, apostrophes and hyphens inside.
"""

import csv
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bert_core.finetuning import TaggedWords
from training.frames.filling import SLOT, filled, slots, table
from training.rows import TAGS, open_text
from training.written import reading
from training.written.near import is_near

_NONE, _MESSAGES, _LOWER, _BARE, _TWO = 0.11, 0.07, 0.07, 0.1, 0.12  # shares
_GOOD_NAME = re.compile(
    r"(?:(?:Al|El|De|Di|Van|Von|Abu|Abd|Ben) )?[^\W\d_][^\W\d_'’-]+(?:[-'’][^\W\d_]+)*"
)
_MIDDLE = "ABCDEFGHJKLMNPRSTVW"


@dataclass(frozen=True, slots=True)
class Culture:
    """First and family names that belong together, and cities."""

    first: Sequence[str]
    last: Sequence[str]
    cities: Sequence[str]
    family_first: bool

    def full(self, source: random.Random) -> str:
        """Draw a full name, in one of the ways names are written."""
        first, last, way = source.choice(self.first), source.choice(self.last), source.random()
        if self.family_first:
            return f"{last} {first}" if way < 0.75 else f"{first} {last}"
        if way < 0.06:
            return f"{first[0]}. {last}"
        if way < 0.10:
            return f"{first[0]}. {source.choice(_MIDDLE)}. {last}"
        if way < 0.16:
            return f"{first} {source.choice(_MIDDLE)}. {last}"
        if way < 0.20:
            return f"{first} {last}-{source.choice(self.last)}"
        if way < 0.24:
            return f"{first} {source.choice(self.first)} {last}"
        return f"{first} {last}"


def sentences(data: Path, count: int, seed: int) -> list[TaggedWords]:
    """Return sentences with PER, LOC and ORG tagged; other names are not, so O says nothing."""
    return [reading.bracketed(line) for line in lines(data, count, seed)]


def lines(data: Path, count: int, seed: int) -> list[str]:
    """Return the same sentences as text, with the names in brackets after their kind."""
    source, found = random.Random(seed), list[str]()
    while len(found) < count:
        line = _line(cultures(data), source)
        if source.random() < _TWO:
            line = f"{line} {_line(cultures(data), source)}"
        if not is_near(reading.unbracketed(line)):
            found.append(line)
    return found


@cache
def cultures(data: Path) -> tuple[Culture, ...]:
    """Return all cultures, without the names of the people in the evaluation."""
    of_language: dict[str, list[str]] = defaultdict(list)
    rows = open_text(data / "names" / "surnames.tsv")
    for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
        if _GOOD_NAME.fullmatch(row["name"]):
            of_language[row["language"]].append(row["name"])
    left_out = evaluated_names()

    def kept(names: Sequence[str]) -> list[str]:
        return [name for name in names if name.lower() not in left_out]

    found = []
    for row in table("people")["culture"]:
        last = [*of_language[row.get("surnames", "")], *row.get("own", "").split("|")]
        first = row["first"].split("|" if "|" in row["first"] else None)
        found.append(
            Culture(
                kept(first),
                kept([name for name in last if name]),
                row["cities"].split("|"),
                row.get("before", False),
            )
        )
    return tuple(culture for culture in found if culture.last)


@cache
def evaluated_names() -> frozenset[str]:
    """Return the parts of the names of people in the evaluation, in lower case."""
    lines = [*reading.people_lines(), *(row["text"] for row in reading.inputs()["names"])]
    names = [name for line in lines for name in re.findall(r"\[PER ([^\]]+)\]", line)]
    return frozenset(part.lower() for name in names for part in (name, *name.split()))


def _line(cultures: Sequence[Culture], source: random.Random) -> str:
    read, way = table("names"), source.random()
    kind = "none" if way < _NONE else "messages" if way < _NONE + _MESSAGES else "frames"
    frame = source.choice(read[kind])
    culture = source.choice(cultures)
    other = culture if source.random() < 0.5 else source.choice(cultures)
    words = {
        slot: _named(slot, other if slot.endswith("2") else culture, source)
        if slot.rstrip("2") in _NAMES
        else source.choice(read[slot].split("|"))
        for slot in sorted(slots(frame))
    }
    line = filled(frame, words)
    if kind == "messages" or source.random() < _LOWER:
        line = "".join(part.lower() if part not in TYPES else part for part in _KINDS.split(line))
    return line.rstrip(".") if source.random() < _BARE else line


TYPES = ("[PER ", "[LOC ", "[ORG ")
_KINDS = re.compile(r"(\[(?:PER|LOC|ORG) )")
_NAMES = frozenset({"per", "full", "first", "last", "city", "place", "country", "org"})


def _named(slot: str, culture: Culture, source: random.Random) -> str:
    """Draw a name for a slot, in brackets after its kind; articles and titles stay outside."""
    slot = slot.rstrip("2")
    if slot in ("per", "full", "first", "last"):
        return _person(slot, culture, source)
    if slot == "org":
        return _marked("ORG", _organisation(culture, source))
    if slot == "city":
        return _marked("LOC", source.choice(culture.cities))
    places = table("people")["places"]
    pool = "regions" if slot == "place" and source.random() < 0.5 else "countries"
    return _marked("LOC", source.choice(places[pool].split("|")))


def _person(slot: str, culture: Culture, source: random.Random) -> str:
    way = source.random()
    if slot == "first" or (slot == "per" and way < 0.25):
        return _marked("PER", source.choice(culture.first))
    if slot == "last":
        return _marked("PER", source.choice(culture.last))
    title = ""
    if slot == "per" and way < 0.35:
        title = f"{source.choice(table('names')['title'].split('|'))} "
        if way < 0.30:
            return title + _marked("PER", source.choice(culture.last))
    return title + _marked("PER", culture.full(source))


def _organisation(culture: Culture, source: random.Random) -> str:
    read, way = table("people")["organisations"], source.random()
    if way < 0.5:
        country = source.choice(table("people")["places"]["countries"].split("|"))
        words = {
            "sur": source.choice(culture.last),
            "sur2": source.choice(culture.last),
            "city": source.choice(culture.cities),
            "country": country.removeprefix("the "),
        }
        return SLOT.sub(lambda slot: words[slot[1]], source.choice(read["patterns"]))
    known: str = read["known" if way < 0.8 else "bodies"]
    return source.choice(known.split("|"))


def _marked(kind: str, name: str) -> str:
    """Put a name into brackets, without its article.

    >>> _marked("LOC", "the Rhine")
    'the [LOC Rhine]'
    """
    article = "the " if name.startswith("the ") else ""
    return f"{article}[{kind} {name.removeprefix('the ')}]"


def kinds(row: TaggedWords) -> set[str]:
    """Return the kinds of names in a sentence."""
    return {TAGS[tag][2:] for tag in row.tags if tag}

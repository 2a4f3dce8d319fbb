"""Tell which sentences are too close to an evaluation to be trained on."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from training.famous import FAMOUS
from training.gaps import GAPS
from training.written import reading

Words = tuple[str, ...]
_WORD = re.compile(r"\w+|[^\w\s]")
_ENDS = ".!?"


def is_near(text: str) -> bool:
    """Tell whether a text equals an evaluation sentence or differs from one in a single word.

    Case and the mark at the end do not count.

    >>> is_near("five plus three is nine"), is_near("Five plus six is eleven.")
    (True, False)
    """
    return not _evaluated().isdisjoint(_but_one(_words(text)))


def evaluated() -> Iterator[str]:
    """Yield every sentence of the evaluations, gaps filled in with each word that fits."""
    asked = reading.inputs()
    for gap in (*FAMOUS, *GAPS):
        yield from (gap.sentence.replace("[MASK]", word) for word in gap.good)
    for row in (*asked["gap"], *asked["proverb"], *asked["famous"]):
        yield from (row["text"].replace("[MASK]", word) for word in row["good"].split())
    yield from (row.text for row in reading.negations())
    yield from map(reading.unbracketed, reading.people_lines())
    yield from (reading.unbracketed(row["text"]) for row in asked["names"])
    yield from (row["text"] for row in asked["sentiment"])
    yield from (row[place] for row in asked["next"] for place in ("first", "second"))
    yield from dict.fromkeys(row["passage"] for row in asked["question"])
    yield from (row["question"] for row in asked["question"])
    for question in (*reading.passages(answered=True), *reading.passages(answered=False)):
        yield from (question.context, question.question)


@cache
def _evaluated() -> frozenset[Words]:
    return frozenset(_keys(evaluated()))


def _keys(texts: Iterable[str]) -> Iterator[Words]:
    for text in texts:
        yield from _but_one(_words(text))


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.lower().rstrip(_ENDS)))


def _but_one(words: Words) -> Iterator[Words]:
    """Yield the words with each of them blanked in turn."""
    for place in range(len(words)):
        yield (*words[:place], "", *words[place + 1 :])

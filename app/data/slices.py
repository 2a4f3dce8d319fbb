"""Parts of a table, each with its share of right rows: where a model is worse than elsewhere."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any

from app.data.gold import cell
from app.data.judged import Judged
from app.records.counted import Share

_LENGTHS = ((1, 5), (6, 10), (11, 20), (21, 40), (41, 80), (81, 10**9))  # words
_MOST_VALUES = 12  # of a column that makes slices
FEWEST = 5
"""Rows of a slice that says something."""

_MOST_WORDS = 8
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


@dataclass(frozen=True, slots=True)
class Slice:
    """Some rows of a table."""

    ANSWER = ("kind", "name", "right")

    kind: Annotated[str, "what they have in common: label, length, word, or the name of a column"]
    name: Annotated[str, "which label, length, word or value"]
    right: Annotated[Share, "how many of them are right, with the 95 % interval"]
    numbers: Annotated[frozenset[int], "of the rows"]


def slices(
    rows: Sequence[Judged],
    values: Mapping[int, Mapping[str, Any]],
    columns: Sequence[str],
    pattern: str = "",
) -> tuple[Slice, ...]:
    """Return the parts of a table, the worst first.

    The names of words are those that more wrong rows have than others: of many words some will by
    chance, so they are where to look, not a proof.
    """
    counted = [row for row in rows if row.right is not None]
    found = list[Slice]()
    found += _by("label", counted, lambda row: row.wanted, _MOST_VALUES)
    found += _by("length", counted, _length)
    for column in columns:
        found += _by(column, counted, partial(_value, values, column), _MOST_VALUES)
    found += _words(counted)
    found.sort(key=lambda each: (each.right.right / each.right.cases, -each.right.cases))
    wanted = [row for row in counted if has(row, pattern)] if pattern.strip() else []
    first = [_slice("word", pattern.strip(), wanted)] if wanted else []
    return (*first, *found)


def has(row: Judged, pattern: str) -> bool:
    """Return whether a row has a word; * stands for any letters.

    >>> has(Judged(1, ("It isn't bad.",), "", "", None, None), "*n't")
    True
    """
    small = pattern.strip().casefold()
    if " " in small:
        return any(small in text.casefold() for text in row.texts)
    return any(fnmatchcase(word, small) for word in _words_of(row))


def _words_of(row: Judged) -> set[str]:
    return {word.casefold() for text in row.texts for word in _WORD.findall(text)}


def _value(values: Mapping[int, Mapping[str, Any]], column: str, row: Judged) -> str:
    return cell(values[row.number].get(column))


def _length(row: Judged) -> str:
    words = max(1, len(_WORD.findall(row.texts[0])))
    low, high = next(each for each in _LENGTHS if words <= each[1])
    return f"{low} words or more" if high > 10**6 else f"{low} to {high} words"


def _by(
    kind: str, rows: Sequence[Judged], value: Callable[[Judged], str], most: int = 100
) -> list[Slice]:
    """Divide rows by a value; [] if there is only one, or too many."""
    groups = defaultdict[str, list[Judged]](list)
    for row in rows:
        groups[value(row)].append(row)
    groups.pop("", None)
    if not 1 < len(groups) <= most:
        return []
    return [_slice(kind, name, each) for name, each in groups.items()]


def _words(rows: Sequence[Judged]) -> list[Slice]:
    """Find words whose rows are wrong more often than the whole; the clearest ones."""
    groups = defaultdict[str, list[Judged]](list)
    for row in rows:
        for word in _words_of(row):
            groups[word].append(row)
    whole = Share.of([bool(row.right) for row in rows])
    least = max(FEWEST, len(rows) // 50)
    made = [_slice("word", word, group) for word, group in groups.items() if len(group) >= least]
    average = whole.right / whole.cases if whole.cases else 0.0
    made = [each for each in made if each.right.right / each.right.cases < average]
    made.sort(key=lambda each: (each.right.high, -each.right.cases))
    kept = list[Slice]()
    for each in made:  # a word that has the same rows as another one says nothing more
        if all(each.numbers != other.numbers for other in kept):
            kept.append(each)
    return kept[:_MOST_WORDS]


def _slice(kind: str, name: str, rows: Sequence[Judged]) -> Slice:
    right = Share.of([bool(row.right) for row in rows])
    return Slice(kind, name, right, frozenset(row.number for row in rows))

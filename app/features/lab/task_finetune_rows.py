"""Labelled rows from lines of text: read, checked, and divided for training and measuring."""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from app.engine.compute.visitor import check_text
from app.features.lab.result_finetune import TEXTS, WORDS, LabelledRow, LabelledRows
from bert_core.errors import InputError, count

# The ready-made rows and what is labelled in them; forty of each.
READY = {"Topics of sentences": TEXTS, "Food in recipes": WORDS}

FEWEST, MOST = 8, 400  # rows
MOST_LABELS = 30
_LONGEST_LABEL = 40  # characters
_HELD_OUT = 3  # of so many rows of a label, one is held out
_SHOWN = 30  # characters of a text in a message
_FILES = {TEXTS: "finetune_topics.tsv", WORDS: "finetune_recipes.tsv"}


@cache
def ready(kind: str) -> str:
    """Return the ready-made rows in which texts or words are labelled."""
    return Path(__file__).with_name(_FILES[kind]).read_text(encoding="utf-8")


def read_rows(text: str, kind: str) -> LabelledRows:
    """Read rows: a text, a tab, and its label, or one tag for each of its words.

    A third of the rows is held out, of every label some; which ones depends on the rows alone.

    Args:
        text: one row a line; blank lines are ignored.
        kind: "texts" or "words": what is labelled.

    Raises:
        InputError: a line cannot be read, or the rows are too few, too many or all alike; the
            message has the number of the line.
    """
    check_text(text)
    split = enumerate(text.removeprefix("\ufeff").split("\n"), 1)
    lines = [(number, line) for number, line in split if line.strip()]
    if len(lines) > MOST:
        raise InputError(f"Found {len(lines):,} rows; at most {MOST} are read. Remove some.")
    rows = [_row(number, line, kind) for number, line in lines]
    if len(rows) < FEWEST:
        raise InputError(
            f"Found {count(len(rows), 'row')}; expected at least {FEWEST}, and forty are better. "
            "Write one row a line: a text, a tab, and its label."
        )
    _check_repeated(rows)
    labels = sorted({label for row in rows for label in row.labels})
    if not 2 <= len(labels) <= MOST_LABELS:
        raise InputError(
            f"The rows have {count(len(labels), 'different label')}; expected 2 to {MOST_LABELS}."
        )
    train, held_out = _divided(rows, kind)
    counts = Counter(label for row in train for label in row.labels)
    frequent = max(sorted(counts), key=counts.__getitem__)
    asked = [label for row in held_out for label in row.labels]
    return LabelledRows(
        kind=kind,
        labels=tuple(labels),
        train=tuple(train),
        held_out=tuple(held_out),
        guess=asked.count(frequent) / len(asked),
        frequent=frequent,
    )


def _row(number: int, line: str, kind: str) -> LabelledRow:
    text, tab, rest = line.partition("\t")
    if not tab:
        raise InputError(
            f"Line {number} has no tab: {_short(line)}. Write the text, a tab, then the label."
        )
    words, labels = text.split(), rest.split() if kind == WORDS else [rest.strip()]
    if not words:
        raise InputError(f"Line {number} has no text before the tab.")
    if not all(labels) or not labels:
        raise InputError(f"Line {number} has no label after the tab: {_short(line)}.")
    if "\t" in rest.strip():
        raise InputError(f"Line {number} has more than one tab. Write the text, a tab, the label.")
    if kind == WORDS and len(words) != len(labels):
        raise InputError(
            f"Line {number} has {count(len(words), 'word')} and {count(len(labels), 'tag')}; "
            f"expected one tag for each word: {_short(line)}."
        )
    long = next((label for label in labels if len(label) > _LONGEST_LABEL), "")
    if long:
        raise InputError(
            f"The label of line {number} has {len(long)} characters; expected at most "
            f"{_LONGEST_LABEL}: {_short(long)}. Is it the text?"
        )
    return LabelledRow(number, " ".join(words), tuple(labels))


def _check_repeated(rows: Sequence[LabelledRow]) -> None:
    """Refuse a text that occurs twice: it would be trained on and measured with."""
    first: dict[str, int] = {}
    for row in rows:
        if row.text in first:
            raise InputError(
                f"Line {row.line} repeats the text of line {first[row.text]}: {_short(row.text)}. "
                "Remove one of them: the same text could be trained on and measured with."
            )
        first[row.text] = row.line


def _divided(rows: Sequence[LabelledRow], kind: str) -> tuple[list[LabelledRow], list[LabelledRow]]:
    """Divide rows into those to train on and those held out.

    Raises:
        InputError: a label occurs in one row only, so it could not be learned and measured.
    """
    groups: dict[str, list[LabelledRow]] = {}
    for row in rows:
        groups.setdefault(row.labels[0] if kind == TEXTS else "", []).append(row)
    source = random.Random(0)
    held: set[int] = set()
    for label, group in groups.items():
        if len(group) < 2:
            raise InputError(
                f"The label {_short(label)} of line {group[0].line} occurs only once; expected two "
                "rows or more, one to learn from and one to measure with."
            )
        number = max(1, len(group) // _HELD_OUT)
        held |= {row.line for row in source.sample(group, number)}
    train = [row for row in rows if row.line not in held]
    if kind == WORDS and len({label for row in train for label in row.labels}) < 2:
        raise InputError(
            "All words of the rows that are trained on have the same tag. Tag more words."
        )
    return train, [row for row in rows if row.line in held]


def _short(text: str) -> str:
    """Quote the beginning of a text.

    >>> _short("a" * 40)
    '“aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…”'
    """
    return f"“{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}”"

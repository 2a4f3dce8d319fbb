"""Read the sentences of this folder as the rows that evaluations take."""

import csv
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from bert_core.finetuning import LabelledText, Question, TaggedWords
from training.named import as_read
from training.rows import TAGS

_HERE = Path(__file__).parent
_BRACKET = re.compile(r"\[(PER|LOC|ORG) ([^\]]+)\]")


def bracketed(line: str) -> TaggedWords:
    """Return the words and tags of a sentence whose names are in brackets, after their kind.

    >>> row = bracketed("Dr. [PER Ada O'Neill] left [LOC Rome].")
    >>> " ".join(f"{word}/{TAGS[tag]}" for word, tag in zip(row.words, row.tags, strict=True))
    "Dr/O ./O Ada/B-PER O/I-PER '/I-PER Neill/I-PER left/O Rome/B-LOC ./O"
    """
    words: list[str] = []
    tags: list[int] = []
    parts = _BRACKET.split(line)  # text, kind, name, text, ...
    for place, part in enumerate(parts):
        if place % 3 == 1:
            continue
        found = part.split()
        words += found
        if place % 3 == 0:
            tags += [TAGS.index("O")] * len(found)
        else:
            first = TAGS.index(f"B-{parts[place - 1]}")
            tags += [first] + [first + 1] * (len(found) - 1)
    return as_read(TaggedWords(tuple(words), tuple(tags)))


def unbracketed(line: str) -> str:
    """Return such a sentence as a person types it.

    >>> unbracketed("Dr. [PER Ada O'Neill] left [LOC Rome].")
    "Dr. Ada O'Neill left Rome."
    """
    return _BRACKET.sub(r"\2", line)


def negations() -> list[LabelledText]:
    """Return sentences with a negation or a contrast: 0 negative, 1 positive."""
    with (_HERE / "negations.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [LabelledText(row["sentence"], int(row["label"])) for row in rows]


def people_lines() -> list[str]:
    """Return sentences about people of many countries, their names in brackets."""
    return (_HERE / "people.txt").read_text(encoding="utf-8").splitlines()


def people() -> list[TaggedWords]:
    """Return the same as tagged words."""
    return [bracketed(line) for line in people_lines()]


def passages(*, answered: bool) -> list[Question]:
    """Return the questions that their passages answer, or those that they do not."""
    found = []
    for row in _table("passages")["passage"]:
        text = row["text"]
        if answered:
            found += [Question(q, text, good, text.index(good)) for q, good in row["answered"]]
        else:
            found += [Question(q, text, None) for q in row["unanswered"]]
    return found


def inputs() -> dict[str, list[dict[str, Any]]]:
    """Return the inputs that a person reads, by kind, each with what is accepted."""
    return _table("inputs")


def order_frames() -> dict[str, dict[str, list[str]]]:
    """Return the wordings of orders and sums that are never trained on."""
    return _table("orders")


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))

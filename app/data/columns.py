"""The tasks that a table can go through, and which column of a table is what."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from bert_core.errors import InputError

TaskName = Literal[
    "classification", "next_sentence", "ner", "qa", "fill_mask", "multiple_choice"
]  # fmt: skip
GOLD = "gold"
"""The part that a person's answers are."""

Columns = dict[str, str]
"""The column of each part."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a task wants of a row."""

    title: Annotated[str, "its name on the screen"]
    head: Annotated[str, "the class that answers"]
    parts: Annotated[
        Mapping[str, tuple[str, ...]],
        "what a row has, each with names of columns that usually have it, the best first",
    ]
    marks: Annotated[frozenset[str], "columns that only its tables have"] = frozenset()
    optional: Annotated[tuple[str, ...], "the parts that may be missing; the gold always may"] = ()


def _names(written: str) -> tuple[str, ...]:
    return tuple(written.split())


_TEXT = _names("text sentence review review_text content body comment tweet")
_FIRST = _names("text sentence1 premise first sentence_a question1 query")
_SECOND = _names("text_pair sentence2 hypothesis second sentence_b question2 answer")
_LABEL = _names("gold label labels sentiment class category verdict target y rating stars score")

KINDS: dict[TaskName, Kind] = {
    "classification": Kind(
        "Labels of texts or pairs",
        "BertForSequenceClassification",
        {"text": (*_TEXT, *_FIRST[1:]), "text_pair": _SECOND, GOLD: _LABEL},
        optional=("text_pair",),
    ),
    "next_sentence": Kind(
        "Next sentence",
        "BertForNextSentencePrediction",
        {"text": (*_FIRST, *_TEXT[1:]), "text_pair": _SECOND, GOLD: ("gold", "next", *_LABEL[1:])},
        frozenset(("next", "is_next", "isnext")),
    ),
    "ner": Kind(
        "Named entities",
        "BertForTokenClassification",
        {"text": ("tokens", "words", *_TEXT),
         GOLD: _names("gold ner_tags tags entities spans labels ner label")},
        frozenset(("tokens", "ner_tags", "entities", "tags")),
    ),
    "qa": Kind(
        "Questions",
        "BertForQuestionAnswering",
        {"question": ("question", "query"), "passage": _names("passage context paragraph text"),
         GOLD: _names("gold answers answer answer_text")},
        frozenset(("question",)),
    ),
    "fill_mask": Kind(
        "Gaps",
        "BertForMaskedLM",
        {"text": ("masked_sentence", "masked", *_TEXT),
         GOLD: _names("gold word words answer obj_label target label")},
        frozenset(("masked_sentence", "masked", "obj_label", "word")),
    ),
    "multiple_choice": Kind(
        "Multiple choice",
        "BertForMultipleChoice",
        {"context": _names("context question sent1 prompt ctx premise text"),
         "choices": _names("choices endings options answers"),
         GOLD: _names("gold label answer answerkey correct")},
        frozenset(("choices", "endings", "ending0", "options")),
    ),
}  # fmt: skip


def guess(task: TaskName, names: Sequence[str]) -> Columns:
    """Guess the columns of a table from their names.

    >>> guess("classification", ["id", "Review", "label"])
    {'text': 'Review', 'gold': 'label'}
    """
    free = {name.strip().casefold(): name for name in reversed(names)}
    found: Columns = {}
    for part, usual in KINDS[task].parts.items():
        if hit := next((free.pop(name) for name in usual if name in free), None):
            found[part] = hit
        elif part == "choices" and (several := _numbered(names)):
            found[part] = several
    return found


def spread_columns(name: str, names: Sequence[str]) -> list[str]:
    """Return the columns that "ending*" stands for.

    >>> spread_columns("ending*", ["text", "ending0", "ending1"])
    ['ending0', 'ending1']
    """
    if not name.endswith("*"):
        return []
    return [each for each in names if re.fullmatch(re.escape(name[:-1]) + "[0-9A-Ha-h]", each)]


def _numbered(names: Sequence[str]) -> str:
    number = re.compile(r"((?:ending|choice|option|answer)[_ ]?)[0-9A-Ha-h]", re.I)
    starts = [mark[1] for mark in map(number.fullmatch, names) if mark]
    return f"{starts[0]}*" if len(starts) > 1 else ""


def guess_task(names: Sequence[str]) -> TaskName:
    """Guess the task of a table from the names of its columns.

    >>> guess_task(["question", "context", "answers"]), guess_task(["sentence", "label"])
    ('qa', 'classification')
    """
    order: tuple[TaskName, ...] = ("qa", "multiple_choice", "fill_mask", "ner", "next_sentence")
    known = {name.strip().casefold() for name in names}
    return next((each for each in order if KINDS[each].marks & known), "classification")


def read_columns(task: TaskName, written: str, names: Sequence[str], guessed: Columns) -> Columns:
    """Read which column is what, such as "text=review, gold=stars"; parts not named are as guessed.

    Raises:
        InputError: there is no such part or column, or a column is missing.

    >>> read_columns("classification", "gold=stars", ["review", "stars"], {"text": "review"})
    {'text': 'review', 'gold': 'stars'}
    """
    parts, found = KINDS[task].parts, guessed
    for part, name in read_pairs(written, "columns"):
        if part not in parts:
            raise InputError(f"columns: found {part!r}; expected {', '.join(parts)}.")
        if name and name not in names and not spread_columns(name, names):
            raise InputError(
                f"columns: there is no column {name!r}; found {', '.join(names)[:200]}."
            )
        found = {key: value for key, value in found.items() if key != part and value != name}
        found |= {part: name} if name else {}
    return {part: found[part] for part in parts if part in found}


def check_columns(task: TaskName, columns: Mapping[str, str], names: Sequence[str]) -> None:
    """Refuse a table that lacks what the task wants.

    Raises:
        InputError: it names what is missing, and the columns there are.
    """
    kind = KINDS[task]
    needed = (part for part in kind.parts if part != GOLD and part not in kind.optional)
    if missing := [part for part in needed if part not in columns]:
        raise InputError(
            f"{kind.title} wants a column for {' and '.join(missing)}; found the columns "
            f"{', '.join(names)[:200]}. Say which one it is."
        )


def read_pairs(written: str, what: str) -> list[tuple[str, str]]:
    """Read pairs like "a=b, c=d".

    Raises:
        InputError: a part of it has no "=".

    >>> read_pairs("pos=POSITIVE, neg = NEGATIVE", "labels")
    [('pos', 'POSITIVE'), ('neg', 'NEGATIVE')]
    """
    pairs = []
    for each in filter(str.strip, written.replace("\n", ",").split(",")):
        name, sign, value = each.rpartition("=")
        if not sign:
            raise InputError(f"{what}: found {each.strip()[:60]!r}; expected NAME=VALUE, …")
        pairs.append((name.strip(), value.strip()))
    return pairs

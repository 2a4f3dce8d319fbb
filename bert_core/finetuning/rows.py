"""Labelled rows: annotated examples, before tokenization.

One class per task of Devlin et al. 2019: `LabelledText` (one text or a pair, section 4.1),
`Question` (4.2, and 4.3 for questions without an answer), `Choices` (4.4) and `TaggedWords` (5.3).
Each raises an InputError for a row that cannot be.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Annotated

from bert_core.errors import InputError, count

_SHOWN = 40  # characters of a text shown in an error message


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, or a pair of texts, with one label."""

    text: str
    label: Annotated[int | float, "class, from 0; or a float for a model with one output (a score)"]
    text_pair: Annotated[str | None, "second text, such as the hypothesis in entailment"] = None

    def __post_init__(self) -> None:
        label: object = self.label
        if not isinstance(label, Real):
            raise InputError(
                f"The label of {shortened(self.text)} is {label!r}; expected a number."
            )


@dataclass(frozen=True, slots=True)
class TaggedWords:
    """Words with one tag each, as in corpora of named entities or parts of speech."""

    words: Annotated[tuple[str, ...], "as split in the corpus"]
    tags: Annotated[tuple[int, ...], "class of each word, from 0; -1 or -100 to ignore a word"]

    def __post_init__(self) -> None:
        _check_not_text(self.words, "words")
        if len(self.words) != len(self.tags):
            raise InputError(
                f"There are {count(len(self.words), 'word')} and {count(len(self.tags), 'tag')}; "
                f"expected one tag per word. The words begin {shortened(' '.join(self.words))}."
            )
        for tag in self.tags:
            if not hasattr(tag, "__index__"):
                raise InputError(
                    f"One of the tags is {tag!r}; expected whole numbers. Number the tags from 0."
                )


@dataclass(frozen=True, slots=True)
class Question:
    """A question, a passage, and the part of the passage that answers it."""

    question: str
    context: Annotated[str, "the passage, of any length"]
    answer: Annotated[str | None, "exactly as it occurs in the passage; None if it does not"]
    answer_start: Annotated[int, "index of its first character in the passage"] = 0

    def __post_init__(self) -> None:
        if self.answer is None:
            return
        if not self.answer.strip():
            raise InputError(
                f"The answer to {shortened(self.question)} is {self.answer!r}; expected a part of "
                "the passage, or None if it contains no answer."
            )
        start, answer = self.answer_start, self.answer
        if start < 0 or not self.context.startswith(answer, start):
            found = self.context[start : start + len(answer)] if start >= 0 else ""
            raise InputError(
                f"The answer to {shortened(self.question)} is {shortened(answer)}, but the text at "
                f"answer_start={start} of the passage ({len(self.context)} characters) is "
                f"{shortened(found)}. Count characters from 0, not bytes or tokens."
            )


@dataclass(frozen=True, slots=True)
class Choices:
    """A context and several continuations, one of which is correct."""

    context: Annotated[str, "first text of every pair"]
    choices: Annotated[tuple[str, ...], "second texts"]
    label: Annotated[int, "index of the correct choice, from 0"]

    def __post_init__(self) -> None:
        _check_not_text(self.choices, "choices")
        if not 0 <= self.label < len(self.choices):
            raise InputError(
                f"The label is {self.label}, and there are {count(len(self.choices), 'choice')} "
                f"for {shortened(self.context)}; expected the index of a choice, from 0."
            )


def _check_not_text(value: object, name: str) -> None:
    if isinstance(value, str):
        raise InputError(
            f"Expected a tuple of {name}, found the string {shortened(value)}. Split it."
        )


def shortened(text: str) -> str:
    """Quote the beginning of a text for an error message.

    >>> shortened("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'"
    """
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")

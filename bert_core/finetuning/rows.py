"""Labelled rows: what a person has annotated, before any tokenizer has seen it.

One class per task of Devlin et al. 2019, section 4: `LabelledText` (one text or a pair, 4.1),
`Question` (4.2, and 4.3 with questions that have no answer), `Choices` (4.4), and `TaggedWords`
(5.3).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from operator import index

from bert_core.errors import InputError

_SHOWN = 40  # characters of a text in a message


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, or a pair of texts, with one label.

    Attributes:
        text: the text.
        label: number of the class from 0, or a float where the model has one output (a score).
        text_pair: the second text, such as the hypothesis of an entailment; None for one text.

    Raises:
        InputError: the label is no number.
    """

    text: str
    label: int | float
    text_pair: str | None = None

    def __post_init__(self) -> None:
        label: object = self.label
        if not isinstance(label, Real):
            raise InputError(
                f"The label of {shortened(self.text)} is {label!r}; expected a number. Number the "
                "classes from 0."
            )


@dataclass(frozen=True, slots=True)
class TaggedWords:
    """Words with one tag each, as corpora of named entities or parts of speech hold them.

    Attributes:
        words: the words as they were split by whoever annotated them.
        tags: numbers of the classes from 0; -1 or -100 for a word that is not to be learnt.

    Raises:
        InputError: there are more of one than of the other, or a tag is no whole number.
    """

    words: tuple[str, ...]
    tags: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_not_text(self.words, "words")
        if len(self.words) != len(self.tags):
            raise InputError(
                f"There are {len(self.words)} words and {len(self.tags)} tags; expected one tag a "
                f"word. The words begin {shortened(' '.join(self.words))}."
            )
        _check_whole(self.tags)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, a passage, and the stretch of the passage that answers it.

    Attributes:
        question: what is asked.
        context: the passage, of any length.
        answer: the answer letter by letter as it stands in the passage; None if the passage
            does not hold it.
        answer_start: where it stands, in characters from the start of the passage.

    Raises:
        InputError: the answer is blank, or something else stands at `answer_start`.
    """

    question: str
    context: str
    answer: str | None
    answer_start: int = 0

    def __post_init__(self) -> None:
        if self.answer is None:
            return
        if not self.answer.strip():
            raise InputError(
                f"The answer to {shortened(self.question)} is {self.answer!r}. Expected a stretch "
                "of the passage, or None where it holds no answer."
            )
        start, answer = self.answer_start, self.answer
        if start < 0 or not self.context.startswith(answer, start):
            stands = self.context[start : start + len(answer)] if start >= 0 else ""
            raise InputError(
                f"The answer to {shortened(self.question)} is {shortened(answer)}, but at "
                f"answer_start={start} of the passage ({len(self.context)} characters) stands "
                f"{shortened(stands)}. Count characters from 0, not bytes or tokens."
            )


@dataclass(frozen=True, slots=True)
class Choices:
    """A context and several ways to go on, one of them right.

    Attributes:
        context: the first text of every pair.
        choices: the second texts.
        label: number of the right one, from 0.

    Raises:
        InputError: there is no choice of that number.
    """

    context: str
    choices: tuple[str, ...]
    label: int

    def __post_init__(self) -> None:
        _check_not_text(self.choices, "choices")
        if not 0 <= self.label < len(self.choices):
            raise InputError(
                f"The label is {self.label}, and there are {len(self.choices)} choices for "
                f"{shortened(self.context)}; expected a number from 0 to one less than that."
            )


def _check_not_text(value: object, name: str) -> None:
    """Refuse a text, whose characters would be taken for texts."""
    if isinstance(value, str):
        raise InputError(
            f"Expected a tuple of {name}, found the one text {shortened(value)}. Split it."
        )


def _check_whole(tags: Iterable[object]) -> None:
    """Refuse tags such as "B-PER", which have to be numbered first."""
    for tag in tags:
        try:
            index(tag)  # type: ignore[arg-type]
        except TypeError:
            raise InputError(
                f"One of the tags is {tag!r}; expected whole numbers. Number the tags from 0."
            ) from None


def shortened(text: str) -> str:
    """Quote the beginning of a text for a message.

    >>> shortened("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'"
    """
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")

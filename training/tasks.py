"""The contents of each step of the task stage, as a function of the step number.

Most of the tokens of a step are running text, short sentences and sentence pairs, as in the
pretraining. So what was learnt there is kept, and the attention shown on the site is that of the
model that gave the answer. The rest are questions, tagged words, sentiment and choices.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np

from bert_core.finetuning import (
    BatchSource,
    Choices,
    LabelledText,
    Question,
    TaggedWords,
    choice_batch,
    question_batch,
    text_batch,
    word_batch,
)
from bert_core.text.tokenizer import BertTokenizer
from training import rows as read
from training.blocks import TextSettings
from training.mixture import Part
from training.named import as_read
from training.rows import Sentiment
from training.task_model import TaskPart
from training.unseen import is_near

T = TypeVar("T")
_COUNTS = (
    *("questions", "tags", "partial_tags", "sentiment", "phrases", "reviews", "choices"),
    "passages",
)
_SHARING = 16  # steps that share a pool of rows sorted by length, for less padding
_WEIGHTS = {"questions": 1.5, "tags": 1.0, "partial_tags": 0.8, "sentiment": 0.6, "choices": 0.4}
_TEXT = TextSettings(blocks=72, sentences=230, pairs=48, same_document=0.25, swapped=0.25, seed=43)


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How many rows of each task a step has, and its pretraining part."""

    questions: Annotated[int, "question rows"] = 31
    unanswerable: Annotated[float, "share of them asked of a passage without the answer"] = 0.2
    short_questions: Annotated[float, "share of them from one-sentence passages"] = 0.2
    tags: Annotated[int, "sentences with all four entity kinds annotated"] = 18
    partial_tags: Annotated[int, "sentences in which the fourth kind is not annotated"] = 24
    sentiment: Annotated[int, "sentences of film reviews, half of them as a person types"] = 8
    phrases: Annotated[int, "phrases of film reviews, likewise"] = 16
    reviews: Annotated[int, "sentences about products, films and restaurants"] = 8
    choices: Annotated[int, "rows with four choices; every fourth step has two instead"] = 8
    weights: Annotated[Mapping[str, float], "of the losses"] = field(
        default_factory=lambda: dict(_WEIGHTS)
    )
    max_length: Annotated[int, "tokens per window; longer passages give several windows"] = 320
    stride: Annotated[int, "tokens shared by neighbouring windows"] = 96
    passages: Annotated[int, "questions in a part, which bounds the memory of a step"] = 5
    pretraining: Annotated[TextSettings, "what the step has of the pretraining"] = _TEXT
    text_weight: Annotated[float, "of the losses of that part, beside those of the tasks"] = 2.0
    seed: int = 33

    def times(self, factor: float) -> "TaskSettings":
        """Return the same step so many times as large."""
        rows = {name: max(1, round(factor * getattr(self, name))) for name in _COUNTS}
        return replace(self, pretraining=self.pretraining.times(factor), **rows)


@dataclass(frozen=True, slots=True)
class TaskRows:
    """All rows the task stage draws from."""

    answered: Sequence[Question]
    short: Sequence[Question]
    unanswered: Sequence[Question]
    tags: Sequence[TaggedWords]
    partial_tags: Sequence[TaggedWords]
    sentiment: Sequence[Sentiment]
    phrases: Sequence[Sentiment]
    reviews: Sequence[Sentiment]
    choices: Sequence[Sequence[Choices]]
    two_choices: Sequence[Choices]

    @classmethod
    def read(cls, data: Path, seed: int) -> "TaskRows":
        """Read all training rows of a data folder.

        Those for fitting temperatures are left out, and those that come near an evaluation sentence
        of our own. The seed is that of the questions without an answer.
        """
        every = read.questions(data, read.QUESTION_FILES)
        answered = [row for row in every if not read.held_out(row.context)]
        count = len(answered) // 6
        return cls(
            _far(answered, _question),
            _far(read.questions(data, read.SHORT_QUESTION_FILES), _question),
            [
                *_far(read.unanswerable(answered, count, seed), _question),
                *_far(read.without_answer(answered, count, seed), _question),
            ],
            _far(read.tagged_words(data, read.MISC_SOURCES), _words),
            _far(read.tagged_words(data, read.PARTIAL_SOURCES), _words),
            _far(read.sentiments(data, "train"), _typed),
            _far(read.sentiments(data, "phrases"), _typed),
            _far([Sentiment(row, row) for row in read.reviews(data)], _typed),
            [_with_choices(read.choices(data, [name]), 4) for name in read.CHOICE_FILES],
            _with_choices(read.choices(data, read.TWO_CHOICE_FILES), 2),
        )

    def __str__(self) -> str:
        choices = sum(map(len, self.choices)) + len(self.two_choices)
        return (
            f"{len(self.answered):,} questions and {len(self.short):,} short ones, "
            f"{len(self.tags) + len(self.partial_tags):,} tagged sentences, "
            f"{len(self.sentiment) + len(self.phrases) + len(self.reviews):,} with a sentiment, "
            f"{choices:,} with choices"
        )


def _far(rows: Iterable[T], text: Callable[[T], str]) -> list[T]:
    """Leave out the rows that come near an evaluation sentence of our own."""
    return [row for row in rows if not is_near(text(row))]


def _question(row: Question) -> str:
    return row.question


def _words(row: TaggedWords) -> str:
    return " ".join(row.words)


def _typed(row: Sentiment) -> str:
    return row.typed.text


def _with_choices(rows: Sequence[Choices], number: int) -> list[Choices]:
    """Keep the rows with that many choices; a few textbook rows have three or five."""
    return [row for row in rows if len(row.choices) == number]


class TaskMixture:
    """Maps step and progress to the parts of that step; each row comes before any comes again."""

    def __init__(
        self,
        rows: TaskRows,
        tokenizer: BertTokenizer,
        settings: TaskSettings,
        pretraining: BatchSource,
    ) -> None:
        self.rows, self.tokenizer = rows, tokenizer
        self.settings, self.pretraining = settings, pretraining
        self._orders: dict[tuple[str, int], np.ndarray[Any, Any]] = {}

    def __call__(self, step: int, progress: float) -> list[Part | TaskPart]:
        """Return the parts of a step, the longest first, so that processes finish together."""
        parts: list[Part | TaskPart] = [
            *(self._weighed(part) for part in self.pretraining(step, progress)),
            *self._question_parts(step),
            self._tag_part("tags", step),
            self._tag_part("partial_tags", step),
            self._sentiment_part(step),
            *self._choice_parts(step),
        ]
        return sorted(parts, key=lambda part: -_size(part))

    def _weighed(self, part: Part) -> Part:
        weight = self.settings.text_weight
        return replace(
            part, word_weight=weight * part.word_weight, pair_weight=weight * part.pair_weight
        )

    def _question_parts(self, step: int) -> list[TaskPart]:
        settings, rows = self.settings, self.rows
        none = round(settings.questions * settings.unanswerable)
        short = round(settings.questions * settings.short_questions)
        alike = partial(self._alike, step=step, length=lambda row: len(row.context))
        whole = [
            *alike("answered", rows.answered, settings.questions - none - short),
            *alike("unanswered", rows.unanswered, none),
        ]
        whole.sort(key=lambda row: len(row.context), reverse=True)
        size = settings.passages
        groups = [whole[place : place + size] for place in range(0, len(whole), size)]
        parts = []
        for group in (*groups, *([alike("short", rows.short, short)] if short else [])):
            share = len(group) / settings.questions
            batch = question_batch(
                self.tokenizer, group, max_length=settings.max_length, stride=settings.stride
            )
            weight = share * settings.weights["questions"]
            parts.append(TaskPart("questions", batch, weight, share))
        return parts

    def _tag_part(self, task: Literal["tags", "partial_tags"], step: int) -> TaskPart:
        settings, rows = self.settings, getattr(self.rows, task)
        source = np.random.default_rng((settings.seed, 2, step, task == "tags"))
        chosen = self._alike(task, rows, getattr(settings, task), step, lambda r: len(_words(r)))
        drawn = [
            as_read(_without_full_stop(row) if source.random() < 0.2 else row) for row in chosen
        ]
        batch = word_batch(self.tokenizer, drawn, max_length=settings.max_length)
        return TaskPart(task, batch, settings.weights[task])

    def _sentiment_part(self, step: int) -> TaskPart:
        source = np.random.default_rng((self.settings.seed, 3, step))
        drawn = []
        for name in ("sentiment", "phrases", "reviews"):
            rows: Sequence[Sentiment] = getattr(self.rows, name)
            count = getattr(self.settings, name) if rows else 0
            for row in self._alike(name, rows, count, step, lambda row: len(row.split.text)):
                text = row.typed if source.random() < 0.5 else row.split
                bare = text.text.rstrip(".") if source.random() < 0.3 else text.text
                drawn.append(LabelledText(bare or text.text, text.label))
        batch = text_batch(self.tokenizer, drawn, max_length=self.settings.max_length)
        return TaskPart("sentiment", batch, self.settings.weights["sentiment"])

    def _choice_parts(self, step: int) -> list[TaskPart]:
        """Return the rows of each file apart, because they differ in length.

        Files are drawn from in proportion to the square root of their sizes.
        """
        count, (turn, two) = self.settings.choices, divmod(step, 4)
        if two == 3 and self.rows.two_choices:
            return self._chosen("two_choices", self.rows.two_choices, count, turn)
        counts = shares(np.sqrt([len(rows) for rows in self.rows.choices]), count)
        return [
            part
            for number, rows in enumerate(self.rows.choices)
            for part in self._chosen(f"choices-{number}", rows, counts[number], step - turn)
        ]

    def _chosen(self, name: str, rows: Sequence[Choices], count: int, step: int) -> list[TaskPart]:
        """Return `count` rows as a part of the step's choices; none if there are none."""
        if not rows or not count:
            return []
        drawn, share = self._alike(name, rows, count, step, _length), count / self.settings.choices
        batch = choice_batch(self.tokenizer, drawn, max_length=self.settings.max_length)
        return [TaskPart("choices", batch, share * self.settings.weights["choices"], share)]

    def _alike(
        self, name: str, rows: Sequence[T], count: int, step: int, length: Callable[[T], int]
    ) -> list[T]:
        """Return `count` rows of similar length; some steps share a pool sorted by length."""
        number, turn = divmod(step, _SHARING)
        pool = sorted(self._draw(name, rows, _SHARING * count, number), key=length)
        # Neither short nor long rows in successive steps, nor in all tasks of one step.
        turn = (5 * turn + number + sum(name.encode())) % _SHARING
        return pool[turn * count : (turn + 1) * count]

    def _draw(self, name: str, rows: Sequence[T], count: int, step: int) -> list[T]:
        """Return `count` rows; each round goes through all rows once, in a new order."""
        chosen = []
        for place in range(step * count, (step + 1) * count):
            number, offset = divmod(place, len(rows))
            order = self._orders.get((name, number))
            if order is None:
                seed = (self.settings.seed, 1, *name.encode(), number)
                order = np.random.default_rng(seed).permutation(len(rows))
                self._orders = {k: v for k, v in self._orders.items() if k[0] != name}
                self._orders[name, number] = order
            chosen.append(rows[int(order[offset])])
        return chosen


def _size(part: Part | TaskPart) -> int:
    """Return the number of tokens of a part, with padding."""
    ids = part.batch.input_ids if isinstance(part, Part) else part.batch["input_ids"]
    return ids.numel()


def _length(row: Choices) -> int:
    return len(row.context) + max(map(len, row.choices))


def shares(sizes: Sequence[float] | np.ndarray[Any, Any], total: int) -> list[int]:
    """Divide `total` in proportion to sizes, by largest remainders.

    >>> shares([114, 44, 49], 8)
    [4, 2, 2]
    """
    exact = np.asarray(sizes, dtype=float) / max(1e-9, float(np.sum(sizes))) * total
    counts = np.floor(exact).astype(int)
    for place in np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]:
        counts[place] += 1
    return [int(count) for count in counts]


def _without_full_stop(row: TaggedWords) -> TaggedWords:
    """Drop a final full stop, which people often leave out."""
    if len(row.words) < 2 or row.words[-1] != ".":
        return row
    return TaggedWords(row.words[:-1], row.tags[:-1])

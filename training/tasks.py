"""The contents of each step of the task stage, as a function of the step number.

More than half of the tokens of a step are running text (41 % of all) and short sentences (15 %), as
in the long pretraining; facts and sentence pairs, because telling neighbours apart is a task of the
site too, are another 14 %. So what was learnt there is kept, and the attention shown on the site is
that of the model that gave the answer. The rest are questions, tagged words, sentiment and choices.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

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
from training.cloze import gapped_sentences
from training.frames import feelings, people
from training.long_mixture import LongSettings
from training.mixture import Part
from training.named import as_read
from training.passages import made_questions
from training.rows import (
    CHOICE_FILES,
    MISC_SOURCES,
    PARTIAL_SOURCES,
    QUESTION_FILES,
    SHORT_QUESTION_FILES,
    TWO_CHOICE_FILES,
    Sentiment,
    choices,
    held_out,
    questions,
    reviews,
    sentiments,
    tagged_words,
    unanswerable,
    without_answer,
)
from training.task_model import TaskPart
from training.written.near import is_near

T = TypeVar("T")
_TASK_ROWS = (
    "questions", "tags", "partial_tags", "made_tags", "sentiment", "phrases", "reviews", "feelings",
    "choices", "gapped", "passages",
)  # fmt: skip
_SHARING = 16  # steps that share a pool of rows sorted by length, for less padding


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How many rows of each task a step has, and its pretraining part.

    Attributes:
        questions: question rows.
        unanswerable: share of the questions paired with a passage without the answer.
        short_questions: share of the questions from one-sentence passages.
        made_questions: share of the questions with an answer in a passage made by rule.
        tags: sentences with all four entity kinds annotated.
        partial_tags: sentences in which the fourth kind is not annotated.
        made_tags: sentences made from frames, with names of many countries, added to
            `partial_tags`.
        sentiment: sentences of film reviews; these and the phrases are half the time written as a
            person would type them.
        phrases: phrases of film reviews.
        reviews: sentences about products, films and restaurants.
        feelings: sentences made from frames, half of them with a negation or a contrast.
        choices: rows with four choices, from each source in proportion to the square root of its
            size; every fourth step has as many rows with two choices instead.
        gapped: textbook sentences with a gap and four terms, see `training.cloze`.
        weights: weights of the losses, by task.
        max_length: tokens per window; longer passages give several windows.
        stride: tokens shared by neighbouring windows.
        passages: questions in a part, which bounds the memory of a step.
        made: how many sentences are made from frames, of each kind, to draw from.
        pretraining: what the step has of the long pretraining.
        text_weight: weight of the losses of that part relative to those of the tasks.
        seed: seed of what is drawn.
    """

    questions: int = 31
    unanswerable: float = 0.2
    short_questions: float = 0.2
    made_questions: float = 0.06
    tags: int = 18
    partial_tags: int = 18
    made_tags: int = 12
    sentiment: int = 5
    phrases: int = 16
    reviews: int = 5
    feelings: int = 10
    choices: int = 8
    gapped: int = 4
    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "questions": 1.5,
            "tags": 1.0,
            "partial_tags": 0.8,
            "sentiment": 0.6,
            "choices": 0.4,
            "gapped": 0.3,
        }
    )
    max_length: int = 320
    stride: int = 96
    passages: int = 5
    made: int = 20_000
    pretraining: LongSettings = field(
        default_factory=lambda: LongSettings(
            blocks=72,
            sentences=230,
            relations=32,
            made_facts=72,
            pairs=48,
            made_pairs=0.3,
            same_document=0.25,
            swapped=0.25,
            seed=43,
        )
    )
    text_weight: float = 2.0
    seed: int = 33

    def times(self, factor: float) -> "TaskSettings":
        """Return the same step so many times as large."""
        rows = {name: max(1, round(factor * getattr(self, name))) for name in _TASK_ROWS}
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
    phrases: Sequence[Sentiment] = ()
    reviews: Sequence[Sentiment] = ()
    feelings: Sequence[Sentiment] = ()
    made_questions: Sequence[Question] = ()
    made_tags: Sequence[TaggedWords] = ()
    choices: Sequence[Sequence[Choices]] = ()
    two_choices: Sequence[Choices] = ()
    gapped: Sequence[Choices] = ()

    @classmethod
    def read(cls, data: Path, seed: int, *, made: int = 20_000, gapped: bool = False) -> "TaskRows":
        """Read all training rows of a data folder, without those for fitting temperatures.

        Nor those that come near an evaluation sentence of our own. The seed is that of rows made
        by rule; `made` sentences of each kind are made from frames. Making gapped sentences takes
        half a minute.
        """
        answered = [row for row in questions(data, QUESTION_FILES) if not held_out(row.context)]
        third = len(answered) // 6
        asked = _far(made_questions(data, 4 * third, seed), _question)
        return cls(
            _far(answered, _question),
            _far(questions(data, SHORT_QUESTION_FILES), _question),
            [
                *_far(unanswerable(answered, third, seed), _question),
                *_far(without_answer(answered, third, seed), _question),
                *[row for row in asked if row.answer is None][:third],
            ],
            _far(tagged_words(data, MISC_SOURCES), _words),
            _far(tagged_words(data, PARTIAL_SOURCES), _words),
            _far(sentiments(data, "train"), _typed),
            _far(sentiments(data, "phrases"), _typed),
            _far([Sentiment(row, row) for row in reviews(data)], _typed),
            [Sentiment(row, row) for row in feelings.sentences(made, seed)],
            [row for row in asked if row.answer is not None],
            people.sentences(data, made, seed),
            [_with_choices(choices(data, [name]), 4) for name in CHOICE_FILES],
            _with_choices(choices(data, TWO_CHOICE_FILES), 2),
            gapped_sentences(data, seed) if gapped else (),
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
    """Maps step and progress to the parts of that step; depends on the step alone.

    Args:
        rows: rows to draw from; each is used once before any is used again.
        tokenizer: the model's tokenizer.
        settings: step sizes.
        pretraining: supplies the parts with masked words and sentence pairs.
    """

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
        """Return the parts of a step, the longest first, so that workers finish together."""
        parts: list[Part | TaskPart] = [
            *(self._weighed(part) for part in self.pretraining(step, progress)),
            *self._question_parts(step),
            self._tag_part("tags", step),
            self._tag_part("partial_tags", step),
            self._sentiment_part(step),
            *self._choice_parts(step),
            *self._gapped_parts(step),
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
        made = round(settings.questions * settings.made_questions) if rows.made_questions else 0
        alike = partial(self._alike, step=step, length=lambda row: len(row.context))
        whole = [
            *alike("answered", rows.answered, settings.questions - none - short - made),
            *alike("unanswered", rows.unanswered, none),
            *alike("made_questions", rows.made_questions, made),
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
        settings, rows = self.settings, self.rows
        source = np.random.default_rng((settings.seed, 2, step, task == "tags"))
        alike = partial(self._alike, step=step, length=lambda row: len(" ".join(row.words)))
        chosen, made = alike(task, getattr(rows, task), getattr(settings, task)), []
        if task == "partial_tags" and rows.made_tags:
            made = alike("made_tags", rows.made_tags, settings.made_tags)
        drawn = [
            as_read(_without_full_stop(row) if source.random() < 0.2 else row) for row in chosen
        ]
        batch = word_batch(self.tokenizer, [*drawn, *made], max_length=settings.max_length)
        return TaskPart(task, batch, settings.weights[task])

    def _sentiment_part(self, step: int) -> TaskPart:
        source = np.random.default_rng((self.settings.seed, 3, step))
        drawn = []
        for name in ("sentiment", "phrases", "reviews", "feelings"):
            rows: Sequence[Sentiment] = getattr(self.rows, name)
            count = getattr(self.settings, name) if rows else 0
            for row in self._alike(name, rows, count, step, lambda row: len(row.split.text)):
                text = row.typed if source.random() < 0.5 else row.split
                bare = text.text.rstrip(".") if source.random() < 0.3 else text.text
                drawn.append(LabelledText(bare or text.text, text.label))
        batch = text_batch(self.tokenizer, drawn, max_length=self.settings.max_length)
        return TaskPart("sentiment", batch, self.settings.weights["sentiment"])

    def _choice_parts(self, step: int) -> list[TaskPart]:
        """Return the rows of each file apart, because they differ in length."""
        count, (turn, two) = self.settings.choices, divmod(step, 4)
        if two == 3 and self.rows.two_choices:
            return self._chosen("choices", "two_choices", self.rows.two_choices, count, turn)
        counts = shares(np.sqrt([len(rows) for rows in self.rows.choices]), count)
        return [
            part
            for number, rows in enumerate(self.rows.choices)
            for part in self._chosen(
                "choices", f"choices-{number}", rows, counts[number], step - turn, count
            )
        ]

    def _gapped_parts(self, step: int) -> list[TaskPart]:
        return self._chosen("gapped", "gapped", self.rows.gapped, self.settings.gapped, step)

    def _chosen(
        self,
        task: Literal["choices", "gapped"],
        name: str,
        rows: Sequence[Choices],
        count: int,
        step: int,
        whole: int | None = None,
    ) -> list[TaskPart]:
        """Return `count` rows as a part of the `whole` rows of a task; none if there are none."""
        if not rows or not count:
            return []
        drawn, share = (
            self._alike(name, rows, count, step, _choice_length),
            count / (whole or count),
        )
        batch = choice_batch(self.tokenizer, drawn, max_length=self.settings.max_length)
        return [TaskPart(task, batch, share * self.settings.weights[task], share)]

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


def _choice_length(row: Choices) -> int:
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

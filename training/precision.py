"""Measure what a narrower number type costs: every task in float32, and in bfloat16 or float16.

Both models read the same rows, evenly spaced over the evaluation files. What counts is not only
how many answers are right, which may stay the same by luck, but how many differ.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.model.bert import BertModel
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.reading.wordings import normalized, token_f1
from bert_core.text.tokenizer import BertTokenizer
from training import judgements
from training.evaluation import TASKS, Say, unmeasurable
from training.gaps import GAPS
from training.judgements import Judged
from training.pretraining_evaluation import (
    RUNNING_TEXT,
    WORD_SEED,
    fills,
    gap_words,
    pairs_by_kind,
    running_text,
)
from training.question_evaluation import elsewhere, read_questions, xquad
from training.rows import choices, sentiments, tagged_words
from training.scores import Floats
from training.task_evaluation import CHOICE_FILES, ENTITY_FILES, entity_counts, span_f1

T = TypeVar("T")
Flags = NDArray[np.bool_]
_TEXTS = 32  # blocks whose outputs are compared number by number


class Both(NamedTuple):
    """The same model with both number types."""

    exact: Any
    narrow: Any


@dataclass(frozen=True, slots=True)
class Loss:
    """One measure of a task with both types.

    Attributes:
        task: what is measured.
        cases: number of cases.
        exact: the result in float32, from 0 to 1.
        narrow: the result in the narrower type.
        changed: share of the cases with another answer, right or wrong.
    """

    task: str
    cases: int
    exact: float
    narrow: float
    changed: float

    @classmethod
    def of(cls, task: str, exact: Floats | Flags, narrow: Floats | Flags, changed: Flags) -> "Loss":
        """Average over cases."""
        means = (float(each.mean()) for each in (exact, narrow, changed))
        return cls(task, len(changed), *means)


@dataclass(frozen=True, slots=True)
class Difference:
    """How far an output's numbers are from those in float32.

    Attributes:
        output: which output.
        largest: the largest difference of two numbers.
        mean: the mean difference.
        size: the largest number in float32.
    """

    output: str
    largest: float
    mean: float
    size: float


def sample(rows: Sequence[T], most: int) -> list[T]:
    """Return at most so many rows, evenly spaced.

    >>> sample(range(10), 4)
    [0, 2, 5, 7]
    """
    count = min(most, len(rows))
    return [rows[place * len(rows) // count] for place in range(count)]


# -- tasks -----------------------------------------------------------------------------------------


def _of_best(task: str, judged: Iterable[tuple[Judged, Judged]]) -> Loss:
    """Compare the best answers of both models."""
    found = [
        (one.right, other.right, one.scores.argmax(-1) != other.scores.argmax(-1))
        for one, other in judged
    ]
    return Loss.of(task, *map(np.concatenate, zip(*found, strict=True)))


def _judged(task: str, both: Both, judge: Callable[[Any], Iterator[Judged]]) -> Loss:
    return _of_best(task, zip(*map(judge, both), strict=True))


def _masked_words(both: Both, tokenizer: BertTokenizer, data: Path, most: int) -> list[Loss]:
    blocks = sample(running_text(both.exact, tokenizer, data / RUNNING_TEXT), most)
    judged = (judgements.masked_words(model, tokenizer, blocks, WORD_SEED) for model in both)
    first, five = [], []
    for one, other in zip(*judged, strict=True):
        first.append((one, other))
        mine, theirs = _first_five(one), _first_five(other)
        found = [(each == one.wanted[:, None]).any(-1) for each in (mine, theirs)]
        five.append((*found, (np.sort(mine) != np.sort(theirs)).any(-1)))
    return [
        _of_best("masked word, first guess", first),
        Loss.of("masked word, among first five", *map(np.concatenate, zip(*five, strict=True))),
    ]


def _first_five(judged: Judged) -> NDArray[np.int64]:
    found: NDArray[np.int64] = torch.from_numpy(judged.scores).topk(5).indices.numpy()
    return found


def _gaps(both: Both, tokenizer: BertTokenizer, data: Path, most: int) -> list[Loss]:
    gaps = sample(GAPS, most)
    mine, theirs = (gap_words(model, tokenizer, gaps) for model in both)
    exact, narrow = (np.array(list(map(fills, gaps, words))) for words in (mine, theirs))
    changed = np.array([set(one) != set(other) for one, other in zip(mine, theirs, strict=True)])
    return [Loss.of("everyday gap, among first five", exact, narrow, changed)]


def _sentence_pairs(both: Both, tokenizer: BertTokenizer, data: Path, most: int) -> list[Loss]:
    return [
        _judged(
            f"next sentence, {kind}",
            both,
            partial(judgements.sentence_pairs, tokenizer=tokenizer, rows=sample(rows, most)),
        )
        for kind, rows in pairs_by_kind(data).items()
    ]


def _questions(both: Both, tokenizer: BertTokenizer, data: Path, most: int) -> list[Loss]:
    rows = xquad(data)
    asked = [(row, other) for row, other in zip(rows, elsewhere(rows), strict=True) if other]
    own, moved = (list(each) for each in zip(*sample(asked, most), strict=True))
    texts = [[each.text for each in read_questions(model, tokenizer, own)] for model in both]
    wanted = [row.answer or "" for row in own]
    changed = np.array([one != other for one, other in zip(*texts, strict=True)])

    def compared(task: str, score: Callable[[str, str], float]) -> Loss:
        exact, narrow = (np.array(list(map(score, said, wanted)), dtype=float) for said in texts)
        return Loss.of(f"question answering, {task}", exact, narrow, changed)

    judge = partial(judgements.has_answer, tokenizer=tokenizer, rows=[*own, *moved])
    return [
        compared("exact match", lambda said, right: normalized(said) == normalized(right)),
        compared("F1", token_f1),
        _judged("question answering, has an answer or not", both, judge),
    ]


def _names(both: Both, tokenizer: BertTokenizer, data: Path, most: int) -> list[Loss]:
    rows = sample(tagged_words(data, ENTITY_FILES), most)
    mine, theirs = (
        np.concatenate(
            [said.argmax(-1) for said, _ in judgements.word_labels(model, tokenizer, rows)]
        )
        for model in both
    )
    exact, narrow = (span_f1(entity_counts(model, tokenizer, rows)) for model in both)
    changed = float((mine != theirs).mean())
    return [Loss("named entities, F1 of spans", len(mine), exact, narrow, changed)]


def _sentiment(both: Both, tokenizer: BertTokenizer, data: Path, most: int) -> list[Loss]:
    rows = [row.typed for row in sample(sentiments(data, "test"), most)]
    judge = partial(judgements.texts, tokenizer=tokenizer, rows=rows)
    return [_judged("sentiment", both, judge)]


def _choices(
    both: Both, tokenizer: BertTokenizer, data: Path, most: int, *, name: str
) -> list[Loss]:
    rows = sample(choices(data, [f"{name}_test"]), most)
    judge = partial(judgements.choices, tokenizer=tokenizer, rows=rows)
    return [_judged(f"multiple choice, {name}", both, judge)]


Compare = Callable[[Both, BertTokenizer, Path, int], list[Loss]]
COMPARISONS: dict[str, Compare] = {
    "masked words": _masked_words,
    "everyday gaps": _gaps,
    "next sentence": _sentence_pairs,
    "question answering": _questions,
    "named entities": _names,
    "sentiment": _sentiment,
    **{f"multiple choice, {name}": partial(_choices, name=name) for name in CHOICE_FILES},
}
"""By the names of `evaluation.TASKS`; those left out ask the masked-word head, as others do."""


def losses(
    name_or_folder: str | Path, data: Path, dtype: str, most: int, say: Say = lambda line: None
) -> Iterator[Loss]:
    """Yield what the narrower type costs on every task of a model that there are rows for.

    Args:
        name_or_folder: name of a bundled model, or a folder with weights and vocabulary.
        data: the data folder.
        dtype: one of `training.choices.TYPES`.
        most: rows of each file, evenly spaced; for masked words, blocks of 128 tokens.
        say: called with what was left out, and why.
    """
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    both: Both | None = None
    for task in TASKS:
        if task.name not in COMPARISONS:
            continue
        if both is None or not isinstance(both.exact, task.cls):
            both = None
            gc.collect()
            both = _load(task.cls, name_or_folder, dtype)
        if reason := unmeasurable(task, both.exact, data):
            say(f"{task.name}: {reason}")
            continue
        yield from COMPARISONS[task.name](both, tokenizer, data, most)


def _load(cls: type[BertPreTrainedModel], name_or_folder: str | Path, dtype: str) -> Both:
    return Both(
        *(
            cls.from_pretrained(name_or_folder, dtype=each, ignore_mismatched_sizes=True)
            for each in ("float32", dtype)
        )
    )


# -- outputs ---------------------------------------------------------------------------------------


@torch.inference_mode()
def differences(name_or_folder: str | Path, data: Path, dtype: str) -> list[Difference]:
    """Compare vectors and attention probabilities on blocks of running text, number by number."""
    both = _load(BertModel, name_or_folder, dtype)
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    blocks = sample(running_text(both.exact, tokenizer, data / RUNNING_TEXT), _TEXTS)
    exact, narrow = (model.run(torch.tensor(blocks)) for model in both)
    return [
        _difference("vectors after the embeddings", *_at(0, exact, narrow)),
        _difference("vectors after the last layer", *_at(-1, exact, narrow)),
        _difference(
            "attention probabilities",
            torch.stack(exact.attentions),
            torch.stack(narrow.attentions),
        ),
    ]


def _at(layer: int, *outputs: Any) -> Iterator[torch.Tensor]:
    return (each.hidden_states[layer] for each in outputs)


def _difference(output: str, exact: torch.Tensor, narrow: torch.Tensor) -> Difference:
    apart = (narrow.float() - exact).abs()
    return Difference(
        output, *(float(each) for each in (apart.max(), apart.mean(), exact.abs().max()))
    )


# -- tables ----------------------------------------------------------------------------------------


def loss_table(found: Sequence[Loss], dtype: str) -> str:
    """Format losses as Markdown.

    >>> print(loss_table([Loss("a task", 200, 0.9, 0.895, 0.015)], "bfloat16"))
    | task | cases | float32 | bfloat16 | other answer |
    |---|---:|---:|---:|---:|
    | a task | 200 | 90.0 % | 89.5 % | 1.50 % |
    """
    rows = [
        f"| {each.task} | {each.cases:,} | {100 * each.exact:.1f} % | {100 * each.narrow:.1f} % | "
        f"{100 * each.changed:.2f} % |"
        for each in found
    ]
    head = f"| task | cases | float32 | {dtype} | other answer |"
    return "\n".join([head, "|---|---:|---:|---:|---:|", *rows])


def difference_table(found: Sequence[Difference]) -> str:
    """Format differences as Markdown.

    >>> print(difference_table([Difference("vectors", 0.03, 0.002, 9.5)]))
    | output | largest difference | mean difference | largest value |
    |---|---:|---:|---:|
    | vectors | 0.03 | 0.002 | 9.5 |
    """
    rows = [
        f"| {each.output} | {each.largest:.2g} | {_plain(each.mean)} | {each.size:.2g} |"
        for each in found
    ]
    head = "| output | largest difference | mean difference | largest value |"
    return "\n".join([head, "|---|---:|---:|---:|", *rows])


def _plain(number: float) -> str:
    """Write two digits without an exponent.

    >>> _plain(0.0000712), _plain(0.0039)
    ('0.000071', '0.0039')
    """
    return np.format_float_positional(number, precision=2, fractional=False)

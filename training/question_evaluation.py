"""Measure question answering by the usual SQuAD rules, with and without an answer.

Text is compared lower-cased, without punctuation and articles: exact match and token F1
(Rajpurkar et al. 2016); a question without an answer counts as right when none is given
(Rajpurkar et al. 2018).
"""

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.encoding import Encoding
from bert_core.finetuning import Question
from bert_core.heads import BertForQuestionAnswering
from bert_core.tokenizer import BertTokenizer
from training.rows import json_rows
from training.scores import BATCH, Score, mean, rectangle, score

MAX_ANSWER = 30  # word pieces, as usual
WINDOW, STRIDE = 384, 128


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answers: its best span, and how much more it favours having none."""

    text: str
    none_over_span: float


@torch.no_grad()
def answers(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, rows: Sequence[Question]
) -> Iterator[Answer]:
    """Yield the answer to each question; long passages are read in overlapping windows."""
    length = min(WINDOW, model.config.max_position_embeddings)
    for first in range(0, len(rows), BATCH):
        group = rows[first : first + BATCH]
        windows = [
            tokenizer.encode_windows(
                row.question, row.context, max_length=length, stride=min(STRIDE, length // 4)
            )
            for row in group
        ]
        flat = [window for found in windows for window in found]
        starts, ends = _span_logits(model, flat)
        place = 0
        for row, found in zip(group, windows, strict=True):
            best, none, span = -np.inf, np.inf, (0, 0)
            for window in found:
                value, where = _best_span(starts[place], ends[place], window)
                none = min(none, float(starts[place][0] + ends[place][0]))
                if value > best:
                    best, span = value, where
                place += 1
            yield Answer(row.context[span[0] : span[1]], none - best)


def _span_logits(
    model: BertForQuestionAnswering, windows: Sequence[Encoding]
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """Score all windows, those of like length together; rows without padding."""
    order = sorted(range(len(windows)), key=lambda index: len(windows[index].input_ids))
    starts: list[NDArray[np.float32]] = [np.zeros(0, np.float32)] * len(windows)
    ends = list(starts)
    for first in range(0, len(order), BATCH):
        chosen = order[first : first + BATCH]
        outputs = model.run(
            *rectangle([windows[index] for index in chosen], model.device),
            attentions=False,
            hidden_states=False,
        )
        assert outputs.start_logits is not None
        assert outputs.end_logits is not None
        for row, index in enumerate(chosen):
            size = len(windows[index].input_ids)
            starts[index] = outputs.start_logits[row, :size].float().cpu().numpy()
            ends[index] = outputs.end_logits[row, :size].float().cpu().numpy()
    return starts, ends


def _best_span(
    start: NDArray[np.float32], end: NDArray[np.float32], window: Encoding
) -> tuple[float, tuple[int, int]]:
    """Return the best valid span's score and its characters in the passage."""
    passage = np.array([sequence == 1 for sequence in window.sequence_ids])
    size = len(passage)
    allowed = np.triu(np.ones((size, size), bool)) & ~np.triu(
        np.ones((size, size), bool), MAX_ANSWER
    )
    allowed &= passage[:, None] & passage[None, :]
    sums = np.where(allowed, start[:, None] + end[None, :], -np.inf)
    first, last = divmod(int(sums.argmax()), size)
    return float(sums[first, last]), (window.offsets[first][0], window.offsets[last][1])


def normalized(text: str) -> str:
    """Return an answer as SQuAD compares it.

    >>> normalized("The  Eiffel Tower!")
    'eiffel tower'
    """
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def token_f1(found: str, wanted: str) -> float:
    """Return the token F1 of two answers; two empty ones agree.

    >>> round(token_f1("the old bridge", "an old stone bridge"), 2)
    0.8
    """
    one, other = normalized(found).split(), normalized(wanted).split()
    if not one or not other:
        return float(one == other)
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other))


def question_scores(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> list[Score]:
    """Measure exact match and F1 on XQuAD English, and the same with unanswerable questions."""
    rows = xquad(data)
    found = list(answers(model, tokenizer, rows))
    exact = np.array(
        [
            float(normalized(answer.text) == normalized(row.answer or ""))
            for answer, row in zip(found, rows, strict=True)
        ]
    )
    overlap = np.array(
        [token_f1(a.text, row.answer or "") for a, row in zip(found, rows, strict=True)]
    )
    where = "XQuAD English"
    scores = [
        score("question answering, exact match", where, exact, mean),
        score("question answering, F1", where, overlap, mean),
    ]
    return scores + unanswerable_scores(model, tokenizer, rows, found)


def unanswerable_scores(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    rows: Sequence[Question],
    found: Sequence[Answer],
) -> list[Score]:
    """Ask every second question of another passage of its article; an answer there is wrong."""
    asked = [
        (row, answer)
        for index, (row, answer) in enumerate(zip(rows, found, strict=True))
        if index % 2 == 0
    ]
    moved = elsewhere(rows)[1::2]
    empty = list(answers(model, tokenizer, moved))
    right = [float(answer.none_over_span < 0) for _, answer in asked]
    overlap = [
        token_f1(answer.text if answer.none_over_span < 0 else "", row.answer or "")
        for row, answer in asked
    ]
    refused = [float(answer.none_over_span >= 0) for answer in empty]
    where = "XQuAD English, every second question of another passage"
    return [
        score("has an answer or not", where, np.array(right + refused), mean),
        score("answer or none, F1", where, np.array(overlap + refused), mean),
    ]


def xquad(data: Path) -> list[Question]:
    """Read the evaluation questions."""
    return [
        Question(row["question"], row["context"], a["text"], a["answer_start"])
        for row in json_rows(data / "qa", "eval_xquad_en.jsonl")
        for a in row["answers"][:1]
    ]


def elsewhere(rows: Sequence[Question], passages: int = 5) -> list[Question]:
    """Ask each question of the next passage of its article that does not hold its answer.

    XQuAD has five passages an article, one after the other.
    """
    contexts = list(dict.fromkeys(row.context for row in rows))
    places = {context: index for index, context in enumerate(contexts)}
    moved = []
    for row in rows:
        place = places[row.context]
        article = contexts[place // passages * passages :][:passages]
        turned = article[place % passages + 1 :] + article[: place % passages]
        answer = normalized(row.answer or "")
        fitting = [context for context in turned if answer not in normalized(context)]
        moved.append(Question(row.question, (fitting or turned or [row.context])[0], None))
    return moved

"""Measure question answering by the usual SQuAD rules, with and without an answer.

Answers are decoded as the site decodes them: by `reading.spans`, of whole words within one
sentence. Text is compared lower-cased, without punctuation and articles: exact match and token F1
(Rajpurkar et al. 2016); a question without an answer counts as right when none is given
(Rajpurkar et al. 2018).
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.bundled.figures import Figure
from bert_core.finetuning import Question
from bert_core.model.heads import BertForQuestionAnswering
from bert_core.reading.sentences import sentence_starts
from bert_core.reading.spans import SpanScores, WindowLogits, score_spans
from bert_core.text.encoding import Encoding
from bert_core.text.tokenizer import BertTokenizer
from training.aims import ANSWERED, EXACT, OVERLAP, OVERLAP_OR_NONE
from training.rows import json_rows
from training.scores import Remembered, batches, mean, resampled

MAX_ANSWER = 30  # word pieces, as usual
WINDOW, STRIDE = 384, 128  # where the passage is longer than the model
_PASSAGES = 5  # of an article in XQuAD, one after the other

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Read:
    """What a model says about one question and a passage of N pieces.

    Attributes:
        row: the question.
        offsets: (N, 2) the characters of the passage's pieces.
        spans: the score of every span of the passage.
    """

    row: Question
    offsets: NDArray[np.intp]
    spans: SpanScores

    @property
    def text(self) -> str:
        """The best span's text."""
        first, last = self.spans.best
        return self.row.context[self.offsets[first, 0] : self.offsets[last, 1]]

    @property
    def answers(self) -> bool:
        """Whether the best span is scored above "no answer"."""
        return self.spans.best_score > self.spans.null


_READ: Remembered[Question, Read] = Remembered()


def read_questions(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, rows: Sequence[Question]
) -> list[Read]:
    """Score every span of each question's passage.

    A passage that fits the model is read whole, a longer one in overlapping windows.
    """
    return _READ.answers(model, rows, lambda new: _read_all(model, tokenizer, new))


@torch.no_grad()
def _read_all(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, rows: Sequence[Question]
) -> list[Read]:
    """Read every question, rows of like length together."""
    wholes = [tokenizer.encode(row.question, row.context) for row in rows]
    windows, shared = [], []
    for row, whole in zip(rows, wholes, strict=True):
        asked = whole.sequence_ids.count(0)
        size = min(WINDOW, model.config.max_position_embeddings)
        stride = max(0, min(STRIDE, (size - 3 - asked) // 2))
        fits = len(whole) <= model.config.max_position_embeddings
        shared.append(stride)
        windows.append(
            [whole]
            if fits
            else tokenizer.encode_windows(row.question, row.context, max_length=size, stride=stride)
        )
    logits = span_logits(model, tokenizer, [window for found in windows for window in found])
    found, place = [], 0
    for row, whole, cut, stride in zip(rows, wholes, windows, shared, strict=True):
        parts = _window_logits(cut, logits[place : place + len(cut)], stride)
        found.append(_read(row, whole, parts))
        place += len(cut)
    return found


def span_logits(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, inputs: Sequence[Encoding]
) -> list[tuple[Floats, Floats]]:
    """Return start and end logits of every input, (T,) each."""
    found: list[tuple[Floats, Floats]] = [(np.zeros(0), np.zeros(0))] * len(inputs)
    for group, tensors in batches(tokenizer, inputs, model.device):
        outputs = model.run(*tensors, attentions=False, hidden_states=False)
        assert outputs.start_logits is not None
        assert outputs.end_logits is not None
        starts, ends = outputs.start_logits.double().cpu(), outputs.end_logits.double().cpu()
        for index, start, end in zip(group, starts, ends, strict=True):
            size = len(inputs[index])
            found[index] = (start[:size].numpy(), end[:size].numpy())
    return found


def _window_logits(
    windows: Sequence[Encoding], logits: Sequence[tuple[Floats, Floats]], shared: int
) -> list[WindowLogits]:
    """Cut the logits of the passage out of each window."""
    found, first = [], 0
    for window, (start, end) in zip(windows, logits, strict=True):
        held = slice(window.sequence_ids.index(1), -1)
        found.append(WindowLogits(first, start[held], end[held], float(start[0] + end[0])))
        first += len(start[held]) - shared
    return found


def _read(row: Question, whole: Encoding, windows: Sequence[WindowLogits]) -> Read:
    """Score the spans of one passage."""
    held = slice(whole.sequence_ids.index(1), -1)
    offsets = np.array(whole.offsets[held], dtype=np.intp)
    spans = score_spans(
        windows,
        MAX_ANSWER,
        np.zeros(len(offsets), dtype=np.bool_),
        words=np.array(whole.word_ids[held], dtype=np.intp),
        parts=np.searchsorted([0, *sentence_starts(row.context)], offsets[:, 0], side="right"),
    )
    return Read(row, offsets, spans)


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


def question_figures(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure exact match and F1 on XQuAD English, and the same with unanswerable questions."""
    rows = xquad(data)
    moved = elsewhere(rows)
    asked = [place for place in range(1, len(rows), 2) if moved[place] is not None]
    empty = [question for place in asked if (question := moved[place]) is not None]
    read = read_questions(model, tokenizer, [*rows, *empty])
    found, without = read[: len(rows)], read[len(rows) :]
    exact = [float(normalized(each.text) == normalized(each.row.answer or "")) for each in found]
    overlap = [token_f1(each.text, each.row.answer or "") for each in found]
    answered = [float(each.answers) for each in found[::2]]
    refused = [float(not each.answers) for each in without]
    either = [kept * given for kept, given in zip(overlap[::2], answered, strict=True)]
    return [
        resampled(EXACT, np.array(exact), mean),
        resampled(OVERLAP, np.array(overlap), mean),
        resampled(ANSWERED, np.array(answered + refused), mean),
        resampled(OVERLAP_OR_NONE, np.array(either + refused), mean),
    ]


def xquad(data: Path) -> list[Question]:
    """Read the evaluation questions."""
    return [
        Question(row["question"], row["context"], a["text"], a["answer_start"])
        for row in json_rows(data / "qa", "eval_xquad_en.jsonl")
        for a in row["answers"][:1]
    ]


def elsewhere(rows: Sequence[Question]) -> list[Question | None]:
    """Ask each question of the next passage of its article that does not hold its answer.

    XQuAD has five passages an article, one after the other.

    Returns:
        One question a row; None where every other passage of the article holds the answer's text.
    """
    contexts = list(dict.fromkeys(row.context for row in rows))
    places = {context: index for index, context in enumerate(contexts)}
    moved: list[Question | None] = []
    for row in rows:
        place = places[row.context]
        article = contexts[place // _PASSAGES * _PASSAGES :][:_PASSAGES]
        turned = article[place % _PASSAGES + 1 :] + article[: place % _PASSAGES]
        answer = normalized(row.answer or "")
        fitting = [context for context in turned if answer not in normalized(context)]
        moved.append(Question(row.question, fitting[0], None) if fitting else None)
    return moved

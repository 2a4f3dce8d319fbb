"""Question answering: which characters of a passage answer a question.

`bert_core.reading.passage` reads the passage, through the engine, and scores its spans. This
module turns the scores into a result for the page.
"""

from typing import Annotated

import numpy as np

from app.engine.compute.recent import RECENT
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.windows import window_runner
from app.features.qa.result import Coverage, Floats, QaResult, Words
from app.records.fields import Field
from bert_core import BertForQuestionAnswering
from bert_core.config import HAS_ANSWER
from bert_core.errors import InputError
from bert_core.reading.passage import (
    LONGEST,
    PassageAnswers,
    PassageReading,
    Rules,
    read_passages,
)
from bert_core.reading.running import Progress
from bert_core.reading.unread import unread

MOST_PIECES = 60
MOST_ANSWERS = 20
MOST_QUESTIONS = 10
MOST_SCORE = 15.0  # of the threshold, a difference of logits


def qa(
    engine: Engine,
    passage: Annotated[str, Field("Passage", key="text", lines=10)],
    question: Annotated[str, Field("Question", lines=1, first=True)],
    *,
    answers: Annotated[int, Field("Answers listed", low=1, high=MOST_ANSWERS, start=3)] = 5,
    longest: Annotated[int, Field("Longest answer, in pieces", low=1, high=MOST_PIECES)] = LONGEST,
    threshold: Annotated[
        float, Field("“No answer” above a score of", low=-MOST_SCORE, high=MOST_SCORE)
    ] = 0.0,
    whole_words: Annotated[bool, Field("Whole words only", key="whole")] = True,
    one_sentence: Annotated[bool, Field("Within one sentence", key="single")] = True,
    progress: Progress | None = None,
) -> QaResult:
    """Find the answer to a question in a passage of any length.

    Args:
        engine: the model.
        passage: the text to search.
        question: the question.
        answers: the most answers that are listed; no two say the same.
        longest: the most pieces in an answer.
        threshold: the no-answer score, a difference of logits, above which there is no answer.
        whole_words: whether an answer must not begin or end inside a word.
        one_sentence: whether an answer must begin and end in the same sentence.
        progress: called for each window with the number done and the total.

    Raises:
        InputError: a text is empty, the question is too long for the model, nothing in the
            passage can be an answer.
    """
    reading = RECENT.get(
        ("qa", engine.provenance.name, engine.provenance.fingerprint, passage, question),
        make=lambda: _read(engine, passage, question, progress),
        size=lambda made: made.nbytes,
    )
    scale = engine.calibration(BertForQuestionAnswering)
    outer = engine.calibration(BertForQuestionAnswering, HAS_ANSWER)
    found = reading.answers(
        longest,
        Rules(whole_words, one_sentence),
        temperature=scale.temperature,
        has_answer=outer.temperature,
    )
    probability = found.probability
    return QaResult(
        model=engine.provenance.name,
        passage=passage,
        question=question,
        answers=found.best(answers),
        touching=_touching(probability, *found.spans.best),
        null_score=found.spans.null,
        null_probability=found.null_probability,
        candidates=int(np.isfinite(found.spans.score).sum()),
        longest=found.longest,
        rules=found.rules,
        threshold=threshold,
        words=_words(found, probability),
        coverage=_coverage(found),
        unread=unread(engine.tokenizer, [engine.tokenizer.encode(question, passage)]),
        calibration=scale,
        has_answer=outer,
    )


def _read(engine: Engine, passage: str, question: str, progress: Progress | None) -> PassageReading:
    check_text(passage)
    runner = window_runner(engine, BertForQuestionAnswering, progress)
    [reading] = read_passages(runner, [(passage, question)])
    return reading


def questions(text: str) -> tuple[str, ...]:
    """Split a text into questions, one per line.

    Raises:
        InputError: there are more questions than the page accepts.

    >>> questions("Who?\\n\\n  Where? ")
    ('Who?', 'Where?')
    """
    found = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(found) > MOST_QUESTIONS:
        raise InputError(
            f"There are {len(found)} questions, one per line; this page answers at most "
            f"{MOST_QUESTIONS} at once. Remove some of them."
        )
    return found


def _touching(probability: Floats, first: int, last: int) -> float:
    """Sum the probability of all spans that share a piece with the span `first` to `last`."""
    rows = np.arange(max(0, first - probability.shape[1] + 1), last + 1)
    reaches = rows[:, None] + np.arange(probability.shape[1]) >= first
    return float(probability[rows][reaches].sum())


def _words(found: PassageAnswers, probability: Floats) -> Words:
    reading, spans = found.reading, found.spans
    pieces, longest = probability.shape
    ends = np.zeros(pieces)
    for more in range(longest):
        ends[more:] += probability[: pieces - more, more]
    begins = np.flatnonzero(np.diff(reading.words, prepend=-1))
    lasts = np.append(begins[1:], pieces) - 1
    first, last = spans.best
    return Words(
        starts=reading.spans[begins, 0],
        ends=reading.spans[lasts, 1],
        start_probability=np.add.reduceat(probability.sum(axis=1), begins),
        end_probability=np.add.reduceat(ends, begins),
        pieces=np.column_stack([begins, lasts + 1]) + reading.offset,
        answer=(int(reading.words[first]), int(reading.words[last])),
    )


def _coverage(found: PassageAnswers) -> Coverage:
    reading, spans = found.reading, found.spans
    first, last = spans.best
    windows = tuple((window.first, window.last) for window in reading.windows)
    return Coverage(
        pieces=len(reading.spans),
        question=len(reading.asked),
        windows=windows,
        tokens=max(len(window.start) for window in reading.windows),
        shared=reading.shared,
        answer=(first, last),
        answer_window=int(spans.window[first, last - first]),
    )

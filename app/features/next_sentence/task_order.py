"""Which sentence of a paragraph may follow which, and the order that the model likes best."""

from itertools import pairwise, permutations
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray

from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.next_sentence.result import IS_NEXT, SentenceOrderResult
from app.records.fields import Field
from bert_core import BertForNextSentencePrediction
from bert_core.errors import InputError, count
from bert_core.reading.running import Progress
from bert_core.reading.sentences import typed_sentence_starts

MOST = 12  # sentences: 132 pairs to read, and 4,096 sets of them to search


def next_sentence_order(
    engine: Engine,
    paragraph: Annotated[str, Field(f"A paragraph of 2 to {MOST} sentences", lines=6)],
    progress: Progress | None = None,
) -> SentenceOrderResult:
    """Find the order of a paragraph's sentences that the model likes best.

    Every ordered pair of sentences is scored.

    Args:
        engine: the model.
        paragraph: a text of 2 to 12 sentences.
        progress: called after each group of pairs with the number done and the total.

    Raises:
        InputError: the text has fewer or more sentences, or one without pieces.
    """
    sentences = split(paragraph)
    if not 2 <= len(sentences) <= MOST:
        raise InputError(
            f"Found {count(len(sentences), 'sentence')}; expected 2 to {MOST}. A sentence ends at "
            ". ! or ? before a capital letter, or at an empty line."
        )
    blank = next((each for each in sentences if not engine.tokenizer.tokenize(each)), None)
    if blank is not None:
        raise InputError(f"The sentence “{blank[:60]}” has no piece that the model reads.")
    return RECENT.get(
        ("order", engine.provenance.fingerprint, sentences),
        make=lambda: _order(engine, sentences, progress),
        size=lambda result: 8 * result.follows.size + 2 * len(paragraph) + 1000,
    )


def split(paragraph: str) -> tuple[str, ...]:
    """Split a paragraph into sentences.

    >>> split("It rained. We stayed in.")
    ('It rained.', 'We stayed in.')
    """
    ends = [0, *typed_sentence_starts(paragraph), len(paragraph)]
    parts = (paragraph[start:end].strip() for start, end in pairwise(ends))
    return tuple(" ".join(part.split()) for part in parts if part)


def best_order(gains: NDArray[np.float64]) -> tuple[int, ...]:
    """Find the order of n things with the largest sum of gains between neighbours.

    Exact: dynamic programming over sets, n² 2ⁿ steps instead of n! orders (Held and Karp 1962).

    Args:
        gains: (n, n); `gains[i, j]` is gained where j comes right after i.

    >>> best_order(np.log([[1, 0.9, 0.1], [0.2, 1, 0.1], [0.8, 0.3, 1]]))
    (2, 0, 1)
    """
    n = len(gains)
    total = np.full((1 << n, n), -np.inf)  # by the set of things placed, and the last of them
    before = np.zeros((1 << n, n), dtype=np.int64)
    for last in range(n):
        total[1 << last, last] = 0.0
    for placed in range(1, 1 << n):
        reached = total[placed][:, None] + gains  # (n, n)
        origin = reached.argmax(axis=0)
        for new in range(n):
            if not placed >> new & 1:
                total[placed | 1 << new, new] = reached[origin[new], new]
                before[placed | 1 << new, new] = origin[new]
    placed = (1 << n) - 1
    order = [int(total[placed].argmax())]
    while len(order) < n:
        last = order[-1]
        order.append(int(before[placed, last]))
        placed ^= 1 << last
    return tuple(reversed(order))


def _order(
    engine: Engine, sentences: tuple[str, ...], progress: Progress | None
) -> SentenceOrderResult:
    pairs = list(permutations(range(len(sentences)), 2))
    encodings = [
        engine.tokenizer.encode(sentences[a], sentences[b], max_length=engine.max_length)
        for a, b in pairs
    ]
    logits = engine.logits(BertForNextSentencePrediction, encodings, progress).double()  # (N, 2)
    scale = engine.calibration(BertForNextSentencePrediction)
    gains = torch.log_softmax(logits / scale.temperature, dim=-1)[:, IS_NEXT].numpy()
    table = np.full((len(sentences), len(sentences)), np.nan)
    table[tuple(np.array(pairs).T)] = gains
    return SentenceOrderResult(
        sentences=sentences,
        follows=np.exp(table),
        best=best_order(np.where(np.isnan(table), -np.inf, table)),
        cut=sum(encoding.truncated > 0 for encoding in encodings),
        calibration=scale,
    )

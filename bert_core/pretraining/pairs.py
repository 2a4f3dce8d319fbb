"""Sentence pairs for next-sentence prediction: half consecutive, half not.

Source: Devlin et al. 2019, section 3.1, task 2. A document is a sequence of sentences. A sentence
can be of any type, such as a string or a list of token ids.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bert_core.errors import InputError

Sentence = TypeVar("Sentence")

IS_NEXT, IS_RANDOM = 0, 1  # as in seq_relationship_score
# Sentences closer than this in one document often read as if one followed the other.
MIN_DISTANCE = 4


@dataclass(frozen=True, slots=True)
class SentencePair(Generic[Sentence]):
    """Two sentences and whether the second follows the first (0) or not (1)."""

    first: Sentence
    second: Sentence
    label: int


def sentence_pairs(
    documents: Sequence[Sequence[Sentence]],
    *,
    count: int | None = None,
    same_document: float = 0.0,
    swapped: float = 0.0,
    seed: int = 0,
) -> list[SentencePair[Sentence]]:
    """Build sentence pairs, half of them consecutive, in random order.

    Args:
        count: number of pairs; None for one pair per two consecutive sentences.
        same_document: share of the negatives whose second sentence comes from the same document, at
            least four sentences away (harder than a different topic).
        swapped: share of the negatives that are consecutive sentences in the wrong order.

    Raises:
        InputError: no document has two sentences, there is no other document to draw a random
            sentence from, or the shares do not fit into 1.
    """
    if min(same_document, swapped) < 0 or same_document + swapped > 1:
        raise InputError(
            f"same_document is {same_document} and swapped is {swapped}; both are shares of the "
            "negatives, not below 0 and together at most 1."
        )
    places = [(d, s) for d, document in enumerate(documents) for s in range(len(document) - 1)]
    if not places:
        raise InputError("No document has two sentences; give documents as lists of sentences.")
    if same_document + swapped < 1 and sum(1 for document in documents if document) < 2:
        raise InputError("There is only one document to draw from. Give more, or same_document=1.")
    source = random.Random(seed)
    source.shuffle(places)
    total = len(places) if count is None else count
    labels = [IS_NEXT] * ((total + 1) // 2) + [IS_RANDOM] * (total // 2)
    source.shuffle(labels)
    filled = [index for index, document in enumerate(documents) if document]

    def pair(document: int, at: int, label: int) -> SentencePair[Sentence]:
        sentences = documents[document]
        first, following = sentences[at], sentences[at + 1]
        if label == IS_NEXT:
            return SentencePair(first, following, IS_NEXT)
        lot = source.random()
        if lot < swapped:
            return SentencePair(following, first, IS_RANDOM)
        if lot < swapped + same_document:
            far = [i for i in range(len(sentences)) if abs(i - at) >= MIN_DISTANCE]
            if far:
                return SentencePair(first, sentences[source.choice(far)], IS_RANDOM)
            if len(filled) < 2:  # a single short document: fall back to the wrong order
                return SentencePair(following, first, IS_RANDOM)
        other = document
        while other == document:
            other = source.choice(filled)
        return SentencePair(first, source.choice(documents[other]), IS_RANDOM)

    return [pair(*places[i % len(places)], label) for i, label in enumerate(labels)]

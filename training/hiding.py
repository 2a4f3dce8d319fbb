"""Two more ways of hiding words: as a visitor would, and at every occurrence in the row.

`bert_core.pretraining.mask_tokens` hides pieces or words at scattered places. A hidden word that
also occurs elsewhere in the row teaches copying, which is useless for what visitors type, where the
hidden word occurs nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bert_core.pretraining import (
    MaskingVocabulary,
    PretrainingBatch,
    Rows,
    gather_positions,
)
from training.words import content_pieces

_IGNORED = -100


@dataclass(frozen=True, slots=True)
class WordTables:
    """Properties of the pieces in a vocabulary, each table (V,) bool.

    Attributes:
        special: never hidden.
        continuation: continues the preceding word.
        content: begins a content word.
        mask_id: id of [MASK].
    """

    special: list[bool]
    continuation: list[bool]
    content: list[bool]
    mask_id: int

    @classmethod
    def from_vocab(cls, vocab: dict[str, int]) -> "WordTables":
        """Read the tables from a tokenizer's `vocab`."""
        masking = MaskingVocabulary.from_vocab(vocab)
        return cls(
            masking.special.tolist(),
            masking.continuation.tolist(),
            content_pieces(vocab).tolist(),
            masking.mask_id,
        )

    def words(self, ids: Sequence[int]) -> list[list[int]]:
        """Return the positions of each word's pieces; special tokens are not words."""
        words: list[list[int]] = []
        for place, piece in enumerate(ids):
            if self.special[piece]:
                continue
            if words and self.continuation[piece] and words[-1][-1] == place - 1:
                words[-1].append(place)
            else:
                words.append([place])
        return words


def asked_places(
    ids: Sequence[int], tables: WordTables, source: np.random.Generator, *, any_word: float
) -> list[int]:
    """Choose what a visitor might hide: one word, or two in a longer sentence.

    Words that occur in the sentence twice are avoided if there are others to choose.

    Args:
        ids: a sentence.
        tables: tables of the vocabulary.
        source: random source.
        any_word: how often any word may be chosen, including function words and punctuation.
    """
    words = [word for word in tables.words(ids) if len(word) <= 3]
    content = [word for word in words if tables.content[ids[word[0]]]]
    names = [tuple(ids[place] for place in word) for word in content]
    once = [word for word, name in zip(content, names, strict=True) if names.count(name) == 1]
    pool = once or content or words
    if source.random() < any_word:
        pool = words
    if not pool:
        return []
    wanted = 2 if len(words) >= 8 and len(pool) > 1 and source.random() < 0.35 else 1
    chosen = source.choice(len(pool), size=wanted, replace=False)
    return sorted(place for index in chosen for place in pool[index])


def everywhere_places(
    ids: Sequence[int], tables: WordTables, source: np.random.Generator, *, rate: float
) -> list[int]:
    """Choose words to hide and, for content words, include every occurrence in the row.

    Args:
        ids: a row.
        tables: tables of the vocabulary.
        source: random source.
        rate: approximate share of the pieces to choose.
    """
    words = tables.words(ids)
    names = [tuple(ids[place] for place in word) for word in words]
    places_of: dict[tuple[int, ...], list[int]] = {}
    for word, name in zip(words, names, strict=True):
        places_of.setdefault(name, []).extend(word)
    wanted = max(1, round(rate * sum(map(len, words))))
    chosen: set[int] = set()
    for index in source.permutation(len(words)):
        everywhere = tables.content[names[index][0]]
        more = places_of[names[index]] if everywhere else words[index]
        if len(chosen) + len(more) <= wanted + 1:
            chosen.update(more)
        if len(chosen) >= wanted:
            break
    return sorted(chosen)


def hidden_batch(
    input_ids: Tensor, places: Sequence[Sequence[int]], mask_id: int, rows: Rows | None = None
) -> PretrainingBatch:
    """Put [MASK] at the given positions and keep the original ids as labels.

    Args:
        input_ids: (B, T); not modified.
        places: positions to hide in each row.
        mask_id: id of [MASK].
        rows: padded rows, if there is padding.
    """
    labels = torch.full_like(input_ids, _IGNORED)
    for row, chosen in enumerate(places):
        labels[row, list(chosen)] = input_ids[row, list(chosen)]
    hidden = torch.where(labels == _IGNORED, input_ids, mask_id)
    positions, position_labels, _ = gather_positions(labels)
    return PretrainingBatch(
        hidden,
        None if rows is None else rows.token_type_ids,
        None if rows is None else rows.attention_mask,
        positions,
        position_labels,
    )


def joined_batches(first: PretrainingBatch, second: PretrainingBatch) -> PretrainingBatch:
    """Concatenate two batches whose rows have the same length.

    >>> one = hidden_batch(torch.tensor([[1, 5, 2]]), [[1]], 4)
    >>> two = hidden_batch(torch.tensor([[1, 6, 2], [1, 7, 2]]), [[0, 1], [1]], 4)
    >>> joined_batches(one, two).position_labels.tolist()
    [[5, -100], [1, 6], [7, -100]]
    """
    assert first.positions is not None and first.position_labels is not None  # noqa: PT018
    assert second.positions is not None and second.position_labels is not None  # noqa: PT018
    width = max(first.positions.shape[1], second.positions.shape[1])
    fitted = {
        name: torch.cat([_widened(getattr(batch, name), width, fill) for batch in (first, second)])
        for name, fill in (("positions", 0), ("position_labels", _IGNORED))
    }
    whole = {
        name: torch.cat([getattr(first, name), getattr(second, name)])
        for name in ("input_ids", "token_type_ids", "attention_mask")
        if getattr(first, name) is not None
    }
    return PretrainingBatch(**whole, **fitted)


def _widened(values: Tensor, width: int, fill: int) -> Tensor:
    return torch.nn.functional.pad(values, (0, width - values.shape[1]), value=fill)

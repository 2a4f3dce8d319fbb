"""Two more ways of hiding words: as a visitor would, and at every occurrence in the row.

`bert_core.pretraining.mask_tokens` hides pieces or words at scattered places. A hidden word that
also occurs elsewhere in the row teaches copying, which is useless for what visitors type, where the
hidden word occurs nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from bert_core.pretraining import MaskingVocabulary
from bert_core.pretraining.corruption import IGNORED

# Words that say little by themselves; all others are content words.
_FILE = Path(__file__).with_name("function_words.txt")
FUNCTION_WORDS = frozenset(_FILE.read_text(encoding="utf-8").split())
Hidden = tuple[Tensor, Tensor]  # ids with some of them hidden, and labels; both (B, T)


@dataclass(frozen=True, slots=True)
class WordTables:
    """Properties of the pieces in a vocabulary, each table (V,) bool."""

    special: Annotated[list[bool], "never hidden"]
    continuation: Annotated[list[bool], "continues the preceding word"]
    content: Annotated[list[bool], "begins a content word"]
    mask_id: Annotated[int, "id of [MASK]"]

    @classmethod
    def from_vocab(cls, vocab: dict[str, int]) -> "WordTables":
        """Read the tables from a tokenizer's `vocab`."""
        masking = MaskingVocabulary.from_vocab(vocab)
        content = [False] * len(masking.special)
        for piece, index in vocab.items():
            content[index] = len(piece) > 1 and piece.isalpha() and piece not in FUNCTION_WORDS
        return cls(
            masking.special.tolist(), masking.continuation.tolist(), content, masking.mask_id
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

    Content words that occur only once are preferred, except in a share `any_word` of sentences.
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
    """Choose about a share `rate` of a row's pieces: words, content words at all occurrences."""
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


def hide(input_ids: Tensor, places: Sequence[Sequence[int]], mask_id: int) -> Hidden:
    """Return the ids (B, T) with [MASK] at the given positions of each row, and the labels there.

    >>> hide(torch.tensor([[1, 5, 2]]), [[1]], 4)[1].tolist()
    [[-100, 5, -100]]
    """
    labels = torch.full_like(input_ids, IGNORED)
    for row, chosen in enumerate(places):
        labels[row, list(chosen)] = input_ids[row, list(chosen)]
    return torch.where(labels == IGNORED, input_ids, mask_id), labels

"""Token ids to model inputs: packed blocks, single sentences and sentence pairs.

Rows are `[CLS] text [SEP]` or `[CLS] A [SEP] B [SEP]` with segments 0 and 1 (Devlin et al. 2019,
section 3.1). Short rows are padded, long ones truncated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from bert_core.errors import InputError
from bert_core.text.batches import padded


@dataclass(frozen=True, slots=True)
class RowTokens:
    """Ids of the special tokens used to build rows."""

    pad_id: int
    cls_id: int
    sep_id: int

    @classmethod
    def from_vocab(cls, vocab: Mapping[str, int]) -> "RowTokens":
        """Look up the ids in a tokenizer's `vocab`; an InputError names what is missing."""
        names = ("[PAD]", "[CLS]", "[SEP]")
        if missing := [name for name in names if name not in vocab]:
            raise InputError(f"The vocabulary lacks {', '.join(missing)}, which rows need.")
        return cls(*(vocab[name] for name in names))


@dataclass(frozen=True, slots=True)
class Rows:
    """Padded rows: input_ids, token_type_ids and attention_mask, each (B, T)."""

    input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor


def pack_blocks(
    documents: Iterable[Sequence[int]], length: int, tokens: RowTokens
) -> list[list[int]]:
    """Split documents into full blocks `[CLS] ... [SEP]` of `length` tokens.

    Documents are joined with a [SEP] between them, so no token is padding or dropped; only the
    last block can be shorter.

    >>> pack_blocks([[5, 6, 7], [8]], 5, RowTokens(0, 1, 2))
    [[1, 5, 6, 7, 2], [1, 8, 2]]
    """
    if length < 3:
        raise InputError(f"A block of {length} tokens has no room for text; give at least 3.")
    room = length - 2
    inner: list[list[int]] = [[]]
    for document in documents:
        rest = [tokens.sep_id, *document] if inner[-1] else document
        start = 0
        while start < len(rest):
            stop = start + room - len(inner[-1])
            inner[-1] += rest[start:stop]
            start = stop
            if len(inner[-1]) == room:
                inner.append([])
    return [[tokens.cls_id, *block, tokens.sep_id] for block in inner if block]


def truncate_pair(
    first: Sequence[int], second: Sequence[int], room: int
) -> tuple[list[int], list[int]]:
    """Shorten two sequences to `room` tokens in total, always at the end of the longer one.

    >>> truncate_pair([1, 2, 3, 4, 5], [6, 7], 5)
    ([1, 2, 3], [6, 7])
    """
    a, b = list(first), list(second)
    while len(a) + len(b) > room:
        (a if len(a) >= len(b) else b).pop()
    return a, b


def sentence_rows(sentences: Sequence[Sequence[int]], length: int, tokens: RowTokens) -> Rows:
    """Build rows `[CLS] A [SEP]`, truncated to `length` and padded to the longest."""
    room = _room(length, 2)
    rows = [[tokens.cls_id, *sentence[:room], tokens.sep_id] for sentence in sentences]
    return _pad(rows, list(map(len, rows)), tokens.pad_id)


def pair_rows(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]], length: int, tokens: RowTokens
) -> Rows:
    """Build rows `[CLS] A [SEP] B [SEP]`, truncated to `length` and padded to the longest."""
    room = _room(length, 3)
    cut = [truncate_pair(first, second, room) for first, second in pairs]
    rows = [[tokens.cls_id, *a, tokens.sep_id, *b, tokens.sep_id] for a, b in cut]
    return _pad(rows, [len(a) + 2 for a, _ in cut], tokens.pad_id)


def _room(length: int, specials: int) -> int:
    if length <= specials:
        raise InputError(
            f"A row of {length} tokens has no room for text besides {specials} special tokens."
        )
    return length - specials


def _pad(rows: list[list[int]], firsts: list[int], pad_id: int) -> Rows:
    """Pad to the longest row; `firsts` has the number of tokens in segment 0 of each row."""
    if not rows:
        raise InputError("There are no rows to build; give at least one sentence or pair.")
    types = [
        [0] * first + [1] * (len(row) - first) for row, first in zip(rows, firsts, strict=True)
    ]
    mask = [[1] * len(row) for row in rows]
    return Rows(padded(rows, pad_id), padded(types, 0), padded(mask, 0))

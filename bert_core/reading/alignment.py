"""The same text cut by two tokenizers: which of their pieces cover the same characters."""

import math
from bisect import bisect_right
from collections.abc import Sequence

from bert_core.text.encoding import Encoding

Spans = Sequence[tuple[int, int]]
Shared = tuple[tuple[int, ...], tuple[int, ...]]
"""Positions in the first and in the second input of what covers the same characters."""


def stretch_ends(spans: Spans) -> list[int]:
    """Return where the stretches end that spans cover if overlapping ones are joined.

    Empty spans belong to the stretch after them.

    >>> stretch_ends([(0, 4), (4, 8), (0, 3), (3, 4), (6, 8)])
    [4, 8]
    """
    ends: list[int] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if ends and start < ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            ends.append(end)
    return ends


def align_pieces(first: Encoding, second: Encoding) -> tuple[Shared, ...]:
    """Pair the pieces of two inputs that were made from the same texts, in their order.

    Pieces that overlap are in one stretch. Added tokens are paired by the texts that are before
    them, so that both [SEP] of a pair meet their own kind. What only one input has is left out.
    """
    both = [list(zip(each.offsets, each.sequence_ids, strict=True)) for each in (first, second)]
    ends = {
        side: stretch_ends([span for each in both for span, own in each if own == side])
        for side in (0, 1)
    }
    found: dict[tuple[int, float], tuple[list[int], list[int]]] = {}
    for which, each in enumerate(both):
        before = 0  # texts that have begun
        for at, ((start, _), side) in enumerate(each):
            before = before if side is None else side + 1
            place = math.inf if side is None else bisect_right(ends[side], start)
            found.setdefault((before, place), ([], []))[which].append(at)
    shared = ((tuple(a), tuple(b)) for _, (a, b) in sorted(found.items()))
    return tuple(each for each in shared if all(each))


def plain_spelling(token: str) -> str:
    """Return a spelling that vocabularies share: without capitals and signs of a new word.

    >>> plain_spelling("ĠParis"), plain_spelling("▁paris"), plain_spelling("##s")
    ('paris', 'paris', '##s')
    """
    return token.lstrip("Ġ▁").casefold()

"""Pieces as they are shown: what their marks say, in every family's way of writing them.

WordPiece marks a piece that continues a word ("##ing"); the other families mark one that has a
space before it ("▁play"). A tokenizer says which of the two (`begins_word`).
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

CONTINUES, SPACE = "##", "\u2581"


def letters(piece: str) -> str:
    """Return a piece without its mark; one that is only a mark stays.

    >>> letters("##ing"), letters("▁play"), letters("▁")
    ('ing', 'play', '▁')
    """
    return piece.removeprefix(CONTINUES).removeprefix(SPACE) or piece


def share_characters(spans: Iterable[Sequence[int]]) -> bool:
    """Return whether two neighbours have a character in common, as the bytes of an emoji do.

    >>> share_characters([(0, 1), (1, 2)]), share_characters([(0, 1), (0, 1)])
    (False, True)
    """
    own = [span for span in spans if span[1] > span[0]]
    return any(second[0] < first[1] for first, second in pairwise(own))


def spelled(pieces: Sequence[str]) -> str:
    """Put the pieces of a word together; a single one keeps the mark that it continues a word.

    >>> spelled(["play", "##ing"]), spelled(["▁play", "ing"]), spelled(["##ing"])
    ('playing', 'playing', '##ing')
    """
    first, *rest = pieces
    whole = first.removeprefix(SPACE) + "".join(each.removeprefix(CONTINUES) for each in rest)
    return whole.replace(SPACE, " ") or first

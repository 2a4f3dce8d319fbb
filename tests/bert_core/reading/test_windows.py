"""The rule of windows: every place is read once, as far from a cut as any window has it."""

import numpy as np
import pytest

from bert_core.reading.windows import readers
from bert_core.text.encoding import window_bounds

CASES = [
    (tokens, size, stride)
    for tokens in (1, 2, 7, 12, 13, 40, 41)
    for size, stride in ((1, 0), (7, 0), (7, 3), (7, 6), (12, 4), (12, 5))
]


def distance(bounds: list[tuple[int, int]], window: int, first: int, last: int) -> float:
    """How far a stretch is from the nearest cut of a window; -1 where it is not held whole."""
    start, end = bounds[window]
    if not (start <= first and last < end):
        return -1
    before = first - start if start > 0 else np.inf
    after = end - 1 - last if end < bounds[-1][1] else np.inf
    return min(before, after)


@pytest.mark.parametrize(("tokens", "size", "stride"), CASES)
def test_every_stretch_is_read_by_the_first_window_with_most_room(
    tokens: int, size: int, stride: int
) -> None:
    bounds = window_bounds(tokens, size=size, stride=stride)
    longest = min(tokens, 5)
    number, room = readers(bounds, longest)
    assert number.shape == room.shape == (tokens, longest)
    for first in range(tokens):
        for more in range(longest):
            rooms = [distance(bounds, w, first, first + more) for w in range(len(bounds))]
            most = max(rooms)
            expected = rooms.index(most) if most >= 0 else -1
            assert number[first, more] == expected
            assert room[first, more] == min(most, tokens)

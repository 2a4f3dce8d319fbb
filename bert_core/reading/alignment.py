"""The same text cut by two tokenizers: which of their pieces cover the same characters."""

from collections.abc import Sequence

Spans = Sequence[tuple[int, int]]


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

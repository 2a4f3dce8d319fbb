"""Tokens as bytes: the form in which the caches keep them and texts are put together.

Python spends its time on objects: a tuple and two integers for each token, in each cache entry and
again in each text. So the tokens of a stretch of text are one `bytes` object, with four numbers of
four bytes for each token:

    first   1 if the token is the first of its word, else 0
    id      its number in the vocabulary
    size    its length in characters
    gap     the distance to the next token in characters

The last token has no gap: `SPACED.join` and `ADJACENT.join` supply it, putting stretches together
with one space or nothing between them. So a text of known words is one join, and each of its lists
comes from a few calls that loop over the tokens in C. An entry takes a third of the memory that
tuples would take, and the garbage collector ignores it.

Where a stretch begins or ends with removed characters, or has no tokens at all, a filler (id -2,
size 0) takes their place.
"""

from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate, compress
from operator import sub
from typing import TypeVar

Span = tuple[int, int]
Token = tuple[int, int, Span]  # first, id, (start, end)
Value = TypeVar("Value")

SPACED = array("i", [1]).tobytes()
ADJACENT = array("i", [0]).tobytes()

_NO_ID = array("i", [-2]).tobytes()
_RARE, _ALSO_RARE = sorted(set(_NO_ID))  # its bytes: one is found faster than four
_FILLER = 0, -2, 0


def pack(tokens: Iterable[Token], length: int) -> bytes:
    """Pack the tokens of a stretch of `length` characters.

    >>> array("i", pack([(1, 7, (0, 3)), (0, 8, (3, 5))], 5)).tolist()
    [1, 7, 3, 0, 0, 8, 2]
    """
    numbers: list[int] = []
    at = 0
    for first, number, (start, end) in tokens:
        if start and not numbers:
            numbers = [0, *_FILLER]
        numbers += (start - at, first, number, end - start)
        at = end
    if not numbers:
        numbers = [0, *_FILLER]
    if at < length:
        numbers += (length - at, *_FILLER)
    return array("i", numbers[1:]).tobytes()


def pack_word(tokens: Iterable[tuple[int, int]]) -> bytes:
    """Pack one word, given the id and size of each of its tokens."""
    numbers: list[int] = []
    for number, size in tokens:
        numbers += (0, 0, number, size)
    numbers[1] = 1
    return array("i", numbers[1:]).tobytes()


def tokens_of(packed: bytes, start: int) -> Iterator[Token]:
    """Unpack the tokens of a stretch without fillers that begins at `start`."""
    numbers = array("i", packed)
    return zip(numbers[::4], numbers[1::4], spans_of(packed, start), strict=True)


def count_of(packed: bytes) -> int:
    """Return the number of tokens."""
    return len(ids_of(packed)) if _NO_ID in packed else (len(packed) + 4) // 16


def ids_of(packed: bytes) -> list[int]:
    """Return the id of each token."""
    ids = array("i", packed)[1::4].tolist()
    return ids if _RARE not in packed else _without_fillers(ids, packed)


def spans_of(packed: bytes, start: int = 0) -> list[Span]:
    """Return the (start, end) of each token, in characters; the stretch begins at `start`."""
    steps = array("i", packed)
    # Of first, id, size, gap, first, id, size, gap, … leave start, size, gap, size, gap, …
    del steps[4::4]
    steps[0] = start
    del steps[1::3]
    bounds = accumulate(steps)  # start and end of the first token, of the second one, …
    spans = list(zip(bounds, bounds))  # noqa: B905 (`strict=` costs as much as two tokens)
    return spans if _RARE not in packed else _without_fillers(spans, packed)


def words_of(packed: bytes) -> list[int]:
    """Return the index of the word each token belongs to."""
    words = list(accumulate(array("i", packed)[::4], initial=-1))[1:]
    return words if _RARE not in packed else _without_fillers(words, packed)


def cut(packed: bytes, bounds: Iterable[tuple[int, int]]) -> list[bytes]:
    """Return tokens `start` to `stop` (exclusive) for each of `bounds`.

    They keep their places in the text and the indices of their words.
    """
    ids, spans, words = ids_of(packed), spans_of(packed), words_of(packed)
    parts = []
    for start, stop in bounds:
        steps = map(sub, words[start:stop], [-1, *words[start : stop - 1]])
        tokens = zip(steps, ids[start:stop], spans[start:stop], strict=True)
        parts.append(pack(tokens, spans[stop - 1][1] if stop > start else 0))
    return parts


def beginning(packed: bytes, tokens: int) -> bytes:
    """Return the first tokens."""
    if tokens and _NO_ID not in packed:
        return packed[: 16 * tokens - 4]
    return cut(packed, [(0, tokens)])[0]


def pack_added(opening: int, closing: int) -> tuple[bytes, bytes]:
    """Pack [CLS] and [SEP] to be put before and after a text; their spans have no meaning."""
    # They have a size, because fillers are recognised by having none. The text still starts at 0.
    return array("i", (0, opening, 1, -1)).tobytes(), array("i", (0, 0, closing, 1)).tobytes()


def _without_fillers(values: list[Value], packed: bytes) -> list[Value]:
    """Return the values of those tokens that have a size."""
    if _ALSO_RARE not in packed or _NO_ID not in packed:
        return values
    return list(compress(values, array("i", packed)[2::4]))

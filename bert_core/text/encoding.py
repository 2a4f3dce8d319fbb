"""The tokenizer's results: token ids, each with its position in the text.

`Segment` is one tokenized text; `Encoding` is one or two segments with [CLS] and [SEP]. Both build
their lists on first access, because training needs only the ids. `kept_lengths` and
`window_bounds` decide what to do with a text that is too long.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import FrozenInstanceError
from itertools import accumulate, chain, islice, repeat
from operator import itemgetter, sub
from typing import Any, NamedTuple

from bert_core.errors import InputError

Span = tuple[int, int]

# The tokens of one chunk of text: ids; steps (see `packed`); for each token, 1 if it is the first
# of its word, else 0. The last two are bytes so that those of a whole text are one join: no Python
# object per token exists until a list is asked for. A plain tuple, because there are many and the
# garbage collector soon stops tracking tuples.
Chunk = tuple[tuple[int, ...], bytes, bytes]

_STEPS, _FIRSTS = map(itemgetter, (1, 2))


def packed(spans: list[Span], length: int) -> bytes:
    """Pack the spans of a chunk's tokens as steps, to be summed up by `unpacked`.

    The steps are the distances from each bound to the next one: size of the first token, gap, size
    of the second one, gap, and so on to the end of the chunk, as 4-byte integers. Chunks are joined
    by the gap between them, `SPACED` or `ADJACENT`. Where the first token does not start with the
    chunk or the last one does not end with it, an empty span fills the place.

    >>> array("i", packed([(0, 2), (2, 5), (6, 7)], 7)).tolist()
    [2, 0, 3, 1, 1]
    >>> array("i", packed([(0, 2)], 5)).tolist()
    [2, 3, 0]
    """
    before = [(0, 0)] if not spans or spans[0][0] > 0 else []
    after = [(length, length)] if (before + spans)[-1][1] < length else []
    bounds = list(chain(*before, *spans, *after))
    return array("i", map(sub, bounds[1:], bounds)).tobytes()


def unpacked(steps: bytes, start: int = 0) -> list[Span]:
    """Return the spans, empty ones included, whose first bound is `start`."""
    bounds = accumulate(array("i", steps), initial=start)
    return list(zip(bounds, bounds, strict=True))


SPACED = array("i", [1]).tobytes()
ADJACENT = array("i", [0]).tobytes()


class Segment:
    """One tokenized text without [CLS] and [SEP]; each list is built on first access.

    Args:
        text: the text.
        chunks: its chunks, in order.
        gap: what is between two chunks, `SPACED` or `ADJACENT`.
    """

    __slots__ = ("_chunks", "_gap", "_ids", "_offsets", "_words", "text")

    def __init__(self, text: str, chunks: Sequence[Chunk], gap: bytes = SPACED) -> None:
        self.text = text
        self._chunks = chunks
        self._gap = gap
        self._ids: list[int] | None = None
        self._offsets: list[Span] | None = None
        self._words: list[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def ids(self) -> list[int]:
        """One id per token."""
        if self._ids is None:
            ids: list[int] = []
            for chunk in self._chunks:
                ids += chunk[0]
            self._ids = ids
        return self._ids

    @property
    def offsets(self) -> list[Span]:
        """The (start, end) of each token in the text, in characters."""
        if self._offsets is None:
            spans = unpacked(self._gap.join(map(_STEPS, self._chunks)))
            if len(spans) > len(self.ids):
                spans = [span for span in spans if span[0] < span[1]]
            self._offsets = spans
        return self._offsets

    @property
    def words(self) -> list[int]:
        """The index of the word each token belongs to."""
        if self._words is None:
            firsts = b"".join(map(_FIRSTS, self._chunks))
            self._words = list(islice(accumulate(firsts, initial=-1), 1, None))
        return self._words

    def cut(self, start: int, stop: int) -> "Segment":
        """Return tokens `start` to `stop` (exclusive) as a segment of the same text."""
        part = Segment(self.text, ())
        part._ids = self.ids[start:stop]
        part._offsets = self.offsets[start:stop]
        part._words = self.words[start:stop]
        return part


class Frame(NamedTuple):
    """What an encoding needs from its vocabulary: id -> token, and token -> id of the specials."""

    cls_id: int
    sep_id: int
    pieces: Sequence[str] | dict[int, str]
    specials: dict[str, int]


class Encoding:
    """`[CLS] text [SEP]` or `[CLS] text [SEP] text_pair [SEP]`, token by token.

    Read-only: attributes cannot be set. Copy a list before changing it. T is the number of tokens,
    including [CLS] and [SEP] (the added tokens). `truncated` is the number of tokens removed to fit
    `max_length`.
    """

    __slots__ = ("_first", "_frame", "_input_ids", "_offsets", "_second", "_tokens", "truncated")

    truncated: int
    _frame: Frame
    _first: Segment
    _second: Segment | None
    _input_ids: list[int] | None
    _tokens: list[str] | None
    _offsets: list[Span] | None

    def __init__(
        self, frame: Frame, first: Segment, second: Segment | None = None, truncated: int = 0
    ) -> None:
        _put(self, "_frame", frame)
        _put(self, "_first", first)
        _put(self, "_second", second)
        _put(self, "truncated", truncated)
        _put(self, "_input_ids", None)
        _put(self, "_tokens", None)
        _put(self, "_offsets", None)

    @property
    def text(self) -> str:
        """The original text."""
        return self._first.text

    @property
    def text_pair(self) -> str | None:
        """The original second text, or None."""
        return None if self._second is None else self._second.text

    @property
    def input_ids(self) -> list[int]:
        """T vocabulary ids."""
        if self._input_ids is None:
            cls_id, sep_id, *_ = self._frame
            ids = [cls_id, *self._first.ids, sep_id]
            if self._second is not None:
                ids += [*self._second.ids, sep_id]
            _put(self, "_input_ids", ids)
            return ids
        return self._input_ids

    @property
    def tokens(self) -> list[str]:
        """T tokens as strings."""
        if self._tokens is None:
            # One call in C. It returns a tuple because there are always at least two ids.
            tokens = list(itemgetter(*self.input_ids)(self._frame.pieces))
            _put(self, "_tokens", tokens)
            return tokens
        return self._tokens

    @property
    def offsets(self) -> list[Span]:
        """T pairs (start, end): the token is `text[start:end]`, or `text_pair[start:end]` where
        `sequence_ids` is 1; (0, 0) for added tokens.
        """
        if self._offsets is None:
            offsets = [(0, 0), *self._first.offsets, (0, 0)]
            if self._second is not None:
                offsets += [*self._second.offsets, (0, 0)]
            _put(self, "_offsets", offsets)
            return offsets
        return self._offsets

    @property
    def word_ids(self) -> list[int | None]:
        """T word indices, counted from 0 in each text; None for added tokens."""
        first = [None, *self._first.words, None]
        return first if self._second is None else [*first, *self._second.words, None]

    @property
    def sequence_ids(self) -> list[int | None]:
        """T times 0 (text) or 1 (pair); None for added tokens."""
        first = [None, *repeat(0, len(self._first)), None]
        return first if self._second is None else [*first, *repeat(1, len(self._second)), None]

    @property
    def token_type_ids(self) -> list[int]:
        """T segment ids: 0 up to and including the first [SEP], 1 after it."""
        first = [0] * (len(self._first) + 2)
        return first if self._second is None else first + [1] * (len(self._second) + 1)

    @property
    def attention_mask(self) -> list[int]:
        """T ones; padding is added when a batch is built."""
        return [1] * len(self)

    @property
    def special_tokens_mask(self) -> list[int]:
        """T flags: 1 for [CLS] and [SEP] added by the tokenizer, else 0."""
        first = [1, *repeat(0, len(self._first)), 1]
        return first if self._second is None else [*first, *repeat(0, len(self._second)), 1]

    def special_id(self, token: str) -> int:
        """Return the id of one of the vocabulary's special tokens, such as "[MASK]".

        Raises:
            InputError: the vocabulary has no such special token.
        """
        specials = self._frame.specials
        if token not in specials:
            raise InputError(
                f"{token!r} is not a special token of this vocabulary; it has "
                f"{', '.join(specials)}."
            )
        return specials[token]

    def __len__(self) -> int:
        return len(self.input_ids)

    def __repr__(self) -> str:
        more = " …" if len(self) > 12 else ""
        return f"Encoding({len(self)} tokens: {' '.join(self.tokens[:12])}{more})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.text, self.text_pair, tuple(self.input_ids)))

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle only the tokens in use, not the whole vocabulary.
        used = dict(zip(self.input_ids, self.tokens, strict=True))
        frame = self._frame._replace(pieces=used)
        return Encoding, (frame, self._first, self._second, self.truncated)

    def _identity(self) -> tuple[object, ...]:
        texts = self.text, self.text_pair, self.truncated, self.sequence_ids
        return texts, self.input_ids, self.tokens, self.offsets, self.word_ids


_put = object.__setattr__


# -- texts that are too long -----------------------------------------------------------------------

STRATEGIES = ("longest_first", "only_first", "only_second")


def check_strategy(truncation: str) -> str:
    """Return `truncation` if it is the name of a truncation rule.

    Raises:
        InputError: it is not.
    """
    if truncation not in STRATEGIES:
        raise InputError(
            f"There is no truncation rule {truncation!r}; expected one of {', '.join(STRATEGIES)}."
        )
    return truncation


def kept_lengths(
    first: int, second: int | None, *, max_length: int, truncation: str
) -> tuple[int, int]:
    """Return how many tokens of each text to keep.

    Args:
        first: number of tokens in the first text.
        second: number of tokens in the second text, or None for a single text.
        max_length: largest number of tokens of the whole input, including [CLS] and [SEP].
        truncation: "longest_first" shortens the longer text until both have the same length,
            then both; "only_first" and "only_second" shorten one text and keep the other.

    Raises:
        InputError: the rule cannot shorten the input to `max_length`.

    Example:
        >>> kept_lengths(10, 4, max_length=13, truncation="longest_first")
        (6, 4)
    """
    check_strategy(truncation)
    added = 2 if second is None else 3
    room = max_length - added
    if room < 0:
        raise InputError(
            f"max_length is {max_length}, but every such input has {added} added tokens. "
            f"Expected at least {added}."
        )
    excess = first + (second or 0) - room
    if excess <= 0:
        return first, second or 0
    if truncation == "only_second" and second is None:
        raise InputError(
            f"The text has {excess} tokens too many, and truncation='only_second' needs a second "
            "text to cut from; there is only one. Use 'longest_first'."
        )
    if room == 0:
        return 0, 0
    if second is None:
        return first - excess, 0
    if truncation == "longest_first":
        return _longest_first(first, second, room)
    return _one_alone(first, second, excess, truncation)


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    shorter, longer = sorted((first, second))
    longer = max(shorter, room - shorter)
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return (shorter, longer) if first <= second else (longer, shorter)


def _one_alone(first: int, second: int, excess: int, truncation: str) -> tuple[int, int]:
    tokens = first if truncation == "only_first" else second
    if tokens <= excess:
        raise InputError(
            f"The input has {excess} tokens too many, and truncation={truncation!r} may shorten "
            f"only a text of {tokens} tokens. Use 'longest_first', or raise max_length by {excess}."
        )
    if truncation == "only_first":
        return first - excess, second
    return first, second - excess


def window_bounds(tokens: int, *, size: int, stride: int) -> list[tuple[int, int]]:
    """Return (start, end) of the windows of `size` tokens that cover a text of `tokens` tokens.

    Neighbouring windows overlap by `stride` tokens.

    Raises:
        InputError: `stride` is not smaller than `size`, so the windows would not move forward.

    Example:
        >>> window_bounds(7, size=4, stride=1)
        [(0, 4), (3, 7)]
    """
    if size < 1 or not 0 <= stride < size:
        raise InputError(
            f"Each window has room for {size} tokens of the text and should share {stride} with "
            "the next; expected room for at least 1 token, and a smaller stride of 0 or more. "
            "Raise max_length or lower stride."
        )
    starts = range(0, max(tokens - stride, 1), size - stride)
    return [(start, min(start + size, tokens)) for start in starts]

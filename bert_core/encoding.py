"""What the tokenizer hands to the model and to the pages: ids that still know their text.

`Segment` is one tokenized text, `Encoding` is one or two of them between [CLS] and [SEP]. Both
keep what the tokenizer found and lay it out as lists when somebody asks: training reads ids alone,
a page reads everything.
"""

from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from itertools import accumulate, chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

Span = tuple[int, int]


class Chunk(NamedTuple):
    """The tokens of a stretch of text, in terms of the stretch itself.

    Attributes:
        ids: one id per token.
        tokens: their spellings.
        offsets: first character and the one after the last, counted from the stretch's start.
        words: the number of the word each token belongs to, counted from 0.
        word_count: how many words there are.
        advance: how many characters further the next stretch begins.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    offsets: tuple[Span, ...]
    words: tuple[int, ...]
    word_count: int
    advance: int


_IDS, _TOKENS, _OFFSETS, _WORDS, _WORD_COUNT, _ADVANCE = map(itemgetter, range(6))


class Segment:
    """One tokenized text without added tokens; the lists are laid out once, when asked for."""

    __slots__ = ("_chunks", "_ids", "_offsets", "_tokens", "_words", "text")

    def __init__(self, text: str, chunks: Sequence[Chunk]) -> None:
        self.text = text
        self._chunks = chunks
        self._ids: list[int] | None = None
        self._tokens: list[str] | None = None
        self._offsets: list[Span] | None = None
        self._words: list[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def ids(self) -> list[int]:
        """One id per token."""
        if self._ids is None:
            self._ids = list(chain.from_iterable(map(_IDS, self._chunks)))
        return self._ids

    @property
    def tokens(self) -> list[str]:
        """The tokens' spellings."""
        if self._tokens is None:
            self._tokens = list(chain.from_iterable(map(_TOKENS, self._chunks)))
        return self._tokens

    @property
    def offsets(self) -> list[Span]:
        """Where each token stands in the text."""
        if self._offsets is None:
            starts = accumulate(map(_ADVANCE, self._chunks), initial=0)
            self._offsets = [
                (at + start, at + end)
                for at, chunk in zip(starts, self._chunks, strict=False)  # one start too many
                for start, end in chunk[2]
            ]
        return self._offsets

    @property
    def words(self) -> list[int]:
        """The number of the word each token belongs to."""
        if self._words is None:
            before = accumulate(map(_WORD_COUNT, self._chunks), initial=0)
            self._words = [
                count + word
                for count, chunk in zip(before, self._chunks, strict=False)  # one too many
                for word in chunk[3]
            ]
        return self._words

    def cut(self, start: int, stop: int) -> "Segment":
        """Give the tokens from `start` up to `stop`, over the same text."""
        part = Segment(self.text, ())
        part._ids = self.ids[start:stop]
        part._tokens = self.tokens[start:stop]
        part._offsets = self.offsets[start:stop]
        part._words = self.words[start:stop]
        return part


class Frame(NamedTuple):
    """The two tokens that BERT puts around its input."""

    cls_id: int
    sep_id: int
    cls_token: str = "[CLS]"
    sep_token: str = "[SEP]"


class Encoding:
    """`[CLS] text [SEP]` or `[CLS] text [SEP] text_pair [SEP]`, token by token.

    Read-only: attributes cannot be set, and its lists are meant to be read, not changed (copy one
    first). T is the number of tokens, the added ones included.

    Attributes:
        text: the text as it was given.
        text_pair: the second text, or None.
        truncated: how many tokens were cut off to fit `max_length`.
        input_ids: T vocabulary ids.
        tokens: T spellings.
        offsets: T pairs (start, end); `text[start:end]` (of the token's own text, see
            `sequence_ids`) is what the token was made from. Added tokens have (0, 0).
        token_type_ids: T segment numbers, 0 up to the first [SEP], then 1.
        attention_mask: T ones; padding is the batch's business.
        special_tokens_mask: 1 for the added [CLS] and [SEP], else 0.
        word_ids: the number of the word in its text, None for added tokens.
        sequence_ids: 0 or 1 for the text or its pair, None for added tokens.
    """

    __slots__ = ("_cache", "_first", "_frame", "_second", "text", "text_pair", "truncated")

    text: str
    text_pair: str | None
    truncated: int
    _first: Segment
    _second: Segment | None
    _frame: Frame
    _cache: dict[str, list[Any]]

    def __init__(
        self, frame: Frame, first: Segment, second: Segment | None = None, truncated: int = 0
    ) -> None:
        put = object.__setattr__
        put(self, "text", first.text)
        put(self, "text_pair", None if second is None else second.text)
        put(self, "truncated", truncated)
        put(self, "_first", first)
        put(self, "_second", second)
        put(self, "_frame", frame)
        put(self, "_cache", {})

    @property
    def input_ids(self) -> list[int]:
        """T vocabulary ids."""
        return self._laid_out("ids", self._frame.cls_id, self._frame.sep_id)

    @property
    def tokens(self) -> list[str]:
        """T spellings."""
        return self._laid_out("tokens", self._frame.cls_token, self._frame.sep_token)

    @property
    def offsets(self) -> list[Span]:
        """T pairs (start, end) of characters in the token's own text."""
        return self._laid_out("offsets", (0, 0), (0, 0))

    @property
    def word_ids(self) -> list[int | None]:
        """T word numbers, counted from 0 in each text; None for added tokens."""
        return self._laid_out("words", None, None)

    @property
    def sequence_ids(self) -> list[int | None]:
        """T times 0 (text) or 1 (pair); None for added tokens."""
        first = [None, *repeat(0, len(self._first)), None]
        return first if self._second is None else [*first, *repeat(1, len(self._second)), None]

    @property
    def token_type_ids(self) -> list[int]:
        """T segment numbers: 0 up to the first [SEP], 1 behind it."""
        first = [0] * (len(self._first) + 2)
        return first if self._second is None else first + [1] * (len(self._second) + 1)

    @property
    def attention_mask(self) -> list[int]:
        """T ones."""
        return [1] * len(self)

    @property
    def special_tokens_mask(self) -> list[int]:
        """T times 1 for an added token, 0 for one that the text gave."""
        first = [1, *repeat(0, len(self._first)), 1]
        return first if self._second is None else [*first, *repeat(0, len(self._second)), 1]

    def __len__(self) -> int:
        added = 2 if self._second is None else 3 + len(self._second)
        return added + len(self._first)

    def __repr__(self) -> str:
        return (
            f"Encoding({len(self)} tokens: {' '.join(self.tokens[:12])}{' …' * (len(self) > 12)})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self._identity() == other._identity() and self.offsets == other.offsets

    def __hash__(self) -> int:
        return hash((self.text, self.text_pair, tuple(self.input_ids)))

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoding, (self._frame, self._first, self._second, self.truncated)

    def _identity(self) -> tuple[object, ...]:
        return (self.text, self.text_pair, self.input_ids, self.tokens, self.sequence_ids)

    def _laid_out(self, key: str, opening: object, closing: object) -> list[Any]:
        """Put [CLS] and [SEP] around a list of the segments, once."""
        known = self._cache.get(key)
        if known is None:
            known = [opening, *getattr(self._first, key), closing]
            if self._second is not None:
                known += getattr(self._second, key)
                known.append(closing)
            self._cache[key] = known
        return known

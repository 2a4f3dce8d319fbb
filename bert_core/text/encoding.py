"""The tokenizer's results: token ids, each with its position in the text.

An `Encoding` is one or two tokenized texts with [CLS] and [SEP]. Its lists are built on first
access, because training needs only the ids. `kept_lengths` and `window_bounds` decide what to do
with a text that is too long.
"""

from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from bert_core.errors import InputError
from bert_core.text.borders import Word, whole_characters, word_numbers
from bert_core.text.packed import Span, count_of, ids_of, spans_of, words_of

__all__ = ["Encoding", "Frame", "Segment", "Span", "check_strategy", "kept_lengths"]

Value = TypeVar("Value")
Segment = tuple[str, bytes]  # a text and its tokens, packed, without [CLS] and [SEP]


class Frame(NamedTuple):
    """What an encoding needs from its vocabulary.

    Attributes:
        opening: [CLS], packed, with the gap after it.
        closing: [SEP], packed, with the gap before it.
        pieces: id -> token.
        specials: special token -> id.
        second_type: token type of a second text: 1, or 0 for models without token types.
    """

    opening: bytes
    closing: bytes
    pieces: Sequence[str] | dict[int, str]
    specials: dict[str, int]
    second_type: int = 1


class Encoding:
    """`[CLS] text [SEP]` or `[CLS] text [SEP] text_pair [SEP]`, token by token.

    Read-only: attributes cannot be set. Copy a list before changing it. T is the number of tokens,
    including [CLS] and [SEP] (the added tokens). `truncated` is the number of tokens removed to fit
    `max_length`.
    """

    # Values are written to the instance's dictionary, past `__setattr__`. Until a list is read for
    # the first time, it is the None of the class.
    truncated: int
    _frame: Frame
    _first: Segment
    _second: Segment | None
    _packed: bytes  # [CLS] text [SEP]
    _input_ids: list[int] | None = None
    _tokens: list[str] | None = None
    _offsets: list[Span] | None = None
    _spans: list[Span] | None = None

    def __init__(
        self, frame: Frame, first: Segment, second: Segment | None = None, truncated: int = 0
    ) -> None:
        fields = self.__dict__
        fields["_frame"] = frame
        fields["_first"] = first
        fields["_second"] = second
        fields["_packed"] = frame.opening + first[1] + frame.closing
        fields["truncated"] = truncated

    @property
    def text(self) -> str:
        """The original text."""
        return self._first[0]

    @property
    def text_pair(self) -> str | None:
        """The original second text, or None."""
        return None if self._second is None else self._second[0]

    @property
    def input_ids(self) -> list[int]:
        """T vocabulary ids."""
        if self._input_ids is None:
            ids = ids_of(self._packed)
            if self._second is not None:
                ids += ids_of(self._framed_second(self._second))
            self.__dict__["_input_ids"] = ids
            return ids
        return self._input_ids

    @property
    def tokens(self) -> list[str]:
        """T tokens as strings."""
        if self._tokens is None:
            # One call in C. It returns a tuple because there are always at least two ids.
            tokens = list(itemgetter(*self.input_ids)(self._frame.pieces))
            self.__dict__["_tokens"] = tokens
            return tokens
        return self._tokens

    @property
    def pieces(self) -> list[str]:
        """T tokens as people read them; see `FamilyTokenizer.readable`."""
        return self.tokens

    @property
    def offsets(self) -> list[Span]:
        """T pairs (start, end): the token is `text[start:end]`, or `text_pair[start:end]` where
        `sequence_ids` is 1; (0, 0) for added tokens.
        """
        if self._offsets is None:
            offsets = spans_of(self._packed)
            offsets[0] = offsets[-1] = (0, 0)
            if self._second is not None:
                offsets += spans_of(self._framed_second(self._second))
                offsets[-1] = (0, 0)
            self.__dict__["_offsets"] = offsets
            return offsets
        return self._offsets

    @property
    def spans(self) -> list[Span]:
        """T pairs as in `offsets`, none of which begins or ends inside a character; see `borders`.

        Pieces of one character share its span.
        """
        if self._spans is None:
            self.__dict__["_spans"] = self._by_text(self.offsets, whole_characters, (0, 0))
        return self._spans or []

    @property
    def words(self) -> list[int | None]:
        """T numbers of words, from 0 in each text; None for added tokens; see `borders`."""
        return self._by_text(self.spans, word_numbers, None)

    def typed_words(self) -> list[Word]:
        """Return the words of the texts as they were typed, punctuation marks included.

        Words that share a character are one here. The mark of a space is in the word after it.
        """
        texts, spans = (self.text, self.text_pair or ""), self.spans
        groups: list[tuple[int, list[int]]] = []
        end = 0  # of the word so far; 0 for marks alone
        before: tuple[int | None, int | None] = None, None
        for at, key in enumerate(zip(self.sequence_ids, self.words, strict=True)):
            side, (start, stop) = key[0], spans[at]
            if side is not None:
                if side == before[0] and (key == before or not end or start < end):
                    groups[-1][1].append(at)
                else:
                    groups.append((side, [at]))
                    end = 0
                end = max(end, stop) if start < stop else end
            before = key
        found = []
        for side, places in groups:
            typed = [spans[at] for at in places if spans[at][0] < spans[at][1]]
            if typed:
                start, stop = typed[0][0], max(stop for _, stop in typed)
                positions = range(places[0], places[-1] + 1)
                found.append(Word(texts[side][start:stop], side, start, stop, positions))
        return found

    @property
    def word_ids(self) -> list[int | None]:
        """T indices of the words that the tokenizer cuts into pieces, as in `tokenizers`; None for
        added tokens. What the tasks take for a word is in `words`.
        """
        words: list[int | None] = [*words_of(self._packed)]
        words[0] = words[-1] = None
        if self._second is not None:
            words += words_of(self._framed_second(self._second))
            words[-1] = None
        return words

    @property
    def sequence_ids(self) -> list[int | None]:
        """T times 0 (text) or 1 (pair); None for added tokens."""
        first, second = self._counts()
        sequences: list[int | None] = [0] * (first + 2)
        sequences[0] = sequences[-1] = None
        if self._second is not None:
            sequences += [1] * (second + 1)
            sequences[-1] = None
        return sequences

    @property
    def token_type_ids(self) -> list[int]:
        """T segment ids: 0 up to and including the first [SEP], 1 after it; all 0 for models
        without token types, such as DistilBERT.
        """
        first, second = self._counts()
        second_types = [self._frame.second_type] * (second + 1 if self._second else 0)
        return [0] * (first + 2) + second_types

    @property
    def attention_mask(self) -> list[int]:
        """T ones; padding is added when a batch is built."""
        return [1] * len(self)

    @property
    def special_tokens_mask(self) -> list[int]:
        """T flags: 1 for [CLS] and [SEP] added by the tokenizer, else 0."""
        mask = [0] * len(self)
        mask[0] = mask[self._counts()[0] + 1] = mask[-1] = 1
        return mask

    def special_id(self, token: str) -> int:
        """Return the id of one of the vocabulary's special tokens, such as "[MASK]".

        Raises:
            InputError: the vocabulary has no such special token.
        """
        return special_id(self._frame.specials, token)

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

    def _by_text(
        self,
        spans: Sequence[Span],
        read: Callable[[str, Sequence[Span]], Sequence[Value]],
        added: Value,
    ) -> list[Value]:
        """Return what is read from the spans of each text, for its tokens; `added` for others."""
        values = [added] * len(self)
        for number, text in enumerate((self.text, self.text_pair or "")):
            own = [at for at, side in enumerate(self.sequence_ids) if side == number]
            found = read(text, [spans[at] for at in own])
            for at, value in zip(own, found, strict=True):
                values[at] = value
        return values

    def _framed_second(self, second: Segment) -> bytes:
        """Return the tokens of `text_pair [SEP]`, packed."""
        return second[1] + self._frame.closing

    def _counts(self) -> tuple[int, int]:
        """Return the number of tokens of each text, without [CLS] and [SEP]."""
        if self._second is None:
            return len(self.input_ids) - 2, 0
        return count_of(self._first[1]), count_of(self._second[1])


def special_id(specials: dict[str, int], token: str) -> int:
    """Return the id of a special token; see `Encoding.special_id` and `Vocabulary.special_ids`.

    Raises:
        InputError: there is none of that name.
    """
    if token not in specials:
        raise InputError(
            f"{token!r} is not a special token of this vocabulary; it has {', '.join(specials)}."
        )
    return specials[token]


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
    first: int, second: int | None, *, max_length: int, truncation: str, added: int | None = None
) -> tuple[int, int]:
    """Return how many tokens of each text to keep.

    Args:
        first: number of tokens in the first text.
        second: number of tokens in the second text, or None for a single text.
        max_length: largest number of tokens of the whole input, including [CLS] and [SEP].
        truncation: "longest_first" shortens the longer text until both have the same length,
            then both; "only_first" and "only_second" shorten one text and keep the other.
        added: number of added tokens; None for BERT's, two for one text and three for two.

    Raises:
        InputError: the rule cannot shorten the input to `max_length`.

    Example:
        >>> kept_lengths(10, 4, max_length=13, truncation="longest_first")
        (6, 4)
    """
    check_strategy(truncation)
    if added is None:
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

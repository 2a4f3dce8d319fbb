"""`Encoding`: what a model reads of one or two texts, each token with its place in the text.

A tokenizer makes a `Part` of each text. `assembled` puts these into a template of added tokens,
such as `[CLS] A [SEP] B [SEP]`. `kept_lengths` and `window_bounds` say what to do with a text that
is too long.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Annotated, NamedTuple, TypeVar

from bert_core.errors import InputError
from bert_core.text.borders import Span, Word, whole_characters, word_numbers
from bert_core.text.byte_level import SPACE

__all__ = ["Encoding", "Part", "Slot", "Span", "Template", "assembled"]

Value = TypeVar("Value")


class Part(NamedTuple):
    """One text and its tokens, without added ones."""

    text: Annotated[str, "as typed"]
    ids: Annotated[list[int], "its N ids"]
    offsets: Annotated[list[Span], "N (start, end) in the text"]
    words: Annotated[list[int | None], "N indices of words"]

    def between(self, start: int, stop: int) -> "Part":
        """Return the text with tokens `start` to `stop` (exclusive) alone."""
        ids, offsets, words = self.ids[start:stop], self.offsets[start:stop], self.words[start:stop]
        return Part(self.text, ids, offsets, words)


class Slot(NamedTuple):
    """One place of a template: an added token, or a whole text."""

    token_id: Annotated[int, "the added token; -1 for a text"]
    text: Annotated[int | None, "0: the first text, 1: the second; None: an added token"] = None
    token_type: Annotated[int, "the token type of all its tokens"] = 0


Template = tuple[Slot, ...]


@dataclass(frozen=True, repr=False)
class Encoding:
    """One or two texts as T tokens, added ones such as [CLS] and [SEP] included.

    Read-only: attributes cannot be set. Copy a list before changing it.
    """

    text: Annotated[str, "the original text"]
    text_pair: Annotated[str | None, "the original second text, or None"]
    input_ids: Annotated[list[int], "T vocabulary ids"]
    tokens: Annotated[list[str], "T entries of the vocabulary"]
    offsets: Annotated[
        list[Span],
        "T pairs (start, end): the token is `text[start:end]`, or `text_pair[start:end]` where "
        "`sequence_ids` is 1; (0, 0) for added tokens. Pieces of one character share its span",
    ]
    word_ids: Annotated[
        list[int | None],
        "T indices of the words that the tokenizer cuts into pieces, from 0 in each text; None for"
        " added tokens. What the tasks take for a word is in `words`",
    ]
    sequence_ids: Annotated[list[int | None], "T times 0 (text) or 1 (pair); None for added tokens"]
    token_type_ids: Annotated[
        list[int], "T segment ids: 1 after the first [SEP], if there are types"
    ]
    special_tokens_mask: Annotated[list[int], "T flags: 1 for tokens added by the tokenizer"]
    truncated: Annotated[int, "number of tokens removed to fit `max_length`"]
    pieces: Annotated[list[str], "T tokens as people read them; see `FamilyTokenizer.readable`"] = (
        field(compare=False)
    )
    specials: Annotated[Mapping[str, int], "special token -> id"] = field(compare=False)

    @property
    def attention_mask(self) -> list[int]:
        """T ones; padding is added when a batch is built."""
        return [1] * len(self)

    @cached_property
    def spans(self) -> list[Span]:
        """T pairs as in `offsets`, none of which begins or ends inside a character; see `borders`.

        Pieces of one character share its span. That of the mark of a space is empty.
        """
        texts = self.text, self.text_pair or ""
        return [
            (start, start) if piece == SPACE and SPACE not in texts[side or 0][start:end]
            else (start, end)
            for piece, side, (start, end) in zip(
                self.pieces,
                self.sequence_ids,
                self._by_text(self.offsets, whole_characters, (0, 0)),
                strict=True,
            )
        ]  # fmt: skip

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

    def special_id(self, token: str) -> int:
        """Return the id of one of the vocabulary's special tokens, such as "[MASK]".

        Raises:
            InputError: the vocabulary has no such special token.
        """
        if token not in self.specials:
            raise InputError(
                f"{token!r} is not a special token of this vocabulary; it has "
                f"{', '.join(self.specials)}."
            )
        return self.specials[token]

    def __len__(self) -> int:
        return len(self.input_ids)

    def __repr__(self) -> str:
        more = " …" if len(self) > 12 else ""
        return f"Encoding({len(self)} tokens: {' '.join(self.tokens[:12])}{more})"

    def __hash__(self) -> int:
        return hash((self.text, self.text_pair, tuple(self.input_ids)))

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


def assembled(
    template: Template,
    parts: Sequence[Part],
    pieces: Sequence[str],
    readable: Callable[[str], str],
    specials: Mapping[str, int],
    truncated: int = 0,
) -> Encoding:
    """Put one or two tokenized texts into a template; `readable` is how people read a token."""
    rows: list[tuple[int, Span, int | None, int | None, int, int]] = []
    for number, text, kind in template:
        if text is None:
            rows.append((number, (0, 0), None, None, kind, 1))
        else:
            _, ids, offsets, words = parts[text]
            rows += zip(ids, offsets, words, repeat(text), repeat(kind), repeat(0))
    ids, offsets, words, sides, types, added = map(list, zip(*rows, strict=True))
    tokens = [pieces[number] for number in ids]
    return Encoding(
        parts[0].text,
        parts[1].text if len(parts) > 1 else None,
        ids,
        tokens,
        offsets,
        words,
        sides,
        types,
        added,
        truncated,
        [*map(readable, tokens)],
        specials,
    )


# -- texts that are too long -----------------------------------------------------------------------

STRATEGIES = ("longest_first", "only_first", "only_second")


def check_strategy(truncation: str) -> str:
    """Return `truncation` if it is the name of a truncation rule (InputError: it is not)."""
    if truncation not in STRATEGIES:
        raise InputError(
            f"There is no truncation rule {truncation!r}; expected one of {', '.join(STRATEGIES)}."
        )
    return truncation


def kept_lengths(
    lengths: Sequence[int], *, max_length: int, truncation: str, added: int
) -> tuple[int, ...]:
    """Return how many tokens of each text to keep.

    Args:
        max_length: largest number of tokens of the whole input, including added ones.
        truncation: "longest_first" shortens the longer text until both have the same length,
            then both; "only_first" and "only_second" shorten one text and keep the other.

    Example:
        >>> kept_lengths((10, 4), max_length=13, truncation="longest_first", added=3)
        (6, 4)
    """
    place = STRATEGIES.index(check_strategy(truncation)) - 1
    room = max_length - added
    if room < 0:
        raise InputError(
            f"max_length is {max_length}; expected at least {added}, the number of added tokens."
        )
    excess = sum(lengths) - room
    if excess <= 0:
        return tuple(lengths)
    if place >= len(lengths):
        raise InputError(
            f"The text has {excess} tokens too many, and truncation='only_second' needs a second "
            "text to cut from; there is only one. Use 'longest_first'."
        )
    if room == 0:
        return (0,) * len(lengths)
    if len(lengths) == 1:
        return (room,)
    if place < 0:
        shorter = min(*lengths, room // 2)
        return (shorter, room - shorter) if lengths[0] <= lengths[1] else (room - shorter, shorter)
    if lengths[place] <= excess:
        raise InputError(
            f"The input has {excess} tokens too many, and truncation={truncation!r} may shorten "
            f"only a text of {lengths[place]} tokens. Use 'longest_first' or a larger max_length."
        )
    return tuple(size - excess * (place == n) for n, size in enumerate(lengths))


def window_bounds(tokens: int, *, size: int, stride: int) -> list[tuple[int, int]]:
    """Return (start, end) of the windows of `size` tokens that cover a text of `tokens` tokens.

    Neighbouring windows overlap by `stride` tokens.

    Example:
        >>> window_bounds(7, size=4, stride=1)
        [(0, 4), (3, 7)]
    """
    if size < 1 or not 0 <= stride < size:
        raise InputError(
            f"Each window has room for {size} tokens of the text and should share {stride} with "
            "the next; expected room for more. Raise max_length or lower stride."
        )
    starts = range(0, max(tokens - stride, 1), size - stride)
    return [(start, min(start + size, tokens)) for start in starts]

"""Added tokens: what a tokenizer finds in a text before it cuts words.

Every special token is one, and so is every word added to a vocabulary. They are found
in two rounds, as in the library `tokenizers`: first those that stand in the text as typed, then, in
what is left after normalisation, those that are `normalized`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import category

from bert_core.text.normalizer import PUNCTUATION, CodePoints, Normalizer
from bert_core.text.vocabulary import BLANKS
from bert_core.text.wordpiece import WORD
from bert_core.text.words import special_pattern

# The characters of words by Unicode (UTS #18, `\w`): categories, and single characters beside them.
_IN_WORDS = ("L", "M", "Nd", "Nl", "Pc")
_ALSO = CodePoints("200c-200d 24b6-24e9 1f130-1f149 1f150-1f169 1f170-1f189")
_PIECES = re.compile(f"[{PUNCTUATION.pattern()}]|[^ {PUNCTUATION.pattern()}]+")


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in a text before anything else.

    Attributes:
        content: its characters, and its entry in the vocabulary.
        special: whether `decode` leaves it out.
        normalized: whether it is found in the text after normalisation (lower case, accents), not
            in the text as typed.
        lstrip: whether it takes the whitespace before it.
        rstrip: whether it takes the whitespace after it.
        single_word: whether it is found only where no letter or digit is beside it.
    """

    content: str
    special: bool = False
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is found wherever its characters are, between spaces of the text."""
        flags = self.normalized or self.lstrip or self.rstrip or self.single_word
        return not flags and " " not in self.content


class Word(NamedTuple):
    """One word of a text, or one added token in it.

    Attributes:
        text: the word after normalisation; the content of an added token.
        places: the index in the text of each of its characters.
        added: whether it is an added token.
    """

    text: str
    places: Sequence[int]
    added: bool


Stretch = tuple[int, int, AddedToken | None]  # start, end, and which token stands there


class AddedTokens:
    """Finds added tokens in texts, and the words between them.

    Args:
        tokens: the tokens, each content once.
        normalizer: BERT's, without spaces around punctuation; None: words are separated by
            whitespace and unchanged.
    """

    def __init__(self, tokens: Iterable[AddedToken], normalizer: Normalizer | None) -> None:
        self._normalizer = normalizer
        self._words = WORD if normalizer is None else _PIECES
        each = tuple(tokens)
        self._typed = _Finder({token.content: token for token in each if not token.normalized})
        self._normal = _Finder(
            {self._normalised(token.content)[0]: token for token in each if token.normalized}
        )

    def stretches(self, text: str) -> Iterator[Stretch]:
        """Split a text at the tokens that are found as typed."""
        return self._typed.split(text)

    def between(self, text: str, start: int, end: int) -> Iterator[Word]:
        """Yield the words of a stretch without tokens as typed, and its normalised tokens."""
        normal, origins = self._normalised(text[start:end])
        places = range(start, end) if origins is None else [start + each for each in origins]
        for first, last, token in self._normal.split(normal):
            if token is not None:
                yield Word(token.content, places[first:last], added=True)
                continue
            for match in self._words.finditer(normal, first, last):
                yield Word(match.group(), places[match.start() : match.end()], added=False)

    def words(self, text: str) -> Iterator[Word]:
        """Yield every word and every added token of a text, in order."""
        for start, end, token in self.stretches(text):
            if token is not None:
                yield Word(token.content, range(start, end), added=True)
            else:
                yield from self.between(text, start, end)

    def _normalised(self, text: str) -> tuple[str, list[int] | None]:
        return (text, None) if self._normalizer is None else self._normalizer.normalize(text)


class _Finder:
    """Finds strings in a text: at each place the longest."""

    def __init__(self, tokens: Mapping[str, AddedToken]) -> None:
        self._tokens = tokens
        self._pattern = special_pattern(tokens)

    def split(self, text: str) -> Iterator[Stretch]:
        """Split a text, without gaps, at its tokens."""
        end = 0
        for match in self._pattern.finditer(text) if self._pattern else ():
            token = self._tokens[match.group()]
            start, stop = match.span()
            if token.single_word and _touches_word(text, start, stop):
                continue
            if token.lstrip:
                start = end + len(text[end:start].rstrip(BLANKS))
            if token.rstrip:
                stop = len(text) - len(text[stop:].lstrip(BLANKS))
            if end < start:
                yield end, start, None
            yield start, stop, token
            end = stop
        if end < len(text):
            yield end, len(text), None


def _touches_word(text: str, start: int, stop: int) -> bool:
    beside = text[max(start - 1, 0) : start] + text[stop : stop + 1]
    return any(category(char).startswith(_IN_WORDS) or char in _ALSO for char in beside)


def as_entry(token: AddedToken, number: int) -> dict[str, Any]:
    """Return a token as `tokenizer.json` has it."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {
        "id": number,
        "content": token.content,
        **{each: getattr(token, each) for each in flags},
    }

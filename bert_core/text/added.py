"""Added tokens: what a tokenizer finds in a text before it cuts words.

Every special token is one, and so is every word added to a vocabulary.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from bert_core.text.characters import joins_words
from bert_core.text.vocabulary import BLANKS


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in a text before anything else."""

    content: Annotated[str, "its characters, and its entry in the vocabulary"]
    special: Annotated[bool, "whether `decode` leaves it out"] = False
    normalized: Annotated[bool, "found in lower-cased text without accents, not as typed"] = False
    lstrip: Annotated[bool, "whether it takes the whitespace before it"] = False
    rstrip: Annotated[bool, "whether it takes the whitespace after it"] = False
    single_word: Annotated[bool, "found only where no letter or digit is beside it"] = False


def as_entry(token: AddedToken, number: int) -> dict[str, Any]:
    """Return a token as `tokenizer.json` has it."""
    return {"id": number, **asdict(token)}


class Finder:
    """Finds tokens in a text: at each place the longest."""

    def __init__(self, tokens: Mapping[str, AddedToken]) -> None:
        self._tokens = tokens
        longest_first = sorted(filter(None, tokens), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def split(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Yield the stretches of a text without gaps: start, end, and the token that is there."""
        end = 0
        for match in self._pattern.finditer(text):
            token = self._tokens[match.group()]
            start, stop = match.span()
            beside = text[max(start - 1, 0) : start] + text[stop : stop + 1]
            if token.single_word and any(map(joins_words, beside)):
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

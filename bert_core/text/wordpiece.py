"""WordPiece: split a word into the longest pieces in the vocabulary.

Greedy longest match from the left (google-research/bert, `tokenization.WordpieceTokenizer`): the
first piece is the longest prefix of the word in the vocabulary, the next one the longest
continuation (written with "##" in the vocabulary), and so on. If a step finds nothing, the whole
word becomes [UNK].
"""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from bert_core.errors import InputError

CONTINUATION = "##"
MAX_CHARS = 100  # BERT's own value; longer words become [UNK] without being looked up

# The whitespace of str.split(), written out because the set may grow with the Unicode version.
WORD = re.compile(r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


# One piece of a word: (token, start, end), where the token covers `word[start:end]`.
Piece = tuple[str, int, int]


class Attempt(NamedTuple):
    """One vocabulary lookup during the longest-match search."""

    token: str
    start: int
    end: int
    found: bool


def blank_separated(text: str) -> list[re.Match[str]]:
    """Find the whitespace-separated words of a text that has not been normalised."""
    return list(WORD.finditer(text))


class WordpieceTokenizer:
    """Split words into pieces of a vocabulary.

    Args:
        vocab: the known pieces, a dictionary or a set. Do not add pieces later: some would not be
            found.
        unk_token: token for a word that cannot be built from pieces.
        max_input_chars_per_word: longer words become `unk_token`.

    Example:
        >>> WordpieceTokenizer({"play", "##ing", "[UNK]"}).tokenize("playing plaid")
        ['play', '##ing', '[UNK]']
    """

    def __init__(
        self,
        vocab: Collection[str],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = MAX_CHARS,
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        # First character -> length of the longest piece that begins with it, at the start of a
        # word and inside it. Longer candidates need no lookup; in most scripts this is 1.
        self._longest_first = _longest_by_character(vocab, "")
        self._longest_inside = _longest_by_character(vocab, CONTINUATION)

    def tokenize(self, text: str) -> list[str]:
        """Split a text whose words are separated by whitespace; it is not normalised.

        Raises:
            InputError: `text` is not a string.
        """
        if not isinstance(text, str):
            raise InputError(f"Expected a text (str), found {type(text).__name__}.")
        tokens: list[str] = []
        for word in blank_separated(text):
            pieces = self.split(word.group())
            tokens.extend([token for token, _, _ in pieces] if pieces else [self.unk_token])
        return tokens

    def split(self, word: str) -> list[Piece]:
        """Split one word into pieces; an empty list means that it is unknown."""
        size = len(word)
        if size > self.max_input_chars_per_word:
            return []
        vocab, longest, prefix = self.vocab, self._longest_first, ""
        pieces: list[Piece] = []
        start = 0
        while start < size:
            end = min(size, start + longest.get(word[start], 0))
            while end > start and (token := prefix + word[start:end]) not in vocab:
                end -= 1
            if end == start:
                return []
            pieces.append((token, start, end))
            start, longest, prefix = end, self._longest_inside, CONTINUATION
        return pieces

    def attempts(self, word: str) -> list[Attempt]:
        """List every lookup of the longest-match search, in order.

        Gives the same pieces as `split`, without its shortcuts. A word that is too long has no
        attempts; for an unknown word, the last attempt is the single character that failed.
        """
        if len(word) > self.max_input_chars_per_word:
            return []
        tried: list[Attempt] = []
        start = 0
        while start < len(word):
            prefix = CONTINUATION if start else ""
            for end in range(len(word), start, -1):
                token = prefix + word[start:end]
                tried.append(Attempt(token, start, end, token in self.vocab))
                if tried[-1].found:
                    break
            if not tried[-1].found:
                return tried
            start = tried[-1].end
        return tried


def _longest_by_character(vocab: Iterable[str], prefix: str) -> dict[str, int]:
    """Map each first character (after `prefix`) to the length of the longest such piece."""
    longest: dict[str, int] = {}
    skip = len(prefix)
    for piece in vocab:
        size = len(piece) - skip
        if size > 0 and piece.startswith(prefix) and size > longest.get(piece[skip], 0):
            longest[piece[skip]] = size
    return longest

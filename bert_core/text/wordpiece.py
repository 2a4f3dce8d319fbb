"""WordPiece: one word in, the longest known pieces out.

Greedy longest match from the left (google-research/bert, `tokenization.WordpieceTokenizer`): the
longest beginning of the word that the vocabulary knows is the first piece, then the longest
continuation (spelt with "##" in the vocabulary), and so on. If one step finds nothing, the whole
word is unknown.
"""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from bert_core.errors import InputError

CONTINUATION = "##"
MAX_CHARS = 100  # BERT's own value: a longer word is unknown without being looked at

# What str.split() cuts at, written out: the list of blanks may grow with the Unicode version.
_WORD = re.compile(r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


# One piece of a word: its spelling in the vocabulary, and the characters of the word it covers.
Piece = tuple[str, int, int]


class Attempt(NamedTuple):
    """One look into the vocabulary on the way to the longest match."""

    token: str
    start: int
    end: int
    found: bool


def blank_separated(text: str) -> list[re.Match[str]]:
    """Find the words of a text that nobody has cleaned: whatever stands between blanks."""
    return list(_WORD.finditer(text))


class WordpieceTokenizer:
    """Cut words into pieces of a vocabulary.

    Args:
        vocab: the known pieces, a dictionary or a set. It is read once: pieces added later are
            not all found.
        unk_token: what stands for a word that cannot be put together.
        max_input_chars_per_word: longer words are unknown.

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
        # How long a piece can be that begins with a character, at the start of a word and inside:
        # in most scripts one, and longer ones need not be looked up.
        self._longest_first = _longest_by_character(vocab, "")
        self._longest_inside = _longest_by_character(vocab, CONTINUATION)

    def tokenize(self, text: str) -> list[str]:
        """Cut a text whose words are separated by blanks; no other cleaning is done.

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
        """Cut one word; an empty list says that it is unknown."""
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
        """List every look into the vocabulary that the rule asks for, in order.

        The same rule as `split`, spelt out for somebody who wants to watch it; a word that is too
        long has no attempts, and the last attempt at an unknown word failed on one character.
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
    """Map the first character of pieces, after `prefix`, to the length of the longest."""
    longest: dict[str, int] = {}
    skip = len(prefix)
    for piece in vocab:
        size = len(piece) - skip
        if size > 0 and piece.startswith(prefix) and size > longest.get(piece[skip], 0):
            longest[piece[skip]] = size
    return longest

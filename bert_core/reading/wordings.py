"""Find spans with the same wording: "the Nile", "Nile" and "The Nile," are one answer.

Compared as in the SQuAD evaluation (Rajpurkar et al. 2016, section 6.1): in lower case, without
punctuation, articles and spaces. People read "Nile, 60 %" as the probability that the Nile is the
answer: the sum over all spans with the same wording.
"""

import re
import string
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from bert_core.reading.spans import Floats, shifted

Places = NDArray[np.intp]

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


class Wordings:
    """The spans of a text of N tokens, compared by wording.

    `offsets` (N, 2) are the index of each token's first character, and the index after its last.

    >>> words = Wordings("The Nile, or Nile.", np.array([[0, 3], [4, 8], [10, 12], [13, 17]]))
    >>> score = np.zeros((4, 2))
    >>> [found.tolist() for found in words.alike(score, 1, 1)]  # "The Nile", "Nile", "Nile"
    [[0, 1, 3], [1, 0, 0]]
    """

    def __init__(self, text: str, offsets: Places) -> None:
        self._text, self._offsets = text, offsets
        self._letters, before = _letters(text)
        self._bounds = before[offsets]  # (N, 2): the tokens as stretches of the letters

    def alike(self, score: Floats, first: int, last: int) -> tuple[Places, Places]:
        """Return row and column in `score` of all spans that say what a given span does.

        A span with no letters left, such as a comma or "the" alone, is compared by its exact
        characters.
        """
        letters, bounds = self._letters, self._bounds
        if bounds[first, 0] == bounds[last, 1]:
            letters, bounds = self._text, self._offsets
        said = letters[bounds[first, 0] : bounds[last, 1]]
        starts, at = [], letters.find(said)
        while at >= 0:
            starts.append(at)
            at = letters.find(said, at + 1)
        rows = np.flatnonzero(np.isin(bounds[:, 0], starts))
        ends = shifted(bounds[:, 1].astype(np.float64), score.shape[1], -1.0)[rows]  # (R, M)
        same = ends == (bounds[rows, 0] + len(said))[:, None]
        found, columns = np.nonzero(same & np.isfinite(score[rows]))
        return rows[found], columns


def normalized(text: str) -> str:
    """Return an answer normalized for comparison, as in the SQuAD evaluation.

    >>> normalized("The  Eiffel Tower!")
    'eiffel tower'
    """
    text = "".join(letter for letter in text.lower() if letter not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def token_f1(found: str, wanted: str) -> float:
    """Return the token F1 of two answers; 1 if both are empty.

    >>> round(token_f1("the old bridge", "an old stone bridge"), 2)
    0.8
    """
    one, other = normalized(found).split(), normalized(wanted).split()
    if not one or not other:
        return float(one == other)
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other))


def _letters(text: str) -> tuple[str, Places]:
    """Return the letters that count, and (len(text) + 1,) how many of them precede each index."""
    places: list[int] = []
    plain: list[str] = []
    for place, character in enumerate(text):
        if character not in _PUNCTUATION:
            small = character.lower()  # may be more than one character
            plain.extend(small)
            places.extend([place] * len(small))
    kept = np.array([not character.isspace() for character in plain], dtype=np.bool_)
    for article in _ARTICLES.finditer("".join(plain)):
        kept[article.start() : article.end()] = False
    counts = np.bincount(np.array(places, dtype=np.intp)[kept], minlength=len(text))
    letters = "".join(character for character, counted in zip(plain, kept, strict=True) if counted)
    return letters, np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)

"""How wide words are in a drawing, by the letter widths of the site's font."""

import unicodedata
from bisect import bisect_right
from itertools import accumulate

from app.words.html import visible

# Widths of the characters from " " to "~" in Source Sans, in thousandths of the letter size.
_ASCII = [
    200, 289, 426, 497, 497, 824, 609, 249, 303, 303, 418, 497, 249, 311, 249, 350,
    497, 497, 497, 497, 497, 497, 497, 497, 497, 497, 249, 249, 497, 497, 497, 425,
    847, 543, 588, 571, 615, 527, 494, 617, 652, 263, 479, 579, 486, 727, 647, 664,
    566, 664, 569, 534, 536, 645, 515, 786, 513, 476, 539, 303, 350, 303, 497, 500,
    542, 504, 553, 456, 555, 496, 292, 504, 544, 246, 247, 495, 255, 829, 547, 542,
    555, 555, 347, 419, 338, 544, 467, 719, 446, 467, 425, 303, 241, 303, 497,
]  # fmt: skip
_PRINTED = {**{chr(32 + n): w for n, w in enumerate(_ASCII)},
            "“": 426, "”": 426, "‘": 249, "’": 249, "–": 480, "—": 800, "…": 948}  # fmt: skip
_OTHER, _WIDE = 540, 1000

# Gradio and a saved page may show letters, and bold letters, that are so much wider than ours.
OTHER_FONT, OTHER_BOLD = 1.2, 1.4


def units(value: float) -> str:
    """Print a number of units of a drawing.

    >>> units(3.10001), units(4.0)
    ('3.1', '4')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def printed_width(text: str, size: float) -> float:
    """Return the width of a short text in one line.

    >>> printed_width("PER", 1000)
    1662.0
    """
    return sum(_width(character) for character in text) * size / 1000


def fitting(text: str, room: float, size: float) -> str:
    """Cut a text that is wider than the room for it, and mark the cut.

    >>> fitting("barked", 46, 15), fitting("barked", 25, 15), fitting("barked", 3, 15)
    ('barked', 'b…', '')
    """
    if printed_width(text, size) <= room:
        return text
    kept = _start(text, room - printed_width("…", size), size)
    return f"{kept}…" if kept else ""


def _start(text: str, room: float, size: float) -> str:
    ends = accumulate(map(_width, text))
    return text[: bisect_right(list(ends), 1000 * room / size)].rstrip()


def _width(character: str) -> int:
    """Return the width of a character, or of the sign that is drawn for it, in thousandths."""
    if character in _PRINTED:
        return _PRINTED[character]
    if character == "\n" or unicodedata.combining(character):
        return 0
    sign = visible(character)
    if len(sign) > 1:
        return sum(_PRINTED.get(each, _OTHER) for each in sign)
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    plain = unicodedata.normalize("NFD", character)[0]
    return _PRINTED.get(plain, _OTHER)

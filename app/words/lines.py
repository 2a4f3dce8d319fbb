"""Break a text into lines and know the place of every character: what the drawing measures by.

`Typeset` works with the letter widths of the site's font. The drawing stretches each word to the
width computed here, so that rectangles and underlines fit in any font.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Annotated

import regex

from app.words.html import Html, tag, visible

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
_CLUSTER = regex.compile(r"\X")
_EAST = r"\p{Han}\p{Hiragana}\p{Katakana}"
# Where a line may end: after spaces, after tabs, and between East Asian characters.
_UNIT = regex.compile(rf"\n| +|[{_EAST}]\p{{M}}*\p{{P}}*|[^ \n\t{_EAST}]+\t*|\t+")
_WORD, _RUN = regex.compile(r" +|[^ ]+"), regex.compile(r" +|[^ ]+(?: [^ ]+)*")
# Where directions mix, punctuation beside a word may belong to the other one.
_SIGNED = regex.compile(r" +|(?:[\p{L}\p{M}\p{N}]|(?<=\p{N})[.,:/](?=\p{N}))+|[^ \p{L}\p{M}\p{N}]+")
_RIGHT, _LEFT = regex.compile(r"[\p{bc=R}\p{bc=AL}]"), regex.compile(r"\p{bc=L}")
_NEAR = 0.01

OTHER_FONT, OTHER_BOLD = 1.2, 1.4
"""Gradio and a saved page may show letters, and bold letters, that are so much wider than ours."""


@dataclass(frozen=True, slots=True)
class Box:
    """A stretch of one line."""

    line: Annotated[int, "number of the line, counted from 0"]
    start: Annotated[int, "its first character in the text"]
    end: Annotated[int, "the character after its last"]
    left: Annotated[float, "where it begins, in units of the drawing"]
    right: Annotated[float, "where it ends"]
    turned: Annotated[bool, "whether it runs from right to left"] = False


class Typeset:
    """A text in lines.

    Right-to-left writing is placed word by word: lines of such a paragraph begin at the right, and
    words of the other direction keep their own order inside it.

    Args:
        text: as typed; spaces and line breaks are kept.
        width: of a line, in units of the drawing.
        size: of the letters, in the same units.
        cuts: character positions at which words are divided, such as the ends of a mark.
        words: whether each word is a box of its own; else a run of words is one.

    Attributes:
        boxes: what is drawn, in the order of the text; no box crosses a cut.
        lines: number of lines.
    """

    def __init__(
        self, text: str, width: float, size: float, cuts: Iterable[int] = (), *, words: bool = True
    ) -> None:
        self.text, self.width = text, width
        self._x = [0.0, *accumulate(each * size for each in _widths(text))]
        self._turns = bool(_RIGHT.search(text))
        self._grain = _SIGNED if self._turns else _WORD if words else _RUN
        places = _break(text, self._x, width)
        inside = sorted(set(cuts))
        self.lines = len(places)
        self.boxes: list[Box] = []
        base = False
        for line, (start, end) in enumerate(places):
            if self._turns and (start == 0 or text[start - 1] == "\n"):
                base = _runs_left(text[start:].partition("\n")[0])
            between = inside[bisect_right(inside, start) : bisect_right(inside, end)]
            self.boxes += self._place(line, start, end, between, base=base)
        self._starts = [box.start for box in self.boxes]

    def measure(self, start: int, end: int) -> float:
        """Return the width of some characters of one line."""
        return self._x[end] - self._x[start]

    def where(self, start: int, end: int) -> list[Box]:
        """Return the boxes that cover some characters, one for each line or direction."""
        first = max(0, bisect_right(self._starts, start) - 1)
        found: list[Box] = []
        for box in self.boxes[first:]:
            if box.start >= end:
                break
            if box.end > start:
                found.append(self._part(box, max(start, box.start), min(end, box.end)))
        found.sort(key=lambda box: (box.line, box.left))
        return _joined(found)

    def _part(self, box: Box, start: int, end: int) -> Box:
        """Return a part of a box."""
        before, after = self.measure(box.start, start), self.measure(end, box.end)
        if box.turned:
            before, after = after, before
        return Box(box.line, start, end, box.left + before, box.right - after, box.turned)

    def _place(
        self, line: int, start: int, end: int, cuts: Sequence[int], *, base: bool
    ) -> list[Box]:
        """Place the boxes of one line; `base` says whether its paragraph runs to the left."""
        while end > start and self.text[end - 1] == " ":
            end -= 1  # spaces at the end of a line take no room
        if start == end:
            return []
        ends = {start, end, *(cut for cut in cuts if cut < end)}
        ends.update(found.start() for found in self._grain.finditer(self.text, start, end))
        spans = list(pairwise(sorted(ends)))
        turned = [False] * len(spans)
        if self._turns:
            turned = _directions([self.text[a:b] for a, b in spans], base=base)
        order = list(range(len(spans)))
        if base:
            order.reverse()
        order = [
            number
            for against, run in groupby(order, key=lambda number: turned[number] != base)
            for number in (list(run)[::-1] if against else run)
        ]
        x = self.width - self.measure(start, end) if base else 0.0
        boxes = []
        for number in order:
            a, b = spans[number]
            boxes.append(Box(line, a, b, x, x + self.measure(a, b), turned[number]))
            x = boxes[-1].right
        return sorted(boxes, key=lambda box: box.start)


def letters(lines: Typeset, box: Box, y: float, class_: str) -> Html | None:
    """Draw the letters of a box, stretched to the width that was computed for them.

    Args:
        lines: the text.
        box: one of its boxes.
        y: the middle of its line in the drawing.
        class_: of the letters.

    Returns:
        None for a box of spaces.
    """
    typed = lines.text[box.start : box.end]
    start = box.start + len(typed) - len(typed.lstrip(" "))
    end = box.start + len(typed.rstrip(" "))
    if end <= start:
        return None
    left = box.left + lines.measure(box.start, start)
    shown = visible(lines.text[start:end])
    if box.turned:  # marks without width: punctuation at the ends belongs to the word
        left = box.left + lines.measure(end, box.end)
        shown = f"\u200f{shown}\u200f"
    return tag(
        "text", shown, x=units(left), y=units(y), class_=class_,
        text_length=units(lines.measure(start, end)), length_adjust="spacingAndGlyphs",
    )  # fmt: skip


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


def fitting_ends(text: str, room: float, size: float) -> str:
    """Cut the middle out of a text that is too wide: some that begin alike end differently.

    >>> fitting_ends("the ferry to her uncle Tom", 100, 15)
    'the fe … e Tom'
    """
    if printed_width(text, size) <= room:
        return text
    half = (room - printed_width(" … ", size)) / 2
    return f"{_start(text, half, size)} … {_start(text[::-1], half, size)[::-1].strip()}"


def _start(text: str, room: float, size: float) -> str:
    """Return as much of the start of a text as there is room for."""
    ends = accumulate(map(_width, text))
    return text[: bisect_right(list(ends), 1000 * room / size)].rstrip()


def _widths(text: str) -> list[float]:
    """Return the width of every character as a share of the letter size.

    What is drawn as one sign (a letter and its accents, a joined emoji) has the width of its widest
    character, at the first one.
    """
    if text.isascii():
        return [_width(character) / 1000 for character in text]
    widths: list[float] = []
    for cluster in _CLUSTER.findall(text):
        widest = max(_width(character) for character in cluster) / 1000
        widths += [widest, *[0.0] * (len(cluster) - 1)]
    return widths


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


def _break(text: str, x: Sequence[float], width: float) -> list[tuple[int, int]]:
    """Return the first character of every line, and the one after its last."""
    lines: list[tuple[int, int]] = []
    start = 0
    for found in _UNIT.finditer(text):
        first, end = found.span()
        if text[first] == "\n":
            lines.append((start, first))
            start = end
        elif text[first] != " " and x[end] - x[start] > width:
            if first > start:
                lines.append((start, first))
                start = first
            while x[end] - x[start] > width:  # longer than a line
                stop = max(start + 1, bisect_right(x, x[start] + width) - 1)
                lines.append((start, stop))
                start = stop
    lines.append((start, len(text)))
    return lines


def _runs_left(text: str) -> bool:
    """Return whether the first letter with a direction runs from right to left."""
    right, left = _RIGHT.search(text), _LEFT.search(text)
    return bool(right and (not left or right.start() < left.start()))


def _directions(parts: Sequence[str], *, base: bool) -> list[bool]:
    """Return for each part of a line whether it runs from right to left.

    A part without letters takes the direction of its neighbours if they agree, else the base.
    """
    own = [True if _RIGHT.search(p) else False if _LEFT.search(p) else None for p in parts]
    before, after = [base, *own[:-1]], [*own[1:], base]
    for number in range(1, len(own)):
        before[number] = before[number - 1] if before[number] is None else before[number]
        after[-number - 1] = after[-number] if after[-number - 1] is None else after[-number - 1]
    return [
        bool(here if here is not None else left if left == right else base)
        for left, here, right in zip(before, own, after, strict=True)
    ]


def _joined(boxes: Sequence[Box]) -> list[Box]:
    """Join boxes that touch."""
    found: list[Box] = []
    for box in boxes:
        last = found[-1] if found else None
        if last and last.line == box.line and abs(last.right - box.left) < _NEAR:
            first, end = min(last.start, box.start), max(last.end, box.end)
            found[-1] = Box(box.line, first, end, last.left, box.right, box.turned)
        else:
            found.append(box)
    return found

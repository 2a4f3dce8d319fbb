"""How reliable the model was when it was measured."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from app.features.next_sentence.result_reliability import Reliability, ReliabilityResult
from app.words.blocks import line
from app.words.format import percent, signed, too_sure
from app.words.html import Html, tag
from app.words.pictures import Picture, picture, svg
from app.words.screen import Screen

TITLE = "Reliability"

_LEAST = 0.5  # the likelier of two answers cannot have less
_SIDE, _LEFT, _TOP, _BOTTOM = 286.0, 66.0, 14.0, 50.0
_LARGEST = 11.0  # radius of the dot of a bin with all cases of its kind
_DASHES = (None, "7 5", "2 4")
_COLOURS = (0, 5, 2)


def screen(result: ReliabilityResult, _: str = "") -> Screen:
    """Say what is shown."""
    if not result.rows:
        return Screen("Nothing was measured.", (reliability_note(()),))
    said = " ".join(f"{_said(each)}." for each in result.rows[:2])
    return Screen(said, (reliability_note(result.rows), reliability_picture(result.rows)))


def _said(row: Reliability) -> str:
    """Say for one kind of pairs whether the model is too sure."""
    kind = f"{row.pairs[0].upper()}{row.pairs[1:]}"
    lean = too_sure(row.stated, row.right)
    return f"{kind}: {percent(row.stated)} sure on average, {_right(row)} right, {lean}"


def _right(row: Reliability) -> str:
    return percent(row.right, counted=True)


def reliability_note(rows: Sequence[Reliability]) -> Html:
    """Say what was measured, and what was not stored."""
    if not rows:
        return line(
            "The reliability of this model was not measured: nothing is stored with its weights."
        )
    return line(
        "Each dot: the answers with about that probability, and the share of them that were right; "
        "a larger dot has more answers. On the dashed line both are equal; below it the model is "
        "too sure, above it too unsure. Two kinds that lean to different sides cancel in a figure "
        "for both."
    )


def reliability_table(rows: Sequence[Reliability]) -> pd.DataFrame:
    """Return the measurements as a table, a row for each bin."""
    found = [(row, each) for row in rows for each in row.bins]
    return pd.DataFrame(
        {
            "pairs": [row.pairs for row, _ in found],
            "answers": [each.cases for _, each in found],
            "mean probability of the answer": [each.stated for _, each in found],
            "share of right answers": [each.right for _, each in found],
        }
    )


def reliability_picture(rows: Sequence[Reliability]) -> Picture:
    """Draw stated probability (across) against the share of right answers (up), by kind."""
    kinds = rows[:-1] or rows  # the last one is all of them together
    return picture(
        "next-sentence-reliability",
        lambda width: _diagram(rows, len(kinds), width),
        alt=f"Probability against share of right answers. {'; '.join(map(_said, rows))}.",
        table=reliability_table(kinds),
    )


def _diagram(rows: Sequence[Reliability], kinds: int, width: int) -> Html:
    """Draw the curves of the kinds, and what each row comes to beside or below them."""
    low = min(_LEAST, *(each.right for row in rows[:kinds] for each in row.bins))
    at = _Square(low=0.1 * int(10 * low))
    parts = [*_axes(at)]
    for number, row in enumerate(rows[:kinds]):
        parts += _curve(at, row, number)
    wide = width > 500
    for number, row in enumerate(rows):
        x, y = (_LEFT + _SIDE + 40, _TOP + 16 + 62 * number) if wide else (
            24, _TOP + _SIDE + _BOTTOM + 14 + 62 * number)  # fmt: skip
        if number < kinds:
            parts.append(tag("circle", cx=x - 14, cy=y, r=6, fill=_colour(number)))
        said = f"sure {percent(row.stated)}, right {_right(row)}: {too_sure(row.stated, row.right)}"
        parts += [
            tag("text", f"{row.pairs} ({row.cases:,})", x=x, y=y),
            tag("text", said, x=x, y=y + 22, class_="bx-svg-small"),
        ]
    return svg(width, _TOP + _SIDE + _BOTTOM + (0 if wide else 62 * len(rows) + 4), *parts)


@dataclass(frozen=True, slots=True)
class _Square:
    """The square of the drawing: probabilities from a half across, shares from `low` up."""

    low: float

    def x(self, stated: float) -> float:
        return _LEFT + _SIDE * (stated - _LEAST) / (1 - _LEAST)

    def y(self, right: float) -> float:
        return _TOP + _SIDE * (1 - right) / (1 - self.low)


def _axes(at: _Square) -> list[Html]:
    ends = {"x1": f"{at.x(0.5):g}", "x2": f"{at.x(1):g}"}
    parts = [tag("line", **ends, y1=f"{at.y(0.5):g}", y2=f"{at.y(1):g}", class_="bx-svg-even")]
    for tenth in range(round(10 * at.low), 11):
        y = f"{at.y(tenth / 10):g}"
        name = percent(tenth / 10, 0, counted=True)
        parts += [
            tag("line", **ends, y1=y, y2=y, class_="bx-svg-grid"),
            tag("text", name, x=f"{_LEFT - 8:g}", y=y, class_="bx-svg-name bx-svg-small"),
        ]
        if tenth >= 10 * _LEAST:
            parts.append(tag("text", name, x=f"{at.x(tenth / 10):g}", y=f"{_TOP + _SIDE + 16:g}",
                             class_="bx-svg-middle bx-svg-small"))  # fmt: skip
    said = "probability across, right answers up"
    middle = f"{_LEFT + _SIDE / 2:g}"
    parts.append(tag("text", said, x=middle, y=f"{_TOP + _SIDE + 38:g}",
                     class_="bx-svg-middle bx-svg-small"))  # fmt: skip
    return parts


def _curve(at: _Square, row: Reliability, number: int) -> list[Html]:
    """Draw the bins of a kind as dots on a line."""
    places = [(at.x(max(_LEAST, each.stated)), at.y(each.right), each) for each in row.bins]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    parts = [tag("polyline", points=points, fill="none", stroke=_colour(number), stroke_width=2,
                 stroke_dasharray=_DASHES[number % 3])]  # fmt: skip
    for x, y, each in places:
        words = (
            f"{row.pairs}: {each.cases:,} answers, sure {percent(each.stated)}, right "
            f"{percent(each.right, counted=True)} ({signed(100 * (each.stated - each.right), 1)})"
        )
        radius = max(3.0, _LARGEST * (each.cases / row.cases) ** 0.5)
        parts.append(tag("circle", tag("title", words), cx=f"{x:.2f}", cy=f"{y:.2f}",
                         r=f"{radius:.1f}", fill=_colour(number), class_="bx-svg-bin"))  # fmt: skip
    return parts


def _colour(number: int) -> str:
    return f"var(--bx-c{_COLOURS[number % 3]})"

"""How reliable the model was when it was measured."""

from collections.abc import Sequence

from app.features.next_sentence.result_reliability import Reliability, ReliabilityResult
from app.words.blocks import line
from app.words.format import percent, signed, too_sure
from app.words.html import Html
from app.words.panel import MIDDLE, Panel
from app.words.pictures import Picture, picture, svg
from app.words.screen import Screen

TITLE = "Reliability"

_LEAST = 0.5  # the likelier of two answers cannot have less
_SIDE, _TOP, _BOTTOM = 286, 14, 50
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


def reliability_picture(rows: Sequence[Reliability]) -> Picture:
    """Draw stated probability (across) against the share of right answers (up), by kind."""
    kinds = rows[:-1] or rows  # the last one is all of them together
    return picture(
        "next-sentence-reliability",
        lambda width: _diagram(rows, len(kinds), width),
        alt=f"Probability against share of right answers. {'; '.join(map(_said, rows))}.",
        table=[
            (row.pairs, each.cases, each.stated, each.right) for row in kinds for each in row.bins
        ],
        columns=("pairs", "answers", "mean probability of the answer", "share of right answers"),
    )


def _diagram(rows: Sequence[Reliability], kinds: int, width: int) -> Html:
    """Draw the curves of the kinds, and what each row comes to beside or below them."""
    low = min(_LEAST, *(each.right for row in rows[:kinds] for each in row.bins))
    tenths, wide = range(int(10 * low), 11), width > 500
    panel = Panel((66, 66 + _SIDE), (_TOP, _TOP + _SIDE), (_LEAST, 1), (tenths[0] / 10, 1))
    panel.line([(_LEAST, _LEAST), (1, 1)], class_="bx-svg-even")
    names = [(tenth / 10, percent(tenth / 10, 0, counted=True)) for tenth in tenths]
    panel.levels(names)
    panel.ticks((share, name) for share, name in names if share >= _LEAST)
    said = "probability across, right answers up"
    panel.text((_LEAST + 1) / 2, tenths[0] / 10, said, dy=38, class_=MIDDLE)
    key = Panel.of_units(width, 1)
    for number, row in enumerate(rows):
        if number < kinds:
            _curve(panel, row, number)
        x, y = (106 + _SIDE, _TOP + 16) if wide else (24, _TOP + _SIDE + _BOTTOM + 14)
        y += 62 * number
        if number < kinds:
            key.dot(x - 14, y, 6, fill=_colour(number))
        said = f"sure {percent(row.stated)}, right {_right(row)}: {too_sure(row.stated, row.right)}"
        key.text(x, y, f"{row.pairs} ({row.cases:,})", class_=None)
        key.text(x, y, said, dy=22)
    high = _TOP + _SIDE + _BOTTOM + (0 if wide else 62 * len(rows) + 4)
    return svg(width, high, *panel.drawn, *key.drawn)


def _curve(panel: Panel, row: Reliability, number: int) -> None:
    """Draw the bins of a kind as dots on a line."""
    points = [(max(_LEAST, each.stated), each.right) for each in row.bins]
    dashes = _DASHES[number % 3]
    panel.line(points, stroke=_colour(number), stroke_width=2, stroke_dasharray=dashes)
    for point, each in zip(points, row.bins, strict=True):
        words = (
            f"{row.pairs}: {each.cases:,} answers, sure {percent(each.stated)}, right "
            f"{percent(each.right, counted=True)} ({signed(100 * (each.stated - each.right), 1)})"
        )
        r = max(3.0, _LARGEST * (each.cases / row.cases) ** 0.5)
        panel.dot(*point, r, words, fill=_colour(number), class_="bx-svg-bin")


def _colour(number: int) -> str:
    return f"var(--bx-c{_COLOURS[number % 3]})"

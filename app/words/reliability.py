"""Stated probability against the share of right answers: a reliability diagram."""

from collections.abc import Sequence

from app.records.counted import Reliability, wilson
from app.words.blocks import line
from app.words.format import percent, signed, too_sure
from app.words.html import Html
from app.words.panel import MIDDLE, Panel
from app.words.pictures import Picture, picture, svg

_SIDE, _TOP, _BOTTOM = 286, 14, 50
_LARGEST = 11.0  # radius of the dot of a bin with all cases of its kind
_DASHES = (None, "7 5", "2 4")
_COLOURS = (0, 5, 2)


def leaning(row: Reliability) -> str:
    """Say for one kind of answers whether the model is too sure."""
    kind = f"{row.pairs[0].upper()}{row.pairs[1:]}"
    lean = too_sure(row.stated, row.right)
    return f"{kind}: {percent(row.stated)} sure on average, {_right(row)} right, {lean}"


def _right(row: Reliability) -> str:
    return percent(row.right, counted=True)


def reliability_note(more: str = "") -> Html:
    """Explain the diagram."""
    return line(
        "Each dot: the answers with about that probability, and the share of them that were right; "
        "a larger dot has more answers. On the dashed line both are equal; below it the model is "
        f"overconfident, above it underconfident. {more}"
    )


def reliability_picture(
    rows: Sequence[Reliability], name: str, *, least: float = 0.0, intervals: bool = False
) -> Picture:
    """Draw stated probability (across) against the share of right answers (up), by kind.

    Args:
        rows: one for each kind; of several, the last is all of them together.
        name: of the picture on its page.
        least: the lowest probability that the model's answer can have.
        intervals: whether the 95 % interval of each dot is drawn.
    """
    kinds = rows[:-1] or rows
    return picture(
        name,
        lambda width: _diagram(rows, len(kinds), width, least, intervals=intervals),
        alt=f"Probability against share of right answers. {'; '.join(map(leaning, rows))}.",
        table=[
            (row.pairs, each.cases, each.stated, each.right) for row in kinds for each in row.bins
        ],
        columns=("which", "answers", "mean probability of the answer", "share of right answers"),
    )


def _diagram(
    rows: Sequence[Reliability], kinds: int, width: int, least: float, *, intervals: bool
) -> Html:
    """Draw the curves of the kinds, and what each row comes to beside or below them."""
    low = min(least, *(each.right for row in rows[:kinds] for each in row.bins))
    tenths, wide = range(int(10 * low), 11, 1 if least else 2), width > 500
    panel = Panel((66, 66 + _SIDE), (_TOP, _TOP + _SIDE), (least, 1), (tenths[0] / 10, 1))
    panel.line([(least, least), (1, 1)], class_="bx-svg-even")
    names = [(tenth / 10, percent(tenth / 10, 0, counted=True)) for tenth in tenths]
    panel.levels(names)
    panel.ticks((share, name) for share, name in names if share >= least)
    said = "probability across, right answers up"
    panel.text((least + 1) / 2, tenths[0] / 10, said, dy=38, class_=MIDDLE)
    key = Panel.of_units(width, 1)
    for number, row in enumerate(rows):
        if number < kinds:
            _curve(panel, row, number, least, intervals=intervals)
        x, y = (106 + _SIDE, _TOP + 16) if wide else (24, _TOP + _SIDE + _BOTTOM + 14)
        y += 62 * number
        if number < kinds:
            key.dot(x - 14, y, 6, fill=_colour(number))
        said = f"sure {percent(row.stated)}, right {_right(row)}: {too_sure(row.stated, row.right)}"
        key.text(x, y, f"{row.pairs} ({row.cases:,})", class_=None)
        key.text(x, y, said, dy=22)
    high = _TOP + _SIDE + _BOTTOM + (0 if wide else 62 * len(rows) + 4)
    return svg(width, high, *panel.drawn, *key.drawn)


def _curve(panel: Panel, row: Reliability, number: int, least: float, *, intervals: bool) -> None:
    """Draw the bins of a kind as dots on a line."""
    points = [(max(least, each.stated), each.right) for each in row.bins]
    dashes = _DASHES[number % 3]
    panel.line(points, stroke=_colour(number), stroke_width=2, stroke_dasharray=dashes)
    for point, each in zip(points, row.bins, strict=True):
        words = (
            f"{row.pairs}: {each.cases:,} answers, sure {percent(each.stated)}, right "
            f"{percent(each.right, counted=True)} ({signed(100 * (each.stated - each.right), 1)})"
        )
        if intervals:
            ends = wilson(round(each.right * each.cases), each.cases)
            panel.post(point[0], ends, stroke=_colour(number), stroke_width=2)
        r = max(3.0, _LARGEST * (each.cases / row.cases) ** 0.5)
        panel.dot(*point, r, words, fill=_colour(number), class_="bx-svg-bin")


def _colour(number: int) -> str:
    return f"var(--bx-c{_COLOURS[number % 3]})"

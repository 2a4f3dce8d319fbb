"""How reliable the model was when it was measured."""

from collections.abc import Sequence

import pandas as pd

from app.features.next_sentence.result_reliability import Reliability, ReliabilityResult
from app.words.blocks import line
from app.words.format import percent
from app.words.html import Html, tag
from app.words.pictures import Picture, picture, svg
from app.words.report import Report

TITLE = "Reliability"

_LEAST = 0.5  # the likelier of two answers cannot have less


def report(result: ReliabilityResult) -> Report:
    """Write the result as it would appear on paper."""
    if not result.rows:
        return Report("Nothing was measured.", (reliability_note(()),))
    first = result.rows[0]
    return Report(
        f"On {first.pairs} the model was {percent(first.stated)} sure on average, and "
        f"{percent(first.right, counted=True)} of its answers were right.",
        (reliability_note(result.rows), reliability_picture(result.rows)),
    )


def reliability_note(rows: Sequence[Reliability]) -> Html:
    """Say what was measured, and what was not stored."""
    if not rows:
        return line(
            "The reliability of this model was not measured: nothing is stored with its weights."
        )
    return line(
        "Each dot: how sure the model was on average, and how often it was right. On the dashed "
        "line both are equal; below it the model is too sure. Only these means are stored with the "
        "weights, not a curve. Line through a dot: 95 % interval."
    )


def reliability_table(rows: Sequence[Reliability]) -> pd.DataFrame:
    """Return the measurements as a table."""
    return pd.DataFrame(
        {
            "pairs": [row.pairs for row in rows],
            "cases": [row.cases for row in rows],
            "mean probability of the answer": [row.stated for row in rows],
            "share of right answers": [row.right for row in rows],
            "calibration error": [row.error for row in rows],
        }
    )


def reliability_picture(rows: Sequence[Reliability]) -> Picture:
    """Draw stated probability (across) against the share of right answers (up)."""
    said = "; ".join(
        f"{row.pairs}: {percent(row.stated)} sure, {percent(row.right, counted=True)} right"
        for row in rows
    )
    return picture(
        "next-sentence-reliability",
        lambda width: _diagram(rows, width),
        alt=f"Mean probability against share of right answers. {said}.",
        table=reliability_table(rows),
    )


def _diagram(rows: Sequence[Reliability], width: int) -> Html:
    side, left, bottom, top = 286.0, 66.0, 50.0, 14.0

    def x(share: float) -> float:
        return left + side * (share - _LEAST) / (1 - _LEAST)

    def y(share: float) -> float:
        return top + side * (1 - share) / (1 - _LEAST)

    parts = [tag("line", x1=f"{x(0.5):g}", y1=f"{y(0.5):g}", x2=f"{x(1):g}", y2=f"{y(1):g}",
                 class_="bx-svg-even")]  # fmt: skip
    for tick in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        parts += [
            tag("line", x1=f"{left:g}", x2=f"{left + side:g}", y1=f"{y(tick):g}",
                y2=f"{y(tick):g}", class_="bx-svg-grid"),
            tag("text", percent(tick, 0, counted=True), x=f"{left - 8:g}", y=f"{y(tick):g}",
                class_="bx-svg-name bx-svg-small"),
            tag("text", percent(tick, 0, counted=True), x=f"{x(tick):g}", y=f"{top + side + 16:g}",
                class_="bx-svg-middle bx-svg-small"),
        ]  # fmt: skip
    parts.append(
        tag("text", "mean probability of its answers", x=f"{left + side / 2:g}",
            y=f"{top + side + 38:g}", class_="bx-svg-middle bx-svg-small")
    )  # fmt: skip
    wide = width > 500
    for number, row in enumerate(rows):
        across, up = x(max(_LEAST, row.stated)), y(max(_LEAST, row.right))
        if row.interval:
            low, high = (y(max(_LEAST, end)) for end in row.interval)
            parts.append(tag("line", x1=f"{across:.2f}", x2=f"{across:.2f}", y1=f"{low:.2f}",
                             y2=f"{high:.2f}", class_="bx-svg-span"))  # fmt: skip
        words = f"{row.pairs}: sure {percent(row.stated)}, right {percent(row.right, counted=True)}"
        spot = tag("circle", tag("title", words), cx=f"{across:.2f}", cy=f"{up:.2f}", r=8,
                   class_="bx-svg-dot")  # fmt: skip
        mark = tag("text", str(number + 1), x=f"{across + 14:.2f}", y=f"{up:.2f}")
        head = (left + side + 30, top + 20 + 50 * number) if wide else (
            0, top + side + bottom + 14 + 46 * number)  # fmt: skip
        parts += [
            spot, mark,
            tag("text", f"{number + 1}  {row.pairs} ({row.cases:,})", x=head[0], y=head[1]),
            tag("text", f"sure {percent(row.stated)}, right {percent(row.right, counted=True)}",
                x=head[0] + 18, y=head[1] + 22, class_="bx-svg-small"),
        ]  # fmt: skip
    more = 0 if wide else 46 * len(rows) + 10
    return svg(width, top + side + bottom + more, *parts)

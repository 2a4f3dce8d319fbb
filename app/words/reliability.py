"""Stated probability against the share of right answers: a reliability diagram."""

from app.records.counted import Reliability, wilson
from app.words.blocks import line
from app.words.format import percent, signed, too_sure
from app.words.html import Html
from app.words.panel import MIDDLE, Panel
from app.words.pictures import Picture, picture, svg

_SIDE, _TOP, _BOTTOM = 286, 14, 50
_LARGEST = 11.0  # radius of the dot of a bin with all answers
_COLOUR = "var(--bx-c0)"


def leaning(found: Reliability) -> str:
    """Say whether the model is too sure."""
    return f"{found.pairs[0].upper()}{found.pairs[1:]}: {_sure(found, ' on average')}"


def _sure(found: Reliability, average: str = "") -> str:
    right = percent(found.right, counted=True)
    lean = too_sure(found.stated, found.right)
    return f"{percent(found.stated)} sure{average}, {right} right, {lean}"


def reliability_note(more: str = "") -> Html:
    """Explain the diagram."""
    return line(
        "Each dot: the answers with about that probability, and the share of them that were right; "
        "a larger dot has more answers. On the dashed line both are equal; below it the model is "
        f"overconfident, above it underconfident. {more}"
    )


def reliability_picture(found: Reliability, name: str) -> Picture:
    """Draw stated probability (across) against the share of right answers (up), with intervals."""
    return picture(
        name,
        lambda width: _diagram(found, width),
        alt=f"Probability against share of right answers. {leaning(found)}.",
        table=[(found.pairs, each.cases, each.stated, each.right) for each in found.bins],
        columns=("which", "answers", "mean probability of the answer", "share of right answers"),
    )


def _diagram(found: Reliability, width: int) -> Html:
    panel = Panel((66, 66 + _SIDE), (_TOP, _TOP + _SIDE), (0, 1), (0, 1))
    panel.line([(0, 0), (1, 1)], class_="bx-svg-even")
    names = [(tenth / 10, percent(tenth / 10, 0, counted=True)) for tenth in range(0, 11, 2)]
    panel.levels(names)
    panel.ticks(names)
    panel.text(0.5, 0, "probability across, right answers up", dy=38, class_=MIDDLE)
    panel.line([(each.stated, each.right) for each in found.bins], stroke=_COLOUR, stroke_width=2)
    for each in found.bins:
        right, off = percent(each.right, counted=True), signed(100 * (each.stated - each.right), 1)
        says = f"{found.pairs}: {each.cases:,} answers, sure {percent(each.stated)}, right {right}"
        ends = wilson(round(each.right * each.cases), each.cases)
        panel.post(each.stated, ends, stroke=_COLOUR, stroke_width=2)
        r = max(3.0, _LARGEST * (each.cases / found.cases) ** 0.5)
        panel.dot(each.stated, each.right, r, f"{says} ({off})", fill=_COLOUR, class_="bx-svg-bin")
    wide, key = width > 500, Panel.of_units(width, 1)
    x, y = (106 + _SIDE, _TOP + 16) if wide else (24, _TOP + _SIDE + _BOTTOM + 14)
    key.text(x, y, f"{found.pairs} ({found.cases:,})", class_=None)
    key.text(x, y, _sure(found), dy=22)
    return svg(width, _TOP + _SIDE + _BOTTOM + (0 if wide else 66), *panel.drawn, *key.drawn)

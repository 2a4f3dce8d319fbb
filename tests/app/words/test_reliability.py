"""The reliability diagram."""

import pytest

from app.records.counted import Reliability, reliability, wilson
from app.words.reliability import reliability_picture
from bert_core.bundled.figures import Bin
from tests.drawings import elements


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_own_answers_are_drawn_with_their_intervals(size: str) -> None:
    found = reliability("your gaps", [(0.1, False), (0.3, True), (0.3, False), (1.0, True)])
    shown = reliability_picture([found], "own", intervals=True)
    drawing = getattr(shown, size)
    (even,) = elements(drawing, "polyline", "bx-svg-even")
    ends = [tuple(map(float, point.split(","))) for point in even.attributes["points"].split()]
    (left, low), (right, top) = ends
    dots = elements(drawing, "circle", "bx-svg-bin")
    across = [(dot.number("cx") - left) / (right - left) for dot in dots]
    up = [(dot.number("cy") - low) / (top - low) for dot in dots]
    assert across == pytest.approx([0.1, 0.3, 1.0]) and up == pytest.approx([0, 0.5, 1])
    posts = [each for each in elements(drawing, "line") if each.attributes.get("stroke-width")]
    spans = [[(post.number(end) - low) / (top - low) for end in ("y1", "y2")] for post in posts]
    counted = [(0, 1), (1, 2), (1, 1)]
    assert spans == [pytest.approx(wilson(*each), abs=1e-3) for each in counted]
    assert list(shown.table["answers"]) == [1, 2, 1]
    assert found.error == pytest.approx((0.1 + 2 * 0.2 + 0) / 4)
    assert (
        "Your gaps: 42.5 % sure on average, 50.0 % right, underconfident by 7.5 points" in shown.alt
    )


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_dots_are_where_their_numbers_say(size: str) -> None:
    shy = Reliability("some", 800, 0.8, 0.9, 0.1, (Bin(400, 0.75, 0.75), Bin(400, 0.85, 1.0)))
    bold = Reliability("others", 100, 1.0, 0.5, 0.5, (Bin(100, 1.0, 0.5),))
    both = Reliability("both", 900, 0.82, 0.82, 0.0, (*shy.bins, *bold.bins))
    shown = reliability_picture([shy, bold, both], "drawn", least=0.5)
    drawing = getattr(shown, size)
    even, high, wrong = elements(drawing, "circle", "bx-svg-bin")
    (line,) = elements(drawing, "polyline", "bx-svg-even")
    ends = (map(float, point.split(",")) for point in line.attributes["points"].split())
    (left, low), (right, top) = ends
    assert (even.number("cx"), even.number("cy")) == pytest.approx(
        ((left + right) / 2, (low + top) / 2)
    )
    assert (high.number("cx"), high.number("cy")) == pytest.approx(
        (left + 0.7 * (right - left), top)
    )
    assert (wrong.number("cx"), wrong.number("cy")) == pytest.approx((right, low))
    assert wrong.number("r") > even.number("r")
    assert "Some: 80.0 % sure on average, 90.0 % right, underconfident by 10.0 points" in shown.alt
    assert "overconfident by 50.0 points" in shown.alt
    assert "calibrated on average" in shown.alt

"""The reliability diagram of a class's own answers."""

import pytest

from app.records.counted import reliability, wilson
from app.words.reliability import reliability_picture
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

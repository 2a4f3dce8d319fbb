"""A curve is drawn where its numbers are."""

import re

import pytest

from app.words.curves import Curve, curves


def points(markup: str) -> list[list[tuple[float, float]]]:
    return [
        [tuple(map(float, point.split(","))) for point in line.split()]
        for line in re.findall(r'<polyline points="([^"]*)"', markup)
    ]


def test_points_are_in_proportion_to_the_numbers() -> None:
    drawn = str(
        curves(
            [Curve("a", [0.0, 0.5, 1.0]), Curve("<b>", [1.0, 0.25, 0.0])],
            width=760, height=230, ends=(0.0, 1.0), axis="layer", marked=1, dots=True,
        )
    )  # fmt: skip
    first, second = points(drawn)
    bottom, top = first[0][1], first[2][1]
    assert top < bottom  # larger is higher
    assert first[1][1] == pytest.approx((top + bottom) / 2, abs=0.1)
    assert second[1][1] == pytest.approx(bottom - (bottom - top) / 4, abs=0.1)
    assert first[1][0] == pytest.approx((first[0][0] + first[2][0]) / 2, abs=0.1)
    here = re.search(
        r'<line x1="([\d.]+)" x2="[\d.]+" y1="\d+" y2="[\d.]+" class="bx-svg-here"', drawn
    )
    assert here and float(here[1]) == first[1][0]
    assert drawn.count("<circle") == 6
    assert drawn.count("stroke-dasharray") == 1  # colour is not the only difference
    assert "&lt;b&gt;" in drawn and "<b>" not in drawn


def test_one_place_and_many_places_can_be_drawn() -> None:
    alone = str(curves([Curve("", [0.3])], width=380, height=200, ends=(0.0, 1.0), axis="x"))
    assert len(points(alone)[0]) == 1
    many = str(curves([Curve("", [0.0] * 512)], width=380, height=200, ends=(-1.0, 1.0), axis="x"))
    assert len(points(many)[0]) == 512
    assert many.count('text-anchor="middle"') == 8

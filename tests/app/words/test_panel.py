"""A panel turns numbers into places, and draws marks there."""

import math

import pytest

from app.words.html import tag
from app.words.panel import Panel
from app.words.pictures import listed, svg, told
from tests.drawings import elements

PLOT = (10.0, 110.0), (20.0, 70.0), (0.0, 10.0), (-1.0, 1.0)


def test_numbers_are_in_proportion_and_larger_ones_higher() -> None:
    panel = Panel(*PLOT)
    assert [panel.x(number) for number in (0, 5, 10)] == [10, 60, 110]
    assert [panel.y(number) for number in (-1, 0, 1)] == [70, 45, 20]
    rows = Panel((0, 1), (0, 30), ys=(3, 0))
    assert [rows.y(number) for number in range(4)] == [0, 10, 20, 30]


def test_a_scale_can_be_bent_and_may_have_one_number() -> None:
    panel = Panel((0, 100), (0, 40), (0, 4), (10_000, 1), bend_x=math.sqrt, bend_y=math.log10)
    assert panel.x(1) == 50
    assert [panel.y(rank) for rank in (1, 10, 100, 10_000)] == [0, 10, 20, 40]
    assert Panel((5, 9), (5, 9), (3, 3), (3, 3)).x(3) == 5


def test_an_even_panel_has_one_scale_and_its_points_in_the_middle() -> None:
    panel = Panel.even((0, 100), (0, 40), [(0, 0), (2, 1), (4, 2)])
    assert panel.x(4) - panel.x(0) == pytest.approx(2 * (panel.y(0) - panel.y(2)))
    assert (panel.x(2), panel.y(1)) == pytest.approx((50, 20))
    assert panel.y(0) == pytest.approx(40) and panel.y(2) == pytest.approx(0)
    alone = Panel.even((0, 100), (0, 40), [(7, 7)])
    assert (alone.x(7), alone.y(7)) == pytest.approx((50, 20))


def test_marks_are_drawn_where_their_numbers_are_in_order() -> None:
    panel = Panel(*PLOT)
    panel.level(0)
    panel.post(5, (-1, 0), reach=2, class_="here")
    panel.span((10, 0), (0, 1), inset=3, class_="area")
    panel.span((5, 5), least=4, below=6, class_="thin")
    panel.line([(0, -1), (10, 1)], class_="curve")
    panel.dot(5, 0, 4, "words", fill="red")
    panel.text(5, 0, "a<b", 1, -2)
    drawn = svg(120, 90, *panel.drawn)
    level, post = elements(drawn, "line")
    assert [level.number(name) for name in ("x1", "x2", "y1", "y2")] == [10, 110, 45, 45]
    assert [post.number(name) for name in ("x1", "x2", "y1", "y2")] == [60, 60, 72, 43]
    area, thin = elements(drawn, "rect")
    place = ("x", "y", "width", "height")
    assert [area.number(name) for name in place] == [10, 23, 100, 19]
    assert [thin.number(name) for name in place] == [60, 20, 4, 56]
    assert elements(drawn, "polyline")[0].attributes["points"] == "10,70 110,20"
    (dot,) = elements(drawn, "circle")
    assert (dot.number("cx"), dot.number("cy")) == (60, 45)
    (text,) = elements(drawn, "text")
    assert (text.number("x"), text.number("y"), text.text) == (61, 43, "a<b")
    assert drawn.markup.index("line") < drawn.markup.index("circle")


def test_a_group_holds_what_is_drawn_inside_it_alone() -> None:
    panel = Panel(*PLOT)
    panel.level(0)
    with panel.group(data_at="0.1"):
        panel.dot(1, 0, 3)
        panel.drawn.append(tag("title", "own"))
    panel.level(1)
    assert [each.markup[:5] for each in panel.drawn] == ["<line", "<g da", "<line"]
    assert panel.drawn[1].markup.count("<circle") == 1


def test_axes_write_their_numbers_outside_and_a_sample_its_name() -> None:
    panel = Panel(*PLOT)
    panel.levels([(0, "zero")])
    panel.ticks([(10, "ten")])
    zero, ten = elements(svg(1, 1, *panel.drawn), "text")
    assert (zero.number("x"), zero.number("y")) == (2, 45)
    assert (ten.number("x"), ten.number("y")) == (110, 86)
    key = Panel.of_units(100, 20)
    key.sample(5, 10, "name", 24, class_="curve")
    assert [elements(key.drawn[0], "line")[0].number(name) for name in ("x1", "x2")] == [5, 29]
    assert elements(key.drawn[1], "text")[0].number("x") == 36


def test_a_picture_without_words_of_its_own_tells_its_rows() -> None:
    table = listed(((f"w{n}", n, n / 4) for n in range(14)), ("word", "rank", "cosine"))
    said = told("Nearest", table)
    assert said.startswith("Nearest: w0 0.00, w1 0.25, ") and said.endswith(" and 2 more.")

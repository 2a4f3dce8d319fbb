"""Charts: a number becomes its place, its depth or its pixel, in every kind of drawing."""

import base64
import io
import math
import re

import numpy as np
import pytest
import segno
from PIL import Image

from app.records.counted import reliability, wilson
from app.words.curves import Curve, curves
from app.words.html import Html, join, tag
from app.words.matrix import Matrix
from app.words.panel import Panel
from app.words.pictures import svg
from app.words.pixels import NEGATIVE, POSITIVE, STEPS, pixels, png
from app.words.qr import qr
from app.words.reliability import reliability_picture
from tests.drawings import elements

PLOT = (10.0, 110.0), (20.0, 70.0), (0.0, 10.0), (-1.0, 1.0)
GRID = Matrix(left=100, top=30, width=50, height=20)


def points(drawing: Html, class_: str = "") -> list[list[tuple[float, ...]]]:
    lines = elements(drawing, "polyline", class_) if class_ else elements(drawing, "polyline")
    return [
        [tuple(map(float, point.split(","))) for point in line.attributes["points"].split()]
        for line in lines
    ]


# -- panels and curves -----------------------------------------------------------------------------


def test_numbers_are_in_proportion_on_even_and_bent_scales() -> None:
    panel = Panel(*PLOT)
    assert [panel.x(number) for number in (0, 5, 10)] == [10, 60, 110]
    assert [panel.y(number) for number in (-1, 0, 1)] == [70, 45, 20]
    assert [Panel((0, 1), (0, 30), ys=(3, 0)).y(row) for row in range(4)] == [0, 10, 20, 30]
    bent = Panel((0, 100), (0, 40), (0, 4), (10_000, 1), bend_x=math.sqrt, bend_y=math.log10)
    assert (bent.x(1), [bent.y(rank) for rank in (1, 10, 10_000)]) == (50, [0, 10, 40])
    assert Panel((5, 9), (5, 9), (3, 3), (3, 3)).x(3) == 5
    even = Panel.even((0, 100), (0, 40), [(0, 0), (2, 1), (4, 2)])
    assert even.x(4) - even.x(0) == pytest.approx(2 * (even.y(0) - even.y(2)))
    assert (even.x(2), even.y(1)) == pytest.approx((50, 20))
    assert Panel.even((0, 100), (0, 40), [(7, 7)]).x(7) == pytest.approx(50)


def test_marks_are_drawn_where_their_numbers_are_in_order() -> None:
    panel = Panel(*PLOT)
    panel.level(0)
    panel.post(5, (-1, 0), class_="here")
    panel.span((10, 0), (0, 1), inset=3, class_="area")
    panel.span((5, 5), least=4, below=6, class_="thin")
    panel.line([(0, -1), (10, 1)], class_="curve")
    with panel.group(data_at="0.1"):
        panel.dot(5, 0, 4, "words", fill="red")
    panel.text(5, 0, "a<b", 1, -2)
    panel.levels([(0, "zero")])
    panel.ticks([(10, "ten")])
    drawn = svg(120, 90, *panel.drawn)
    level, post, _ = elements(drawn, "line")
    assert [level.number(name) for name in ("x1", "x2", "y1", "y2")] == [10, 110, 45, 45]
    assert [post.number(name) for name in ("x1", "x2", "y1", "y2")] == [60, 60, 70, 45]
    area, thin = elements(drawn, "rect")
    place = ("x", "y", "width", "height")
    assert [area.number(name) for name in place] == [10, 23, 100, 19]
    assert [thin.number(name) for name in place] == [60, 20, 4, 56]
    assert points(drawn) == [[(10, 70), (110, 20)]]
    (dot,) = elements(drawn, "circle")
    assert (dot.number("cx"), dot.number("cy")) == (60, 45)
    places = [(each.number("x"), each.number("y"), each.text) for each in elements(drawn, "text")]
    assert places == [(61, 43, "a<b"), (2, 45, "zero"), (110, 86, "ten")]
    assert re.findall("<(line|g|circle)", drawn.markup) == ["line", "line", "g", "circle", "line"]


def test_curves_are_in_proportion_and_differ_by_more_than_colour() -> None:
    two = [Curve("a", [0.0, 0.5, 1.0]), Curve("<b>", [1.0, 0.25, 0.0])]
    drawn = curves(two, width=760, height=230, ends=(0.0, 1.0), axis="layer", marked=1, dots=True)
    first, second = points(drawn)
    bottom, top = first[0][1], first[2][1]
    assert top < bottom  # larger is higher
    assert first[1][1] == pytest.approx((top + bottom) / 2, abs=0.1)
    assert second[1][1] == pytest.approx(bottom - (bottom - top) / 4, abs=0.1)
    (here,) = elements(drawn, "line", "bx-svg-here")
    assert here.number("x1") == first[1][0]
    assert (len(elements(drawn, "circle")), str(drawn).count("stroke-dasharray")) == (6, 1)
    assert "&lt;b&gt;" in str(drawn) and "<b>" not in str(drawn)
    for count, ticks in ((1, 1), (512, 8)):
        drawn = curves([Curve("", [0.3] * count)], width=380, height=200, ends=(-1, 1), axis="x")
        assert len(points(drawn)[0]) == count
        assert str(drawn).count('text-anchor="middle"') == ticks


# -- matrices and pixels ---------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "look"), [(0.5, ""), (0.6, "bx-svg-half"), (0.9, "bx-svg-deep")])
def test_a_cell_and_its_number_are_between_the_names_of_its_row_and_column(
    depth: float, look: str
) -> None:
    drawn = join(*GRID.cell(2, 1, depth, "7"))
    (cell,), (number,) = elements(drawn, "rect", "bx-svg-cell"), elements(drawn, "text")
    (row,) = elements(join(*GRID.rows([("", None), ("", None), ("<b>", "0.3")])), "text")
    (column,) = elements(join(*GRID.columns([("", None), ("<b>", "0.2")])), "text")
    assert (row.text, column.text, row.attributes["data-at"]) == ("<b>", "<b>", "0.3")
    assert number.number("y") == row.number("y") == cell.number("y") + 10 == 80
    assert number.number("x") == column.number("x") == cell.number("x") + 25 == 175
    assert cell.number("fill-opacity") == depth and number.text == "7"
    assert number.attributes["class"] == f"bx-svg-middle {look}".strip()


def decoded(file: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read a PNG with another program: colours (rows, columns, 3), opacities (rows, columns)."""
    found = np.asarray(Image.open(io.BytesIO(file)).convert("RGBA"))
    return found[..., :3], found[..., 3]


def test_the_pixels_of_an_image_are_its_numbers() -> None:
    values = np.array([[0.0, 1.0, -1.0], [0.5, -0.25, 7.0], [0, 0.5, -0.5]], np.float32)
    found = str(pixels(values, x=0, y=0, width=30, height=20))
    assert found.startswith("<image ") and 'preserveAspectRatio="none"' in found
    colour, opacity = decoded(base64.b64decode(found.partition("base64,")[2].partition('"')[0]))
    expected = 255 * np.clip(np.abs(values), 0, 1)
    assert np.abs(opacity - expected).max() <= 255 / STEPS / 2 + 0.5
    assert (colour[values > 0] == POSITIVE).all() and (colour[values < 0] == NEGATIVE).all()
    assert opacity[0, 0] == 0 and opacity[2, 1] == opacity[2, 2]  # 0 is the page itself
    colours = np.arange(1024, dtype=np.uint32).reshape(256, 4).astype(np.uint8)
    numbers = np.arange(256, dtype=np.uint8).reshape(2, 128)
    colour, opacity = decoded(png(numbers, colours))
    assert (colour == colours[numbers, :3]).all() and (opacity == colours[numbers, 3]).all()


# -- reliability and codes -------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_reliability_is_drawn_with_its_intervals(size: str) -> None:
    found = reliability("your gaps", [(0.1, False), (0.3, True), (0.3, False), (1.0, True)])
    shown = reliability_picture(found, "own")
    drawing = getattr(shown, size)
    [[(left, low), (right, top)]] = points(drawing, "bx-svg-even")
    dots = elements(drawing, "circle", "bx-svg-bin")
    across = [(dot.number("cx") - left) / (right - left) for dot in dots]
    up = [(dot.number("cy") - low) / (top - low) for dot in dots]
    assert across == pytest.approx([0.1, 0.3, 1.0]) and up == pytest.approx([0, 0.5, 1])
    posts = [each for each in elements(drawing, "line") if each.attributes.get("stroke-width")]
    spans = [[(post.number(end) - low) / (top - low) for end in ("y1", "y2")] for post in posts]
    assert spans == [pytest.approx(wilson(*of), abs=1e-3) for of in [(0, 1), (1, 2), (1, 1)]]
    assert list(shown.table["answers"]) == [1, 2, 1]
    assert found.error == pytest.approx((0.1 + 2 * 0.2 + 0) / 4)
    assert dots[1].number("r") > dots[0].number("r")
    assert "50.0 % right, underconfident by 7.5 points" in shown.alt


def test_every_module_of_a_code_is_drawn_where_it_is() -> None:
    text = "http://192.168.1.20:8501/class/ACDEFG?<b>"
    drawn = str(qr(text))
    dark = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", drawn)}
    rows = [list(row) for row in segno.make(text, micro=False).matrix]
    made = {(x + 4, y + 4) for y, row in enumerate(rows) for x, each in enumerate(row) if each}
    assert dark == made and len(made) > 200
    assert f'viewBox="0 0 {len(rows) + 8} {len(rows) + 8}"' in drawn and "<b>" not in drawn


@pytest.mark.parametrize("address", ["https://example.org/x.png", "x.png"])
def test_an_image_cannot_be_fetched_from_elsewhere(address: str) -> None:
    with pytest.raises(ValueError):
        tag("image", href=address)

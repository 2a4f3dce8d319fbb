"""Pictures and files of the attention page: what is saved has the numbers of the page."""

import base64
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from app.engine.models import Engine
from app.features.attention import view as files
from app.features.attention import view_cell as cells
from app.features.attention import view_lines as lines
from app.features.attention import view_pictures as pictures
from app.features.attention.result import AttentionResult, Heads
from app.features.attention.result_views import attention_grid, head_view, rank, strongest_links
from app.features.attention.task import attention, in_words
from app.features.attention.task_cell import cell_arithmetic
from app.features.attention.view_pictures import colours
from app.words.html import Html, document
from app.words.pictures import figure
from tests.made_up_attention import made, sides_of
from tests.snippets import ran

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> AttentionResult:
    return attention(tiny_engine, "the cat sat", "on the <mat>.")


def parsed(drawing: Html) -> ElementTree.Element:
    """Parse a drawing as XML; a browser that opens the file does the same."""
    root = ElementTree.fromstring(str(drawing))  # noqa: S314 - ours
    assert root.tag == f"{SVG}svg" and root.get("viewBox")
    return root


def pixels(root: ElementTree.Element) -> np.ndarray:
    """Read the first embedded picture with another program's decoder."""
    kind, _, data = str(next(root.iter(f"{SVG}image")).get("href")).partition(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def box(node: ElementTree.Element) -> list[float]:
    return [float(node.get(name, 0)) for name in ("x", "y", "width", "height")]


@pytest.mark.parametrize("special", [True, False])
def test_every_cell_of_the_svg_has_its_place_colour_and_number(
    result: AttentionResult, special: bool
) -> None:
    view = head_view(result, Heads.one(1, 2), special=special)
    picture = pictures.map_picture(result, view)
    top = float(view.weights.max())
    wanted = np.rint(255 * view.weights / top).astype(int)
    for drawing in (picture.wide, picture.narrow):
        root = parsed(drawing)
        drawn = pixels(root)
        fine = drawn.shape[0] // view.weights.shape[0]
        np.testing.assert_array_equal(drawn, colours()[wanted.repeat(fine, 0).repeat(fine, 1)])
        frame = box(next(group[0] for group in root if group.get("class") == "bx-att-cells"))
        assert box(next(root.iter(f"{SVG}image"))) == pytest.approx(frame, abs=0.01)
        names = [node.text for node in root.iter(f"{SVG}text")]
        assert [name for name in names if name][: len(view.at)] == list(view.tokens)
        assert {f"{top:.4g}", "Layer 1, head 2", result.model} <= set(names)
    left, head, wide, high = frame
    found = np.zeros_like(view.weights)
    for row in root.iter(f"{SVG}text"):
        for node in row:
            c = int((float(node.get("x", 0)) - left) / wide * found.shape[1])
            r = int((float(row.get("y", 0)) - head) / high * found.shape[0])
            found[r, c] = float(str(node.text))
            dark = colours()[wanted[r, c]] @ [0.299, 0.587, 0.114] <= 140
            assert node.get("fill") == ("#ffffff" if dark else None)
    np.testing.assert_allclose(found, np.where(view.weights >= 0.005, view.weights, 0), atol=0.006)


def test_a_long_head_is_an_embedded_picture_with_a_pixel_for_each_number() -> None:
    size = 70
    weights = np.random.default_rng(2).random((1, 1, size, size)).astype(np.float32) ** 4
    long = made(weights, sides_of(size))
    view = head_view(long, Heads.one(0, 0))
    picture = pictures.map_picture(long, view)
    wanted = np.rint(255 * view.weights / view.weights.max()).astype(int)
    for drawing in (picture.wide, picture.narrow):
        np.testing.assert_array_equal(pixels(parsed(drawing)), colours()[wanted])
        assert not list(parsed(drawing).iter(f"{SVG}tspan"))  # too small to read
    assert len(picture.table) == 200  # the strongest; the whole matrix has its own files
    assert picture.table["attention"].is_monotonic_decreasing
    assert picture.table["attention"][0] == pytest.approx(float(view.weights.max()), abs=1e-6)


def test_the_grid_has_every_head_in_its_place(result: AttentionResult) -> None:
    picture = pictures.grid_picture(result, attention_grid(result), rank(result))
    root = parsed(picture.wide)
    left, top, wide, high = box(next(root.iter(f"{SVG}image")))
    drawn, side = pixels(root).astype(int), len(result.tokens)
    assert drawn.shape[:2] == (result.layers * (side + 1), result.heads * (side + 1))
    heads = [node for node in root.iter(f"{SVG}rect") if node.get("data-head")]
    assert len(heads) == result.layers * result.heads == len(picture.table)
    for node in heads:
        layer, head = map(int, str(node.get("data-head")).split("."))
        x, y, *_ = box(node)
        corner = (x - left) / wide * drawn.shape[1], (y - top) / high * drawn.shape[0]
        assert corner == pytest.approx((head * (side + 1), layer * (side + 1)), abs=0.1)
        weights = result.attentions[layer][head]
        wanted = colours()[np.rint(255 * weights / weights.max()).astype(int)].astype(int)
        column, row = map(round, corner)
        # The small pictures were already rounded to 255ths.
        assert np.abs(drawn[row : row + side, column : column + side] - wanted).max() <= 3


def test_the_lines_end_at_their_words_and_have_their_strength(result: AttentionResult) -> None:
    view = head_view(result, Heads.one(0, 1))
    root = parsed(lines.lines_picture(result, strongest_links(result, view)).wide)
    words = [node for node in root.iter(f"{SVG}text") if node.get("data-at")]
    middles = [float(node.get("y", 0)) for node in words]
    count = len(view.at)
    found = np.zeros_like(view.weights)
    for path in root.iter(f"{SVG}path"):
        numbers = [float(each) for each in re.findall(r"[\d.]+", str(path.get("d")))]
        row, column = middles[:count].index(numbers[1]), middles[count:].index(numbers[-1])
        assert path.get("data-at") == f"r{row} c{column}"
        found[row, column] = (float(path.get("stroke-width", 0)) - 0.5) / 4
    np.testing.assert_allclose(found, view.weights, atol=0.002)
    best = int(view.weights[1].argmax())
    says = f"looks most at {view.tokens[best]} {view.weights[1, best]:.4f}"
    assert says in str(words[1].get("aria-label"))


def test_of_many_lines_the_strongest_of_each_word_are_drawn(tiny_engine: Engine) -> None:
    long = attention(tiny_engine, "the cat sat on the mat " * 7)
    links = strongest_links(long, head_view(long, Heads.layer(1, long.heads)))
    root = parsed(lines.lines_picture(long, links).wide)
    drawn = [node.get("data-at", "") for node in root.iter(f"{SVG}path") if node.get("data-at")]
    each = 144 // len(long.tokens)
    assert len(drawn) == each * len(long.tokens)
    texts = {str(node.text) for node in root.iter(f"{SVG}text")}
    assert {f"Drawn: the {each} strongest lines of each word.", "1.0", "1.3"} <= texts


def test_no_text_becomes_markup_and_a_kept_page_asks_for_nothing(
    tiny_engine: Engine, nasty: str
) -> None:
    given = attention(tiny_engine, nasty + " cat", nasty)
    view = head_view(given, Heads.one(0, 0))
    drawn = (
        pictures.map_picture(given, view),
        lines.lines_picture(given, strongest_links(given, view)),
    )
    known = {"svg", "g", "rect", "text", "tspan", "image", "path"}
    for each in drawn:
        assert {node.tag.removeprefix(SVG) for node in parsed(each.wide).iter()} <= known
    cell = cell_arithmetic(tiny_engine, given, (0, 0), 1, 1)
    parts = (cells.steps(cell), cells.softmax_table(cell), *map(figure, drawn))
    page = document("x", "", *parts).decode()
    assert "<script" not in page and "<img" not in page
    assert not re.search(r"\s(src|href)=\"(?!data:)", page)


@pytest.mark.parametrize("row", [0, 3])
def test_the_steps_of_a_cell_lead_to_its_number(
    tiny_engine: Engine, result: AttentionResult, row: int
) -> None:
    cell = cell_arithmetic(tiny_engine, result, (1, 2), row, 2)
    says = str(cells.steps(cell))
    assert f"{cell.value:.6f}" in says and f"{cell.computed:.6f}" in says
    picture = cells.products(cell)
    table = picture.table
    np.testing.assert_allclose(table["product"], table["query"] * table["key"], atol=1e-6)
    score = table["product"].sum() / np.sqrt(len(table))
    assert score == pytest.approx(float(cell.scores[2]), abs=1e-5)
    bars = [n for n in parsed(picture.wide).iter(f"{SVG}rect") if n.get("data-value")]
    wanted = np.concatenate([cell.query, cell.key, cell.products])
    np.testing.assert_allclose([float(n.get("data-value", 0)) for n in bars], wanted, rtol=1e-6)
    middles = np.repeat([27, 81, 135], cell.query.size)
    for bar, value, middle in zip(bars, wanted, middles, strict=True):
        _, y, _, height = box(bar)
        assert y + (height if value > 0 else 0) == pytest.approx(middle, abs=0.011)


@pytest.mark.parametrize(
    ("heads", "special", "by_word"),
    [
        (Heads.one(1, 2), True, False),
        (Heads.one(0, 3), False, True),
        (Heads.layer(0, 4), False, False),
    ],
)
def test_the_snippet_computes_the_numbers_of_the_page(
    tiny_engine: Engine,
    tiny_folder: Path,
    result: AttentionResult,
    heads: Heads,
    special: bool,
    by_word: bool,
) -> None:
    given = in_words(tiny_engine, result) if by_word else result
    view = head_view(given, heads, special=special)
    code = files.code(given, view, str(tiny_folder))
    np.testing.assert_allclose(ran(code)[0]["weights"], view.weights, atol=1e-6)

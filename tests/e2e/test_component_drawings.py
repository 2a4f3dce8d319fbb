"""Compare drawings of the attention components, pixel by pixel and line by line, with the data.

Each script is loaded by `component_host.html`, an otherwise empty page, and called as Streamlit
calls it. The data come from the feature's `view_pictures`, and the expected values from the
matrices passed to it.
"""

import base64
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from app.features.attention import view_pictures as pictures
from app.features.attention.result import AttentionResult, Heads, Selection
from app.features.attention.result_views import (
    LINK_TOKENS,
    attention_grid,
    head_view,
    strongest_links,
)
from bert_core.analysis.head_statistics import MEASURES
from tests import made_up_attention
from tests.e2e.conftest import ROOT, Record, hosting
from tests.made_up_attention import sides_of

pytestmark = pytest.mark.e2e

INKS = {"light": "rgb(27, 31, 36)", "dark": "rgb(241, 243, 245)"}
Stage = Callable[..., Page]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The host page, served together with the scripts."""
    with hosting(ROOT) as place:
        yield f"{place}/tests/e2e/component_host.html"


@pytest.fixture
def density(request: pytest.FixtureRequest) -> int:
    """Screen pixels per page pixel, chosen by the test."""
    return int(getattr(request, "param", 1))


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Iterator[dict[int, Page]]:
    """A tab for each density, which every test loads again."""
    size: ViewportSize = {"width": 1100, "height": 900}
    made = {n: browser.new_context(viewport=size, device_scale_factor=n) for n in (1, 2)}
    yield {n: context.new_page() for n, context in made.items()}
    for context in made.values():
        context.close()


@pytest.fixture
def stage(tabs: dict[int, Page], address: str, density: int) -> Iterator[Stage]:
    """Mount a component with some data; further calls give the same component new data."""
    page, record = tabs[density], Record()
    end = record.watch(page)
    page.mouse.move(0, 0)
    page.goto(address)

    def mounted(name: str, data: object, *, theme: str = "light", width: int = 900) -> Page:
        page.evaluate(
            "([name, data, look]) => mount(name, data, look)",
            [name, data, {"theme": theme, "width": width}],
        )
        return page

    yield mounted
    end()
    assert record.complaints == []


def pixels(canvas: Locator, places: np.ndarray | None = None) -> np.ndarray:
    """Return the colours, (n, 4), of a canvas or of places on it, (n, 2), in CSS pixels."""
    flat = None if places is None else places.ravel().tolist()
    text = canvas.evaluate("colours", flat)
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4).astype(int)


def made(layers: int, heads: int, length: int, *, pair: bool = False) -> AttentionResult:
    """Make attention whose values are all different and none close to zero."""
    rng = np.random.default_rng(layers + 10 * heads + 100 * length)
    weights = 0.02 + rng.random((layers, heads, length, length)).astype(np.float32) ** 3
    weights /= weights.sum(-1, keepdims=True)
    shares = rng.random((len(MEASURES), layers, heads))
    return made_up_attention.made(weights, sides_of(length, pair=pair), shares)


def palette(theme: str) -> np.ndarray:
    """Return the 256 colours of a theme, (256, 3), from that of 0."""
    return pictures.colours(theme).astype(int)


def heads_of(result: AttentionResult, layer: int, head: int | None) -> Heads:
    """Choose one head, or the mean of its layer."""
    return Heads.layer(layer, result.heads) if head is None else Heads.one(layer, head)


def steps(values: np.ndarray, top: float) -> np.ndarray:
    """Return the colour indices of values on a scale from 0 to `top`."""
    return np.clip(np.rint(255 * values / top), 0, 255).astype(int)


def luminance(colour: Any) -> float:
    """Relative luminance as WCAG defines it."""
    share = np.asarray(colour, dtype=float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def rgb(css: str) -> list[int]:
    """Read a colour as the browser writes it."""
    if css.startswith("#"):
        return [int(css[n : n + 2], 16) for n in (1, 3, 5)]
    return [int(each) for each in re.findall(r"\d+", css)[:3]]


def style(node: Locator, name: str) -> str:
    return str(node.evaluate("(node, name) => getComputedStyle(node)[name]", name))


def box(node: Locator) -> dict[str, float]:
    found = node.bounding_box()
    assert found is not None
    return dict(found)


# -- the grid of all heads -----------------------------------------------------------------------


def grid_data(
    result: AttentionResult,
    layer: int,
    head: int | None,
    *,
    common: bool = False,
    log: bool = False,
) -> dict[str, object]:
    shown = head_view(result, heads_of(result, layer, head), Selection())
    grid = attention_grid(result, Selection())
    return pictures.grid_picture(result, grid, shown, common=common, log=log)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize(("layers", "heads", "length"), [(1, 1, 3), (2, 5, 7), (4, 3, 12)])
def test_every_small_picture_has_the_pixels_of_its_own_head(
    stage: Stage, layers: int, heads: int, length: int, common: bool, theme: str
) -> None:
    result = made(layers, heads, length)
    data = grid_data(result, layers - 1, 0, common=common)
    page = stage("attention_grid", data, theme=theme)
    cells = page.get_by_role("gridcell")
    expect(cells).to_have_count(layers * heads)
    scale = palette(theme)
    for number, (layer, head) in enumerate(product(range(layers), range(heads))):
        canvas = cells.nth(number).locator("canvas")
        weights = result.attentions[layer][head]
        found = pixels(canvas).reshape(length, length, 4)
        assert (found[..., 3] == 255).all()
        wanted = steps(weights, 1.0 if common else float(weights.max()))
        # Values were already rounded to 255ths of the head's peak: allow one colour up or down.
        near = [scale[np.clip(wanted + off, 0, 255)] for off in (-1, 0, 1)]
        assert np.any([(found[..., :3] == each).all(-1) for each in near], axis=0).all()
    assert style(page.locator(".view"), "color") == INKS[theme]


def test_layers_are_rows_from_top_to_bottom_and_heads_columns_from_left_to_right(
    stage: Stage,
) -> None:
    page = stage("attention_grid", grid_data(made(3, 4, 5), 0, 0))
    boxes = [box(cell) for cell in page.get_by_role("gridcell").all()]
    lefts = np.array([each["x"] for each in boxes]).reshape(3, 4)
    tops = np.array([each["y"] for each in boxes]).reshape(3, 4)
    assert (np.diff(lefts, axis=1) > 5).all() and (np.ptp(lefts, axis=0) < 1).all()
    assert (np.diff(tops, axis=0) > 5).all() and (np.ptp(tops, axis=1) < 1).all()
    assert page.get_by_role("columnheader").all_inner_texts() == ["layer", "0", "1", "2", "3"]
    assert page.get_by_role("rowheader").all_inner_texts() == ["0", "1", "2"]


def test_a_cell_says_the_numbers_of_its_head_when_pointed_at_and_by_its_name(stage: Stage) -> None:
    result = made(2, 3, 5)
    data = grid_data(result, 0, 1)
    page = stage("attention_grid", data)
    readout = page.locator(".readout")
    for number, (layer, head) in enumerate(product(range(2), range(3))):
        note = pictures.head_note(result, layer, head)
        cell = page.get_by_role("gridcell").nth(number)
        expect(cell).to_have_accessible_name(f"Layer {layer}, head {head}: {note}")
        cell.hover()
        assert readout.inner_text() == f"Layer {layer}, head {head}: {note}"
    page.mouse.move(2, 2)
    assert readout.inner_text() == f"Layer 0, head 1: {pictures.head_note(result, 0, 1)}"


@pytest.mark.parametrize(("head", "marked"), [(2, [5]), (None, [3, 4, 5])])
def test_the_chosen_head_is_marked_and_for_the_mean_its_whole_layer(
    stage: Stage, head: int | None, marked: list[int]
) -> None:
    page = stage("attention_grid", grid_data(made(3, 3, 4), 1, head))
    cells = page.get_by_role("gridcell")
    selected = [cells.nth(n).get_attribute("aria-selected") == "true" for n in range(9)]
    assert [n for n, each in enumerate(selected) if each] == marked
    outlined = [style(cells.nth(n), "outlineStyle") != "none" for n in range(9)]
    assert outlined == selected
    stops = [cells.nth(n).get_attribute("tabindex") for n in range(9)]
    assert [n for n, each in enumerate(stops) if each == "0"] == marked[:1]
    said = page.locator(".readout").inner_text()
    assert said.startswith("Layer 1, mean of its 3 heads" if head is None else "Layer 1, head 2:")


def test_keys_walk_the_grid_and_pick(stage: Stage) -> None:
    page = stage("attention_grid", grid_data(made(3, 4, 4), 1, 1))
    page.get_by_role("gridcell").nth(5).focus()
    walked = []
    for key in [
        "ArrowRight",
        "ArrowDown",
        "ArrowDown",
        "ArrowLeft",
        "ArrowUp",
        "End",
        "ArrowRight",
        "Home",
        "ArrowLeft",
        "ArrowUp",
        "ArrowUp",
        "End",
    ]:
        page.keyboard.press(key)
        said = page.locator(".readout").inner_text()
        walked.append(tuple(map(int, re.findall(r"\d+", said)[:2])))
    assert walked == [
        (1, 2), (2, 2), (2, 2), (2, 1), (1, 1), (1, 3), (1, 3),
        (1, 0), (1, 0), (0, 0), (0, 0), (0, 3),
    ]  # fmt: skip
    page.keyboard.press("Enter")
    page.get_by_role("gridcell").nth(10).click()
    page.get_by_role("gridcell").nth(9).click(modifiers=["Shift"])
    picks = page.evaluate("picks")
    assert picks == [
        ["pick", {"layer": 0, "head": 3, "more": 0}],
        ["pick", {"layer": 2, "head": 2, "more": 0}],
        ["pick", {"layer": 2, "head": 1, "more": 1}],
    ]


def test_the_head_under_the_pointer_is_also_shown_large(stage: Stage) -> None:
    result = made(2, 3, 6)
    page = stage("attention_grid", grid_data(result, 0, 0), width=400)
    large = page.locator(".large")
    expect(large).to_be_hidden()
    page.get_by_role("gridcell").nth(4).hover()
    expect(large).to_be_visible()
    found = pixels(large.locator("canvas")).reshape(6, 6, 4)
    weights = result.attentions[1][1]
    wanted = palette("light")[steps(weights, float(weights.max()))]
    assert np.abs(found[..., :3] - wanted).max() <= 3
    assert large.locator("p").inner_text().startswith("Layer 1, head 1: ")
    place = box(large.locator("canvas"))
    assert place["width"] > 250 and place["height"] == pytest.approx(place["width"])
    assert box(large)["x"] > 400, "beside the grid, not over it"
    page.mouse.move(2, 2)
    expect(large).to_be_hidden()
    page.get_by_role("gridcell").nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(large.locator("p")).to_contain_text("Layer 0, head 1")
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["attention_grid", "attention_heatmap"])
def test_the_scale_leads_from_the_paper_of_the_theme_to_its_top(
    stage: Stage, name: str, theme: str
) -> None:
    result = made(1, 2, 4)
    data = (
        grid_data(result, 0, 1, common=True)
        if name == "attention_grid"
        else heat_data(result, common=True)[0]
    )
    page = stage(name, data, theme=theme)
    assert page.locator(".legend").inner_text().split() == ["0", "1"]
    said = style(page.locator(".legend .bar"), "backgroundImage")
    stops = [rgb(each) for each in re.findall(r"rgb\([^)]*\)", said)]
    assert said.startswith("linear-gradient(90deg")
    assert stops == palette(theme)[::15].tolist()
    ends = luminance(stops[0]), luminance(stops[-1])
    assert (min(ends) < 0.05 and max(ends) > 0.7) and (ends[0] > ends[1]) is (theme == "light")


def test_the_legend_names_the_own_peak_and_the_floor_of_a_logarithmic_scale(stage: Stage) -> None:
    result = made(1, 1, 5)
    shown = head_view(result, Heads.one(0, 0), Selection())
    peak = float(shown.weights.max())
    page = stage("attention_heatmap", pictures.head_picture(result, shown))
    assert page.locator(".legend").inner_text().split() == ["0", f"{peak:.4f}"]
    data = pictures.head_picture(result, shown, log=True)
    page = stage("attention_heatmap", data)
    assert page.locator(".legend").inner_text().split() == [f"{peak / 1000:.4f}", f"{peak:.4f}"]
    left, top, wide, high = heat_plan(page)
    places = np.array([[left + wide / 20, top + (row + 0.25) * high / 5] for row in range(5)])
    found = pixels(page.locator("canvas"), places)[:, :3]
    share = 1 + np.log10(shown.weights[:, 0] / peak) / 3
    assert np.abs(found - palette("light")[np.rint(255 * share).astype(int)]).max() <= 3


def test_new_data_replace_the_old_ones(stage: Stage) -> None:
    stage("attention_grid", grid_data(made(2, 2, 4), 0, 0))
    page = stage("attention_grid", grid_data(made(3, 2, 4), 2, 1))
    cells = page.get_by_role("gridcell")
    expect(cells).to_have_count(6)
    expect(cells.nth(5)).to_have_attribute("aria-selected", "true")


# -- one head as a heat map ----------------------------------------------------------------------


def heat_data(
    result: AttentionResult, *, common: bool = True, selection: Selection | None = None
) -> tuple[dict[str, object], np.ndarray]:
    shown = head_view(result, Heads.one(0, 0), selection or Selection())
    data = pictures.head_picture(result, shown, common=common)
    return data, shown.weights


def heat_plan(page: Page) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the picture on the canvas, without labels."""
    (picture,) = page.evaluate("drawn.pictures")
    return (*picture["at"], *picture["size"])


def centre(page: Page, shape: tuple[int, ...], row: int, column: int) -> tuple[float, float]:
    """Return the centre of a cell on the screen."""
    left, top, wide, high = heat_plan(page)
    corner = box(page.locator("canvas"))
    return (
        corner["x"] + left + (column + 0.5) * wide / shape[1],
        corner["y"] + top + (row + 0.5) * high / shape[0],
    )


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize(
    ("length", "density"), [(2, 1), (9, 1), (60, 1), (200, 1), (9, 2)], indirect=["density"]
)
def test_every_cell_has_the_colour_of_its_value(
    stage: Stage, length: int, density: int, common: bool
) -> None:
    data, weights = heat_data(made(1, 1, length), common=common)
    assert data["steps"] == (10_000 if length == 200 else 0)
    page = stage("attention_heatmap", data)
    left, top, wide, high = heat_plan(page)
    across, down = wide / length, high / length
    assert down <= across <= 2.2 * down + 0.01 or across == down == 1
    sizes = page.locator("canvas").evaluate("canvas => [canvas.width, canvas.clientWidth]")
    assert sizes[0] == density * sizes[1]
    rows, columns = np.divmod(np.arange(length * length), length)
    # A quarter into the cell, to avoid the number printed in its middle.
    places = np.stack([left + (columns + 0.25) * across, top + (rows + 0.25) * down], -1)
    found = pixels(page.locator("canvas"), places)
    wanted = palette("light")[steps(weights, 1.0 if common else float(weights.max()))]
    off = np.abs(found[:, :3] - wanted.reshape(-1, 3)).max(-1)
    allowed = 4 if data["steps"] else 0  # rounded values may fall on the next colour
    assert (off <= allowed).mean() > 0.999
    assert (found[:, 3] == 255).all()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_and_labels_stand_at_their_cells_and_can_be_read(stage: Stage, theme: str) -> None:
    result = made(1, 1, 8, pair=True)
    data, weights = heat_data(result, common=False, selection=Selection(special=False, part="ab"))
    page = stage("attention_heatmap", data, theme=theme)
    left, top, wide, high = heat_plan(page)
    across, down = wide / weights.shape[1], high / weights.shape[0]
    texts = page.evaluate("drawn.texts")
    rows = [each for each in texts if each["align"] == "right"]
    numbers = [each for each in texts if re.fullmatch(r"\.\d\d|1\.0", each["text"])]
    columns = [each for each in texts if each not in rows + numbers]
    assert [each["text"] for each in rows] == list(data["rows"])  # type: ignore[call-overload]
    assert [each["text"] for each in columns] == list(data["columns"])  # type: ignore[call-overload]
    for number, each in enumerate(rows):
        assert each["at"][1] == pytest.approx(top + (number + 0.5) * down)
        assert left - 12 < each["at"][0] < left
    for number, each in enumerate(columns):
        assert each["at"][0] == pytest.approx(left + (number + 0.5) * across)
        assert top - 20 < each["at"][1] < top
    assert {tuple(rgb(each["ink"])) for each in rows + columns} == {tuple(rgb(INKS[theme]))}
    wanted = [float(value) for value in weights.reshape(-1) if value >= 0.005]
    assert [float(each["text"]) for each in numbers] == pytest.approx(wanted, abs=0.0051)
    colours = palette(theme)
    for each, value in zip(numbers, wanted, strict=True):
        row, column = divmod(int(np.flatnonzero(weights.reshape(-1) == value)[0]), weights.shape[1])
        at = [left + (column + 0.5) * across, top + (row + 0.5) * down]
        assert each["at"] == pytest.approx(at)
        light = luminance(colours[steps(np.array(value), float(weights.max()))])
        ink = luminance(rgb(each["ink"]))
        assert (max(light, ink) + 0.05) / (min(light, ink) + 0.05) > 3


def test_the_second_text_begins_below_and_beside_its_own_lines(stage: Stage) -> None:
    data, weights = heat_data(made(1, 1, 9, pair=True))
    data = {**data, "rowBreak": 2, "columnBreak": 5}
    page = stage("attention_heatmap", data)
    left, top, wide, high = heat_plan(page)
    across, down = page.evaluate("drawn.lines")
    assert across == [[0, pytest.approx(top + 2 * high / 9)], [left + wide, across[0][1]]]
    assert down == [[pytest.approx(left + 5 * wide / 9), 0], [down[0][0], top + high]]
    assert len(weights) == 9


def test_a_single_text_has_no_line_across(stage: Stage) -> None:
    page = stage("attention_heatmap", heat_data(made(1, 1, 9))[0])
    assert page.evaluate("drawn.lines") == []


def said_of(data: dict[str, Any], weights: np.ndarray, row: int, column: int) -> str:
    return (
        f"{data['rows'][row]} ({data['rowsAt'][row]}) looks at {data['columns'][column]} "
        f"({data['columnsAt'][column]}): {weights[row, column]:.4f}"
    )


def outlined(page: Page, shape: tuple[int, ...]) -> set[tuple[int, int]]:
    """Return the cells with a frame around them."""
    left, top, wide, high = heat_plan(page)
    down, across = high / shape[0], wide / shape[1]
    grow = 4 if min(across, down) < 8 else 0
    found = set()
    for each in page.evaluate("drawn.boxes"):
        assert each["size"] == pytest.approx([across + 2 * grow, down + 2 * grow])
        column, row = (each["at"][0] + grow - left) / across, (each["at"][1] + grow - top) / down
        assert (column, row) == pytest.approx((round(column), round(row)), abs=1e-3)
        found.add((round(row), round(column)))
    return found


@pytest.mark.parametrize("selection", [Selection(), Selection(special=False, part="ba")])
def test_a_cell_that_is_pointed_at_is_framed_and_read_out(
    stage: Stage, selection: Selection
) -> None:
    data, weights = heat_data(made(1, 1, 11, pair=True), selection=selection)
    data["rows"] = [f"looking {number}" for number in range(len(weights))]  # wider than high
    page = stage("attention_heatmap", data)
    assert page.locator(".readout").inner_text() == data["said"]
    for row, column in [(0, 0), (2, 1), (1, 3), (len(weights) - 1, weights.shape[1] - 1)]:
        page.mouse.move(*centre(page, weights.shape, row, column))
        assert page.locator(".readout").inner_text() == said_of(data, weights, row, column)
        page.evaluate("new Promise(requestAnimationFrame)")
        assert outlined(page, weights.shape) == {(row, column)}


@pytest.mark.parametrize(
    ("value", "packed", "told"),
    [
        (0.25, False, "0.2500"),
        (0.00003, False, "3.0e-5"),
        (0.0, False, "0.0000"),
        (0.00003, True, "below 0.00005"),
        (0.0123, True, "0.0123"),
        (0.9999, True, "0.9999"),
    ],
)
def test_small_numbers_do_not_become_nothing(
    stage: Stage, value: float, packed: bool, told: str
) -> None:
    data, weights = heat_data(made(1, 1, 200 if packed else 4))
    weights = weights.copy()
    weights[1, 0] = value
    values = pictures.packed(weights)[0] if packed else pictures.encoded(weights)
    page = stage("attention_heatmap", {**data, "values": values})
    page.locator("canvas").focus()
    for key in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator(".readout strong")).to_have_text(told)


def test_arrows_walk_the_heat_map_to_its_edges(stage: Stage) -> None:
    data, weights = heat_data(
        made(1, 1, 10, pair=True), selection=Selection(special=False, part="ab")
    )
    rows, columns = weights.shape
    assert rows != columns
    page = stage("attention_heatmap", data)
    page.locator("canvas").focus()
    here = (0, 0)
    moves = {
        "ArrowDown": (1, 0), "ArrowUp": (-1, 0), "ArrowRight": (0, 1), "ArrowLeft": (0, -1),
        "Home": (0, -columns), "End": (0, columns),
    }  # fmt: skip
    page.keyboard.press("ArrowDown")  # the first key goes to the corner cell
    walk = ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowUp", "End", "ArrowRight", "ArrowLeft"]
    for key in walk + ["ArrowDown"] * (rows + 1) + ["Home", "ArrowLeft"]:
        page.keyboard.press(key)
        down, right = moves[key]
        here = (
            min(max(here[0] + down, 0), rows - 1),
            min(max(here[1] + right, 0), columns - 1),
        )
        assert page.locator(".readout").inner_text() == said_of(data, weights, *here)


def test_a_click_pins_a_cell_and_another_on_it_lets_it_go(stage: Stage) -> None:
    result = made(1, 1, 9, pair=True)
    data, weights = heat_data(result, selection=Selection(special=False))
    page = stage("attention_heatmap", data)
    page.mouse.click(*centre(page, weights.shape, 2, 5))
    page.mouse.move(2, 2)
    assert page.locator(".readout").inner_text() == said_of(data, weights, 2, 5)
    page.evaluate("new Promise(requestAnimationFrame)")
    assert outlined(page, weights.shape) == {(2, 5)}
    page.mouse.click(*centre(page, weights.shape, 2, 5))
    page.mouse.move(2, 2)
    page.locator("canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    told = [pick for _, pick in page.evaluate("picks")]
    at = data["rowsAt"], data["columnsAt"]
    assert told == [
        {"row": at[0][2], "column": at[1][5]},  # type: ignore[index]
        {"row": -1, "column": -1},
        {"row": at[0][0], "column": at[1][0]},  # type: ignore[index]
        {"row": -1, "column": -1},
    ]
    page = stage("attention_heatmap", {**data, "cell": [1, 3]})
    assert page.locator(".readout").inner_text() == said_of(data, weights, 1, 3)


def test_rows_and_columns_light_up_with_the_rest_of_the_page(stage: Stage) -> None:
    data, weights = heat_data(made(1, 1, 6))
    data["rowKeys"] = ["0.0", "0.1 0.2", "0.3", "0.4", "0.5", "0.6"]
    page = stage("attention_heatmap", data)
    page.evaluate("document.addEventListener('bx-at', (told) => (window.told = told.detail))")
    page.mouse.move(*centre(page, weights.shape, 1, 4))
    assert page.evaluate("window.told") == f"0.1 0.2 {data['columnKeys'][4]}"  # type: ignore[index]
    page.mouse.move(2, 2)
    assert page.evaluate("window.told") == ""
    page.evaluate(
        """() => {
          const pen = CanvasRenderingContext2D.prototype, fill = pen.fillRect;
          pen.fillRect = function (...box) {
            const { e, f } = this.getTransform(); // the middle of the label beside which it is
            drawn.bars = [...(drawn.bars ?? []), [e / devicePixelRatio, f / devicePixelRatio]];
            return fill.apply(this, box);
          };
        }"""
    )
    page.evaluate("document.dispatchEvent(new CustomEvent('bx-at', { detail: '0.2' }))")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    left, top, wide, high = heat_plan(page)
    row, column = page.evaluate("drawn.bars")
    assert row[1] == pytest.approx(top + 1.5 * high / 6)  # the word with piece 2
    assert column[0] == pytest.approx(left + 2.5 * wide / 6)  # the piece 2


def test_the_whole_heat_map_fits_on_the_screen(stage: Stage) -> None:
    for length in (4, 18, 60, 200):
        page = stage("attention_heatmap", heat_data(made(1, 1, length))[0], width=700)
        legend = box(page.locator(".legend"))
        assert legend["y"] + legend["height"] <= 900


def test_the_heat_map_follows_the_width_of_its_place(stage: Stage) -> None:
    data, weights = heat_data(made(1, 1, 30))
    page = stage("attention_heatmap", data, width=900)
    wide = heat_plan(page)[2]
    page.evaluate("host.style.width = '400px'")
    page.wait_for_function("drawn.pictures[0]?.size[0] < 400")
    assert heat_plan(page)[2] < wide
    page.mouse.move(*centre(page, weights.shape, 29, 29))
    assert page.locator(".readout").inner_text() == said_of(data, weights, 29, 29)


def test_a_label_is_cut_rather_than_drawn_over_the_cells(stage: Stage) -> None:
    data, _ = heat_data(made(1, 1, 30))
    long = "w" * 80
    page = stage("attention_heatmap", {**data, "rows": [long, *"abc" * 9, "d", "e"]})
    drawn = [each["text"] for each in page.evaluate("drawn.texts") if each["align"] == "right"]
    assert drawn[0].endswith("…") and long.startswith(drawn[0][:-1]) and len(drawn[0]) > 4
    assert drawn[1:4] == ["a", "b", "c"]


# -- the lines of one layer ----------------------------------------------------------------------

Link = tuple[int, int, int, int]  # row, column, head, weight in ten-thousandths


def lines_data(
    result: AttentionResult, head: int | None, **options: Any
) -> tuple[dict[str, Any], set[Link]]:
    shown = head_view(result, heads_of(result, 1, head), options.pop("selection", Selection()))
    links = strongest_links(result, shown, **options)
    steps = np.rint(links.weight * 10_000).astype(int)
    given = zip(links.row, links.column, links.head, steps, strict=True)
    drawn = {tuple(map(int, each)) for each in given}
    return pictures.lines_picture(result, links), drawn  # type: ignore[return-value]


def paths(page: Page) -> list[dict[str, str]]:
    """Return the paths of the drawing in drawing order."""
    return page.locator("svg path").evaluate_all(
        "nodes => nodes.map(node => Object.fromEntries("
        "[...node.attributes].map(each => [each.name, each.value])))"
    )


def curves(path: dict[str, str], tall: float) -> list[tuple[int, int]]:
    """Return the row and the column that each curve of a path connects."""
    found = []
    number = r"(-?[\d.]+)"
    for curve in re.findall(r"M[^M]*", path["d"]):
        match = re.fullmatch(rf"M0 {number}C50 {number} 50 {number} 100 {number}", curve)
        assert match is not None, curve
        start, first, second, end = map(float, match.groups())
        assert (start, second) == (first, end)
        found.append((int(start / tall), int(end / tall)))
        assert (start / tall % 1, end / tall % 1) == (0.5, 0.5)
    return found


@pytest.mark.parametrize(
    ("heads", "length", "head"), [(1, 4, 0), (3, 6, 1), (3, 6, None), (5, 70, 3)]
)
def test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength(
    stage: Stage, heads: int, length: int, head: int | None
) -> None:
    result = made(2, heads, length)
    data, links = lines_data(result, head)
    page = stage("attention_lines", data)
    own = 0 if length > LINK_TOKENS else head  # a long text has the lines of one head alone
    shown = {each for each in links if head is None or each[2] == own}
    tall = box(page.locator(".lines svg"))["height"] / length
    assert tall == (25 if length < 30 else 13)  # as high as the screen has room for
    found: dict[tuple[int, int, str], float] = {}
    for path in paths(page):
        for row, column in curves(path, tall):
            found[row, column, path["stroke"]] = float(path["stroke-opacity"])
    colours = dict(enumerate(data["colours"]))
    assert set(found) == {(row, column, colours[which]) for row, column, which, _ in shown}
    for row, column, which, weight in shown:
        eighth = min(7, weight * 8 // 10_000)
        opacity = 0.05 + 0.95 * (eighth + 0.5) / 8
        assert found[row, column, colours[which]] == pytest.approx(opacity)
    strengths = [float(path["stroke-opacity"]) for path in paths(page)]
    assert strengths == sorted(strengths), "the strongest lines are drawn last, on top"
    widths = [float(path["stroke-width"]) for path in paths(page)]
    assert (widths == sorted(widths) and widths[0] < widths[-1]) or len(set(strengths)) == 1
    assert f": {len(shown)} lines" in page.locator(".readout").inner_text()


@pytest.mark.parametrize("length", [6, 70])
def test_words_stand_where_their_lines_begin_and_end(stage: Stage, length: int) -> None:
    result = made(2, 2, length, pair=True)
    data, _ = lines_data(result, 0)
    data["columnsSpecial"], data["columnBreak"] = [True, True, *[False] * (length - 2)], 2
    page = stage("attention_lines", data)
    svg = box(page.locator(".lines svg"))
    tall = svg["height"] / length
    for name, side in (("Words that look", "row"), ("Words that are looked at", "column")):
        words = page.get_by_role("listbox", name=name).get_by_role("option")
        assert [each.strip() for each in words.all_inner_texts()] == data[f"{side}s"]
        for number in (0, 1, length // 2, length - 1):
            place = box(words.nth(number))
            middle = place["y"] + place["height"] / 2
            assert middle == pytest.approx(svg["y"] + (number + 0.5) * tall, abs=1)
        special = words.evaluate_all("all => all.map(each => each.classList.contains('special'))")
        assert special == data[f"{side}sSpecial"]
        gaps = words.evaluate_all(
            "all => all.map(each => getComputedStyle(each).borderTopStyle === 'dashed')"
        )
        assert [n for n, each in enumerate(gaps) if each] == [data[f"{side}Break"]]
    left, right = (box(page.locator(f".words.{side}")) for side in ("from", "to"))
    assert left["x"] + left["width"] <= svg["x"] + 1
    assert svg["x"] + svg["width"] <= right["x"] + 1


@pytest.mark.parametrize("side", ["from", "to"])
def test_a_word_that_is_pointed_at_lights_up_its_own_lines_and_values(
    stage: Stage, side: str
) -> None:
    result = made(2, 3, 6)
    data, links = lines_data(result, None)
    page = stage("attention_lines", data)
    own, other = (0, 1) if side == "from" else (1, 0)
    lists = page.get_by_role("listbox")
    lists.nth(own).get_by_role("option").nth(2).hover()
    mine = {each for each in links if each[own] == 2}
    bright = [path for path in paths(page) if float(path["stroke-opacity"]) >= 0.45]
    colours = dict(enumerate(data["colours"]))
    found = {
        (*place, path["stroke"]): (float(path["stroke-opacity"]), float(path["stroke-width"]))
        for path in bright
        for place in curves(path, 25)
    }
    wanted = {
        (row, column, colours[head]): (
            pytest.approx(0.45 + 0.55 * weight / 10_000),
            pytest.approx(1.5 + 5 * weight / 10_000),
        )
        for row, column, head, weight in mine
    }
    assert found == wanted
    best = [max(each[3] for each in mine if each[other] == n) / 10_000 for n in range(6)]
    values = lists.nth(other).locator(".value").all_inner_texts()
    assert values == [f"{value:.2f}" if value >= 0.01 else "" for value in best]
    assert lists.nth(own).locator(".value").all_inner_texts() == [""] * 6
    lit = (
        lists.nth(other)
        .get_by_role("option")
        .evaluate_all("all => all.map(each => each.classList.contains('lit'))")
    )
    assert lit == [value >= 0.05 for value in best]
    said = page.locator(".readout").inner_text()
    strongest = sorted(mine, key=lambda each: -each[3])[:3]
    named = [f"t{each[other]} {each[3] / 10_000:.4f} (head {each[2]})" for each in strongest]
    verb = "looks most at" if side == "from" else "is looked at most by"
    assert said == f"t2 {verb} {', '.join(named)}"
    page.mouse.move(2, 2)
    assert "3 heads: " in page.locator(".readout").inner_text()
    assert set(lists.nth(other).locator(".value").all_inner_texts()) == {""}


def test_a_word_lights_up_nothing_of_heads_that_are_switched_off(stage: Stage) -> None:
    data, links = lines_data(made(2, 3, 6), 1)
    assert {head for _, _, head, _ in links} == {0, 1, 2}
    page = stage("attention_lines", data)
    page.get_by_role("listbox").nth(0).get_by_role("option").nth(2).hover()
    mine = {column: weight for row, column, head, weight in links if (row, head) == (2, 1)}
    values = page.get_by_role("listbox").nth(1).locator(".value").all_inner_texts()
    wanted = [mine.get(column, 0) / 10_000 for column in range(6)]
    assert values == [f"{value:.2f}" if value >= 0.01 else "" for value in wanted]
    assert {path["stroke"] for path in paths(page)} == {data["colours"][1]}
    best = sorted(mine.values())[::-1][:3]
    said = re.findall(r"0\.\d{4}", page.locator(".readout").inner_text())
    assert [float(each) for each in said] == [value / 10_000 for value in best]


def test_heads_are_switched_on_and_off_by_their_own_buttons(stage: Stage) -> None:
    result = made(2, 4, 5)
    data, _ = lines_data(result, 1)
    page = stage("attention_lines", data)
    colours = dict(enumerate(data["colours"]))

    def drawn() -> set[int]:
        strokes = {path["stroke"] for path in paths(page)}
        pressed = {
            head
            for head in range(4)
            if page.get_by_role("button", name=f"head {head}").get_attribute("aria-pressed")
            == "true"
        }
        assert {head for head, colour in colours.items() if colour in strokes} == pressed
        return pressed

    assert drawn() == {1}
    for head in range(4):
        swatch = page.get_by_role("button", name=f"head {head}").locator(".swatch")
        assert rgb(style(swatch, "borderTopColor")) == rgb(colours[head])
    page.get_by_role("button", name="head 3").click()
    assert drawn() == {1, 3}
    page.get_by_role("button", name="head 1").click()
    assert drawn() == {3}
    page.get_by_role("button", name="all", exact=True).click()
    assert drawn() == {0, 1, 2, 3}
    page.get_by_role("button", name="none", exact=True).click()
    assert drawn() == set()
    page.get_by_role("button", name="head 2").dblclick()
    assert drawn() == {2}
    stage("attention_lines", lines_data(result, 0)[0])
    assert drawn() == {0}, "another head was asked for"


def test_keys_walk_the_words_and_pin_them(stage: Stage) -> None:
    data, _ = lines_data(made(2, 2, 5), 0)
    page = stage("attention_lines", data)
    page.get_by_role("listbox").nth(0).get_by_role("option").nth(0).focus()
    walked = []
    for key in [
        "ArrowDown",
        "ArrowDown",
        "ArrowUp",
        "End",
        "ArrowDown",
        "ArrowRight",
        "ArrowUp",
        "ArrowLeft",
        "Home",
        "ArrowUp",
    ]:
        page.keyboard.press(key)
        side = page.evaluate("root.activeElement.parentElement.getAttribute('aria-label')")
        walked.append(
            (side == "Words that look", page.locator(".readout .token").first.inner_text())
        )
    looks = [(True, f"t{n}") for n in (1, 2, 1, 4, 4)] + [(False, "t4"), (False, "t3")]
    assert walked == [*looks, (True, "t3"), (True, "t0"), (True, "t0")]
    page.keyboard.press("Enter")
    pinned = page.locator("[role=option][aria-selected=true]")
    expect(pinned).to_have_count(1)
    page.get_by_role("listbox").nth(1).get_by_role("option").nth(4).hover()
    assert page.locator(".readout .token").first.inner_text() == "t0", "a pin stays"
    page.keyboard.press("Escape")
    expect(pinned).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["attention_heatmap", "attention_lines"])
def test_letters_have_the_colour_of_the_theme(stage: Stage, name: str, theme: str) -> None:
    result = made(2, 2, 5)
    data = heat_data(result)[0] if name == "attention_heatmap" else lines_data(result, 0)[0]
    page = stage(name, data, theme=theme)
    for node in page.locator(".readout, .words li, .chips button").all():
        assert style(node, "color") == INKS[theme]


@pytest.mark.parametrize("name", ["attention_grid", "attention_heatmap", "attention_lines"])
def test_no_text_becomes_markup(stage: Stage, name: str) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    result = made(2, 2, 4)
    words = {"rows": [hostile] * 4, "columns": [hostile] * 4}
    data = {
        "attention_grid": {**grid_data(result, 0, 0), "notes": [hostile] * 4, "top": hostile},
        "attention_heatmap": {**heat_data(result)[0], **words},
        "attention_lines": {**lines_data(result, 0)[0], **words},
    }[name]
    page = stage(name, {**data, "label": hostile})
    if name == "attention_heatmap":
        page.mouse.click(*centre(page, (4, 4), 1, 1))
    if name == "attention_lines":
        page.get_by_role("option").nth(1).hover()
    assert page.locator("img").count() == 0
    assert hostile in page.locator(".view").inner_text()

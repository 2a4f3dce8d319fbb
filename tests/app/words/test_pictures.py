"""Test drawings by their geometry, and the figures that hold them by their tables and links."""

from itertools import pairwise

import pandas as pd
import pytest

from app.words.html import Html, tag
from app.words.pictures import (
    NARROW,
    WIDE,
    Picture,
    bars,
    data_table,
    figure,
    linked,
    numbers,
    picture,
    svg,
)
from tests.drawings import elements

NAMES, VALUES, PRINTED = ["1. one", "2. two", "3. nothing"], [0.5, 0.125, 0.0], ["a", "b", "c"]


def texts(drawing: Html) -> list[str]:
    return [each.text for each in elements(drawing, "text")]


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {"name": ["<b>", "x"], "share": [0.123456789, 1e-9], "n": [12345, 7], "at": ["0.1", "0.2"]}
    )


@pytest.fixture
def shown(table: pd.DataFrame) -> Picture:
    return picture(
        "a-name",
        lambda width: bars(NAMES, VALUES, PRINTED, width=width, top=0.5),
        alt="Three <bars>",
        table=table,
    )


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("top", [0.5, 1.0])
def test_bars_are_as_long_as_their_numbers(width: int, top: float) -> None:
    drawing = bars(NAMES, VALUES, PRINTED, width=width, top=top)
    lengths = [bar.number("width") for bar in elements(drawing, "rect")]
    assert lengths[0] == pytest.approx(4 * lengths[1], abs=0.02)
    assert lengths[2] == 0
    labels = elements(drawing, "text")
    ends = [label.number("x") for label in labels if label.attributes["class"] == "bx-svg-value"]
    for bar, end in zip(elements(drawing, "rect"), ends, strict=True):
        assert bar.number("x") + bar.number("width") < end <= width - 60  # room for "39.4 %"


def test_a_bar_of_the_top_value_is_full_and_longer_ones_are_cut_there() -> None:
    full, over = (
        elements(bars(["a"], [value], [""], width=WIDE, top=0.5), "rect")[0].number("width")
        for value in (0.5, 0.9)
    )
    half = elements(bars(["a"], [0.25], [""], width=WIDE, top=0.5), "rect")[0].number("width")
    assert full == over == pytest.approx(2 * half, abs=0.02)


def test_a_tiny_value_is_still_a_line() -> None:
    (bar,) = elements(bars(["a"], [1e-9], [""], width=WIDE, top=1.0), "rect")
    assert bar.number("width") == 1.5


def test_bars_do_not_overlap_and_fit_the_drawing() -> None:
    drawing = bars(NAMES, VALUES, PRINTED, width=WIDE, top=1.0)
    rows = [(bar.number("y"), bar.number("height")) for bar in elements(drawing, "rect")]
    for (y, height), (below, _) in pairwise(rows):
        assert y + height < below
    assert rows[-1][0] + rows[-1][1] <= float(
        elements(drawing, "svg")[0].attributes["viewbox"].split()[3]
    )
    assert texts(drawing) == [x for pair in zip(NAMES, PRINTED, strict=True) for x in pair]


def test_the_marked_bar_differs_and_no_other() -> None:
    drawing = bars(NAMES, VALUES, PRINTED, width=WIDE, top=1.0, marked=[False, True, False])
    assert [bar.attributes["class"] for bar in elements(drawing, "rect")] == [
        "bx-svg-bar",
        "bx-svg-mark",
        "bx-svg-bar",
    ]


def test_a_long_name_is_shortened_on_the_screen() -> None:
    drawing = bars(["x" * 40], [0.5], ["50 %"], width=NARROW, top=1.0)
    name = texts(drawing)[0]
    assert name == "x" * 17 + "…"


def test_markup_in_a_name_stays_text() -> None:
    drawing = bars(["<b>&"], [0.5], ["50 %"], width=WIDE, top=1.0)
    assert "&lt;b&gt;&amp;" in str(drawing)
    assert texts(drawing)[0] == "<b>&"


def test_a_drawing_keeps_its_proportions() -> None:
    drawing = svg(WIDE, 100.5, tag("line", x1=0))
    assert elements(drawing, "svg")[0].attributes["viewbox"] == "0 0 760 100.5"


def test_a_picture_is_drawn_wide_and_narrow(shown: Picture) -> None:
    assert [
        elements(each, "svg")[0].attributes["viewbox"].split()[2]
        for each in (shown.wide, shown.narrow)
    ] == [
        str(WIDE),
        str(NARROW),
    ]
    drawn = str(figure(shown))
    assert drawn.count("<svg") == 2
    assert drawn.index('class="bx-wide"') < drawn.index('class="bx-narrow"')


def test_a_figure_has_words_numbers_and_files(shown: Picture) -> None:
    drawn = figure(shown)
    assert 'role="img" aria-label="Three &lt;bars&gt;"' in str(drawn)
    kinds = [attributes["data-save"] for _, attributes in elements(drawn, "button")]
    assert kinds == ["svg", "png", "csv", "json"]
    assert elements(drawn, "figure")[0].attributes["data-name"] == "a-name"
    assert len(elements(drawn, "tr")) == 3


def test_the_table_shows_four_digits_and_keeps_eight(table: pd.DataFrame) -> None:
    drawn = data_table(table, "a-name")
    found = elements(drawn, "td")
    assert [text for text, _ in found] == ["<b>", "0.1235", "12,345", "x", "1e-09", "7"]
    values = [attributes.get("data-value") for _, attributes in found]
    assert values == [None, "0.12345679", "12345", None, "1e-09", "7"]
    assert [text for text, _ in elements(drawn, "th")] == ["name", "share", "n"]


def test_rows_carry_their_links_and_do_not_show_them(table: pd.DataFrame) -> None:
    rows = [attributes.get("data-at") for _, attributes in elements(data_table(table, "x"), "tr")]
    assert rows == [None, "0.1", "0.2"]
    bare = data_table(table.drop(columns="at"), "x")
    assert "data-at" not in str(bare)


def test_a_table_without_a_picture_offers_no_picture_files(table: pd.DataFrame) -> None:
    drawn = numbers(table, "x", title="All rows")
    assert [each["data-save"] for _, each in elements(drawn, "button")] == ["csv", "json"]
    assert elements(drawn, "summary")[0][0] == "All rows"


def test_a_table_too_long_for_a_page_is_refused() -> None:
    assert "<table" in str(numbers(pd.DataFrame({"n": range(200)}), "x"))
    with pytest.raises(ValueError, match="201 rows"):
        numbers(pd.DataFrame({"n": range(201)}), "x")


def test_links_name_the_text_and_its_pieces() -> None:
    assert linked([3, 4]) == "0.3 0.4"
    assert linked([7], text=2) == "2.7"
    assert linked([]) == ""

"""Drawings by their geometry, and the figures that hold them by their tables and links."""

from itertools import pairwise

import pandas as pd
import pytest

from app.words.html import Html
from app.words.pictures import NARROW, WIDE, bars, data_table, figure, numbers, picture
from tests.drawings import elements

NAMES, VALUES, PRINTED = ["1. one", "<b>& two", "3. nothing"], [0.5, 0.125, 0.0], ["a", "b", "c"]
TABLE = pd.DataFrame(
    {"name": ["<b>", "x"], "share": [0.123456789, 1e-9], "n": [12345, 7], "at": ["0.1", "0.2"]}
)


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("top", [0.5, 1.0])
def test_bars_are_as_long_as_their_numbers_in_rows_of_their_own(width: int, top: float) -> None:
    drawing = bars(NAMES, VALUES, PRINTED, width=width, top=top, marked=[False, True, False])
    shown, texts = elements(drawing, "rect"), elements(drawing, "text")
    lengths = [bar.number("width") for bar in shown]
    assert lengths[0] == pytest.approx(4 * lengths[1], abs=0.02) and lengths[2] == 0
    ends = [label.number("x") for label in texts if label.attributes["class"] == "bx-svg-value"]
    for bar, end in zip(shown, ends, strict=True):
        assert bar.number("x") + bar.number("width") < end <= width - 60  # room for "39.4 %"
    assert all(a.number("y") + a.number("height") < b.number("y") for a, b in pairwise(shown))
    (whole,) = elements(drawing, "svg")
    assert shown[-1].number("y") + shown[-1].number("height") <= float(
        whole.attributes["viewbox"].split()[3]
    )
    assert [each.text for each in texts] == [
        text for pair in zip(NAMES, PRINTED, strict=True) for text in pair
    ]
    assert [bar.attributes["class"] for bar in shown] == ["bx-svg-bar", "bx-svg-mark", "bx-svg-bar"]


def test_a_bar_is_at_most_full_and_at_least_a_line_and_a_long_name_is_shortened() -> None:
    def drawn(value: float) -> Html:
        return bars(["x" * 40], [value], [""], width=NARROW, top=0.5)

    full, over, half, tiny = (
        elements(drawn(value), "rect")[0].number("width") for value in (0.5, 0.9, 0.25, 1e-9)
    )
    assert full == over == pytest.approx(2 * half, abs=0.02) and tiny == 1.5
    assert elements(drawn(0.5), "text")[0].text == "x" * 17 + "…"


def test_a_figure_is_drawn_wide_and_narrow_with_words_numbers_and_files() -> None:
    shown = picture(
        "a-name",
        lambda width: bars(NAMES, VALUES, PRINTED, width=width, top=0.5),
        alt="Three <bars>",
        table=TABLE,
    )
    drawn = figure(shown)
    assert 'role="img" aria-label="Three &lt;bars&gt;"' in str(drawn)
    sizes = [each.attributes["viewbox"].split()[2] for each in elements(drawn, "svg")]
    assert sizes == [str(WIDE), str(NARROW)]
    kinds = [attributes["data-save"] for _, attributes in elements(drawn, "button")]
    assert kinds == ["svg", "png", "csv", "json"]
    assert elements(drawn, "figure")[0].attributes["data-name"] == "a-name"
    assert len(elements(drawn, "tr")) == 3


def test_the_table_shows_four_digits_and_keeps_eight_and_its_links() -> None:
    drawn = data_table(TABLE, "a-name")
    cells = elements(drawn, "td")
    assert [text for text, _ in cells] == ["<b>", "0.1235", "12,345", "x", "1e-09", "7"]
    values = [attributes.get("data-value") for _, attributes in cells]
    assert values == [None, "0.12345679", "12345", None, "1e-09", "7"]
    assert [text for text, _ in elements(drawn, "th")] == ["name", "share", "n"]
    rows = [attributes.get("data-at") for _, attributes in elements(drawn, "tr")]
    assert rows == [None, "0.1", "0.2"]
    alone = numbers(TABLE, "x", title="All rows")
    assert [each["data-save"] for _, each in elements(alone, "button")] == ["csv", "json"]
    with pytest.raises(ValueError, match="201 rows"):
        numbers(pd.DataFrame({"n": range(201)}), "x")

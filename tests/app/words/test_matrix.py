"""A matrix puts each number into its row and its column, as deep as it is large."""

import pytest

from app.words.html import join
from app.words.matrix import Matrix
from tests.drawings import elements

GRID = Matrix(left=100, top=30, width=50, height=20)


def test_a_cell_and_its_number_are_between_the_names_of_its_row_and_column() -> None:
    drawn = join(*GRID.cell(2, 1, 0.25, "7"))
    (cell,), (number,) = elements(drawn, "rect", "bx-svg-cell"), elements(drawn, "text")
    (row,) = elements(join(*GRID.rows([("", None), ("", None), ("third", "0.3")])), "text")
    (column,) = elements(join(*GRID.columns([("", None), ("second", "0.2")])), "text")
    assert (row.text, row.attributes["data-at"]) == ("third", "0.3")
    assert number.number("y") == row.number("y") == cell.number("y") + 10 == 80
    assert number.number("x") == column.number("x") == cell.number("x") + 25 == 175
    assert cell.number("fill-opacity") == 0.25 and number.text == "7"


def test_space_around_a_cell_is_equal_on_all_sides() -> None:
    assert GRID.place(0, 0, inset=2) == {
        "x": "102.00",
        "y": "32.00",
        "width": "46.00",
        "height": "16.00",
    }


@pytest.mark.parametrize(("depth", "look"), [(0.5, ""), (0.6, "bx-svg-half"), (0.9, "bx-svg-deep")])
def test_numbers_on_deep_cells_change_their_colour(depth: float, look: str) -> None:
    (number,) = elements(join(*GRID.cell(0, 0, depth, "7")), "text")
    assert number.attributes["class"] == f"bx-svg-middle {look}".strip()


def test_names_of_visitors_stay_text() -> None:
    drawn = str(join(*GRID.rows([("<b>", None)]), *GRID.columns([("<b>", None)], slanted=True)))
    assert drawn.count("&lt;b&gt;") == 2 and "<b>" not in drawn

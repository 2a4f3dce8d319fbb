"""Test the page "Inside the input" by driving it as a visitor would."""

from collections.abc import Callable

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.features.input import task, view

PAGE = "pages/10_input.py"


def test_the_page_opens_with_the_vectors_of_its_first_example(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    result = task.input(tiny_engine, str(examples("input")[0].values["text"]), length=12)
    drawn = page.pictures["input"]
    assert drawn.count("<image ") == 2 * (5 * min(12, len(result)) + 1)  # wide and narrow
    assert view.number(float(result.sum[2, 0])) in page.words
    assert set(page.pictures) == {"input", "input-lengths"}  # only the open tab is computed


def test_a_click_chooses_a_piece(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, text="the cat sat").pick("piece", 3)
    assert page.at.number_input(key="place").value == 3
    result = task.input(tiny_engine, "the cat sat", length=12)
    assert view.number(float(result.normalised[3, 0])) in page.words
    assert "sat, number 0" in page.words


@pytest.mark.parametrize("value", [-1, 12, 10**9])
def test_a_click_on_no_piece_changes_nothing(visit: Callable, value: int) -> None:
    page = visit(PAGE, text="the cat sat").pick("piece", value)
    assert page.at.number_input(key="place").value == 2


@pytest.mark.parametrize(
    ("tab", "names"),
    [
        ("Lengths", {"input-lengths"}),
        ("Nearest pieces", {"input-near-word", "input-near-layernorm"}),
        ("Positions", {"input-positions"}),
        ("First numbers", set()),
    ],
)
def test_the_address_opens_a_tab(visit: Callable, tab: str, names: set[str]) -> None:
    page = visit(PAGE, text="the cat", tab=tab, place="1", value="3")
    assert set(page.pictures) == {"input"} | names
    assert "the, number 3" in page.words
    assert ("× gamma" in page.words) is (tab == "First numbers")


def test_padding_changes_the_mask_and_nothing_else(visit: Callable) -> None:
    page = visit(PAGE, text="the cat", length="0")
    assert "[PAD]" not in page.words
    page = visit(PAGE, text="the cat", length="6")
    assert page.words.count("[PAD]") == 2


def test_a_piece_beyond_a_shorter_text_becomes_the_last(visit: Callable) -> None:
    page = visit(PAGE, text="the cat", length="0", place="40")
    assert page.errors == "" and "[SEP], number 0" in page.words

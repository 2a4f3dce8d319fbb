"""Test the next-sentence page from a visitor's point of view."""

from collections.abc import Callable
from typing import Any

from app.features.next_sentence import view as view
from tests.drawings import printed

PAGE = "pages/3_next_sentence.py"
ANSWER = 'role="status"'  # the verdict's box
PAIR = {"text": "the cat sat", "text_pair": "on the mat"}
PARAGRAPH = "The cat sat. A dog sat on the mat. Play on!"

Visit = Callable[..., Any]


def logits(page: Any) -> list[str]:
    """Return what is printed beside the two bars."""
    return printed(page.pictures["next-sentence"])


def test_swap_exchanges_the_sentences_and_swapping_again_brings_them_back(visit: Visit) -> None:
    page = visit(PAGE, **PAIR)
    before = logits(page)
    page.click("Swap")
    assert page.at.text_area(key="text").value == "on the mat"
    assert page.at.text_area(key="text_pair").value == "the cat sat"
    assert logits(page) != before
    assert logits(page.click("Swap")) == before


def test_a_paragraph_is_put_in_order(visit: Visit) -> None:
    page = visit(PAGE, tab="Order of a paragraph", paragraph=PARAGRAPH)
    drawn = page.pictures["sentence-order"]
    assert drawn.count('class="bx-svg-cell"') == 2 * 6
    assert "As written" in page.words and "best order" in page.words
    page.choose("paragraph", "Only one.")
    assert "Found 1 sentence; expected 2 to 12" in page.warnings
    assert ANSWER in page.markup and "sentence-order" not in page.pictures

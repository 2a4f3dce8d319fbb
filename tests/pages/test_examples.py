"""Examples on their pages: their notes, and what they set."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import examples, pages
from tests.visits import markup


def note(page: AppTest) -> str:
    """Return the text of the note on the example in the boxes."""
    shown = markup(page).partition('class="bx-example"')[2].partition("</div>")[0]
    return re.sub("<[^>]*>", "", shown)


def test_the_note_of_an_example_comes_with_it(visit: Callable) -> None:
    page, (_, second, *_) = visit("pages/2_fill_mask.py"), examples("fill_mask")
    page.click(second.label)
    assert second.note in unescape(note(page.at))


def test_a_link_with_one_other_text_is_no_example(visit: Callable) -> None:
    page, first = "pages/4_attention.py", examples("attention")[0]
    assert first.note in unescape(note(visit(page).at))
    assert note(visit(page, text_pair="The dog barked.").at) == ""
    assert first.note in unescape(note(visit(page, text=str(first.values["text"])).at))


@pytest.mark.parametrize("slug", ["fill_mask", "attention"])
def test_no_note_stays_beside_words_in_another_order(visit: Callable, slug: str) -> None:
    script = next(row.page for row in pages() if row.slug == slug)
    page = visit(script, mixed="3")
    assert note(page.at) == "" and page.errors == page.warnings == ""
    page.choose("mixed", 0)
    assert examples(slug)[0].note in unescape(note(page.at))


def test_an_example_clears_what_only_another_one_has_set(visit: Callable) -> None:
    rows = examples("tokenizer")
    pair = next(row for row in rows if "text_pair" in row.values)
    cased = next(row for row in rows if "cased" in row.values)
    single = next(row for row in rows if set(row.values) == {"text"})
    page = visit("pages/1_tokenizer.py").click(pair.label)
    assert page.at.text_area(key="text_pair").value == pair.values["text_pair"]
    page.click(cased.label)
    assert page.at.text_area(key="text_pair").value == ""
    assert page.at.toggle(key="cased").value is True
    page.click(single.label)
    assert page.at.toggle(key="cased").value is False

"""Test the tokenizer page by driving it as a visitor would."""

from collections.abc import Callable

import pytest

from app.catalog import examples

PAGE = "pages/1_tokenizer.py"


def test_the_page_opens_with_its_first_example(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.at.title[0].value == "Tokenizer"
    assert page.at.text_area(key="text").value == examples("tokenizer")[0].values["text"]
    assert "bx-tokens" in page.markup
    assert page.warnings == page.errors == ""


@pytest.mark.parametrize("example", examples("tokenizer"), ids=lambda row: row.label)
def test_every_example_opens_and_says_what_to_look_at(visit: Callable, example) -> None:
    page = visit(PAGE).click(example.label)
    assert page.at.text_area(key="text").value == example.values["text"]
    assert page.at.text_area(key="text_pair").value == example.values.get("text_pair", "")
    assert page.at.toggle(key="cased").value == example.values.get("cased", False)
    assert page.warnings == page.errors == ""
    assert any("visibility" in caption.value for caption in page.at.caption)


def test_there_are_at_least_five_examples() -> None:
    assert len(examples("tokenizer")) >= 5
    assert all(row.note for row in examples("tokenizer"))


def test_nasty_texts_are_shown_and_never_become_markup(visit: Callable, nasty: str) -> None:
    page = visit(PAGE).type(nasty)
    assert page.errors == page.warnings == ""
    assert "<script" not in page.markup
    assert "<img" not in page.markup


def test_an_empty_text_gets_a_friendly_word_and_the_footer_stays(visit: Callable) -> None:
    page = visit(PAGE).type("   ")
    assert "empty" in page.warnings
    assert "Do not conclude" in page.words
    assert "SHA-256" in page.words


def test_a_text_over_the_models_length_is_shown_with_what_would_be_lost(visit: Callable) -> None:
    page = visit(PAGE).type("the cat sat " * 40)
    assert page.warnings == page.errors == ""
    assert "122 of 48 tokens" in page.words
    assert "Too long by 74 tokens" in page.words


def test_a_text_over_the_sites_length_is_refused_with_both_numbers(visit: Callable) -> None:
    page = visit(PAGE).type("a" * 100_001)
    assert "100,001" in page.warnings
    assert "100,000" in page.warnings


def test_the_address_seeds_text_pair_and_switches(visit: Callable) -> None:
    page = visit(PAGE, text="The Cat", text_pair="A dog", cased="true")
    assert page.at.text_area(key="text").value == "The Cat"
    assert page.at.text_area(key="text_pair").value == "A dog"
    assert page.at.toggle(key="cased").value
    assert "Not this model's casing" in page.words
    assert "0 · added · A" in page.words


def test_nonsense_in_the_address_is_ignored(visit: Callable) -> None:
    page = visit(PAGE, cased="perhaps", watch="no such word", k="-5", unknown="x")
    assert not page.at.toggle(key="cased").value
    assert page.warnings == page.errors == ""


def test_a_long_text_stays_out_of_the_address_and_the_page_says_so(visit: Callable) -> None:
    page = visit(PAGE).type("the cat sat " * 200)
    assert any("too long for the address" in caption.value for caption in page.at.caption)
    page.type("the cat")
    assert not any("too long for the address" in caption.value for caption in page.at.caption)
    assert page.at.text_area(key="text").value == "the cat"


def test_another_word_can_be_watched(visit: Callable) -> None:
    page = visit(PAGE).type("the dog played")
    assert page.at.selectbox(key="watch").value == "2: played"
    page.at.selectbox(key="watch").set_value("1: dog")
    page.run()
    assert "played ✗" not in page.words
    assert list(page.at.dataframe[1].value["looked up"]) == ["dog"]
    assert "dog ✓" in page.words


def test_a_new_text_without_the_watched_word_does_not_break(visit: Callable) -> None:
    page = visit(PAGE, text="the dog played")
    page.at.selectbox(key="watch").set_value("1: dog")
    page.run().type("the cat sat on")
    assert page.errors == page.warnings == ""


def test_provenance_and_caution_stand_below_everything(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.words.index("Do not conclude") < page.words.index("SHA-256")
    assert "cc0-1.0" in page.words
    assert "no trained weights" not in page.words


def test_there_is_exactly_one_title(visit: Callable) -> None:
    page = visit(PAGE)
    assert len(page.at.title) == 1
    assert "<h1" not in page.markup

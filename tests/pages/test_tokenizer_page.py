"""Test the tokenizer page by driving it as a visitor would."""

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st

from app.catalog import examples

PAGE = "pages/1_tokenizer.py"


def test_the_page_opens_with_its_first_example(visit: Callable) -> None:
    page = visit(PAGE)
    assert "<h1>Tokenizer</h1>" in page.markup
    assert page.at.text_area(key="text").value == examples("tokenizer")[0].values["text"]
    assert "bx-tok-text" in page.markup and "bx-tok-cell" in "".join(page.pictures.values())
    assert page.warnings == page.errors == ""


@pytest.mark.parametrize("example", examples("tokenizer"), ids=lambda row: row.label)
def test_every_example_opens_and_says_what_to_look_at(visit: Callable, example) -> None:
    page = visit(PAGE)
    number = [row.label for row in examples("tokenizer")].index(example.label)
    page.at.button(key=f"_example_{number}").click()
    page.run()
    assert page.at.text_area(key="text").value == example.values["text"]
    assert page.at.text_area(key="text_pair").value == example.values.get("text_pair", "")
    assert page.at.toggle(key="cased").value == example.values.get("cased", False)
    assert page.warnings == page.errors == ""
    assert example.note in page.words


def test_there_are_at_least_five_examples() -> None:
    assert len(examples("tokenizer")) >= 5
    assert all(row.note for row in examples("tokenizer"))


@pytest.mark.parametrize("tab", ["Input", "Steps", "Back", "Compare", "Vocabulary"])
def test_nasty_texts_are_shown_and_never_become_markup(
    visit: Callable, nasty: str, tab: str
) -> None:
    page = visit(PAGE, tab=tab).type(nasty)
    assert page.errors == page.warnings == ""
    for markup in (page.markup, "".join(page.pictures.values())):
        assert "<script" not in markup
        assert "<img" not in markup


def test_an_empty_text_gets_a_friendly_word_and_the_foot_stays(visit: Callable) -> None:
    page = visit(PAGE).type("   ")
    assert "empty" in page.warnings
    assert "Note: " in page.words


def test_a_text_over_the_models_length_is_shown_with_what_would_be_lost(visit: Callable) -> None:
    page = visit(PAGE).type("the cat sat " * 40)
    assert page.warnings == page.errors == ""
    assert "Too long by 74 tokens" in page.words
    assert "254.2 % of the model's 48 tokens" in page.words
    assert len(page.at.dataframe[0].value) == 122


def test_a_text_over_the_sites_length_is_refused_with_both_numbers(visit: Callable) -> None:
    page = visit(PAGE).type("a" * 100_001)
    assert "100,001" in page.warnings
    assert "100,000" in page.warnings


def test_the_address_seeds_texts_switches_and_padding(visit: Callable) -> None:
    page = visit(PAGE, text="The Cat", text_pair="A dog", cased="true", pad="12")
    assert page.at.text_area(key="text").value == "The Cat"
    assert page.at.text_area(key="text_pair").value == "A dog"
    assert page.at.toggle(key="cased").value
    assert "Not this model's casing" in page.words
    assert "12 positions, 5 of them padding" in page.words
    assert "".join(page.pictures.values()).count(">[PAD]</text>") == 2 * 5  # wide and narrow


def test_nonsense_in_the_address_is_ignored(visit: Callable) -> None:
    nonsense = {"cased": "perhaps", "watch": "no such word", "pad": "-5", "versus": "x", "tab": "y"}
    page = visit(PAGE, **nonsense)
    assert not page.at.toggle(key="cased").value
    assert page.warnings == page.errors == ""


def test_a_long_text_stays_out_of_the_address(visit: Callable) -> None:
    page = visit(PAGE).type("the cat sat " * 200)
    page.type("the cat")
    assert page.at.text_area(key="text").value == "the cat"
    assert page.errors == ""


def test_another_word_can_be_watched(visit: Callable) -> None:
    page = visit(PAGE, tab="Steps").type("the dog played")
    assert page.at.selectbox(key="watch").value == "2: played"
    page.at.selectbox(key="watch").set_value("1: dog")
    page.run()
    assert "played ✗" not in page.words
    assert list(page.at.dataframe[0].value["looked up"]) == ["dog"]
    assert "dog ✓" in page.words


def test_a_new_text_without_the_watched_word_does_not_break(visit: Callable) -> None:
    page = visit(PAGE, text="the dog played", tab="Steps")
    page.at.selectbox(key="watch").set_value("1: dog")
    page.run().type("the cat sat on")
    assert page.errors == page.warnings == ""


def test_a_piece_of_the_vocabulary_can_be_looked_up(visit: Callable) -> None:
    page = visit(PAGE, text="the dog played", tab="Vocabulary")
    assert "play is entry 13 of" in page.words  # the longest piece of the text comes first
    page.at.text_input(key="piece").set_value("mat")
    page.run()
    assert "mat is entry 10 of" in page.words
    assert "One letter away: 2" in page.words
    assert 'data-name="neighbours"' in "".join(page.pictures.values())
    page.at.text_input(key="piece").set_value("played")
    page.run()
    assert "played is not in the vocabulary" in page.words
    assert "neighbours" not in "".join(page.pictures.values())


def test_other_models_on_offer_can_be_compared_with(
    visit: Callable, headless_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(headless_folder))
    page = visit(PAGE, text="The cat", tab="Compare")
    assert "1 of 2 stretches of text cut differently" in page.words
    page.at.selectbox(key="versus").set_value(headless_folder.name)
    page.run()
    assert "Both cut the text into the same pieces" in page.words


class Clicks:
    """The clicks that a page understands, taken from what it hands to the bridge."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.picks: dict[str, Callable[[int], None]] = {}
        monkeypatch.setattr("app.faces.streamlit.frame.mount_bridge", self.mount)

    def mount(self, _: str, picks: dict[str, Callable[[int], None]]) -> None:
        self.picks = picks


def test_clicks_on_pieces_words_and_entries_are_checked(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    clicks = Clicks(monkeypatch)
    visit(PAGE, text="the dog played")
    kept: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", kept)
    for name in ("piece", "watch", "entry"):
        for value in (-1, 10**9):
            clicks.picks[name](value)
    assert kept == {}
    clicks.picks["piece"](4)
    assert kept == {"piece": "##ed", "tab": "Vocabulary"}
    clicks.picks["entry"](6)
    assert kept["piece"] == "cat"
    clicks.picks["watch"](1)
    assert kept["watch"] == "1: dog"


def test_there_is_exactly_one_title(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.markup.count("<h1") == 1 and len(page.at.title) == 0

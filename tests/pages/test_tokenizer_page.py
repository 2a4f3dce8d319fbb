"""Test the tokenizer page by driving it as a visitor would."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st

from tests.bert_core.text.family_folders import merges_folder, with_weights

PAGE = "pages/1_tokenizer.py"


def test_the_address_seeds_texts_switches_and_padding(visit: Callable) -> None:
    page = visit(PAGE, text="The Cat", text_pair="A dog", cased="true", pad="12")
    assert page.at.text_area(key="text").value == "The Cat"
    assert page.at.text_area(key="text_pair").value == "A dog"
    assert page.at.toggle(key="cased").value
    assert "Not this model's casing" in page.words
    assert "12 positions, 5 of them padding" in page.words
    assert page.markup.count("<bdi>[PAD]</bdi>") == 5


def test_a_piece_of_the_vocabulary_can_be_looked_up(visit: Callable) -> None:
    page = visit(PAGE, text="the dog played", tab="Vocabulary")
    assert "play is entry 13 of" in page.words  # the longest piece of the text comes first
    page.choose("piece", "mat")
    assert "mat is entry 10 of" in page.words
    assert "One letter away: 2" in page.words
    assert 'data-name="neighbours"' in "".join(page.pictures.values())
    page.choose("piece", "played")
    assert "played is not in the vocabulary" in page.words
    assert "neighbours" not in "".join(page.pictures.values())


def test_other_models_on_offer_can_be_compared_with(
    visit: Callable, headless_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(headless_folder))
    page = visit(PAGE, text="The cat", tab="Compare")
    assert "1 of 2 stretches of text cut differently" in page.words
    page.choose("beside", headless_folder.name)
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
    page = visit(PAGE, text="the dog played", tab="Vocabulary", piece="ca")
    shown = re.search('data-pick="entry" data-value="(\\d+)"', page.markup)
    assert shown is not None
    kept: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", kept)
    for name in ("piece", "watch", "entry"):
        for value in (-1, 10**9):
            clicks.picks[name](value)
    assert kept == {}
    clicks.picks["piece"](4)
    assert kept == {"piece": "##ed", "tab": "Vocabulary"}
    clicks.picks["entry"](int(shown[1]))
    assert kept["piece"] not in {"", "##ed"}
    clicks.picks["watch"](1)
    assert kept["watch"] == "1: dog"


def test_a_tokenizer_of_another_kind_has_its_own_steps_and_no_casing(
    visit: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_weights(merges_folder(tmp_path / "tiny-roberta", ["the dog played on"] * 9, 300))
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(folder))
    page = visit(
        PAGE, model=folder.name, text="the dogs", text_pair="a 🍀", tab="Steps", cased="on"
    )
    assert page.errors == page.warnings == ""
    assert "cased" not in {each.key for each in page.at.toggle}
    page.choose("watch", "A 1: dogs")
    assert "pieces and ids" in page.words
    for tab, words in {
        "Input": "<s> A </s> </s> B </s>",
        "Compare": "no other casing",
        "Vocabulary": "is entry",
    }.items():
        shown = visit(PAGE, model=folder.name, text="the dogs", text_pair="a 🍀", tab=tab)
        assert shown.errors == shown.warnings == ""
        assert words in shown.words


def test_a_link_names_the_second_model_as_on_other_pages(
    visit: Callable, second_model: str
) -> None:
    page = visit(PAGE, text="the cat", tab="Compare", beside=second_model)
    assert f"{second_model}, lower-cased" in page.words and page.errors == ""

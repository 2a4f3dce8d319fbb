"""Test the next-sentence page from a visitor's point of view."""

from collections.abc import Callable
from typing import Any

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.features.next_sentence import view as view
from app.features.next_sentence.task import next_sentence
from app.words.format import signed
from tests.drawings import printed

PAGE = "pages/3_next_sentence.py"
ANSWER = 'role="status"'  # the verdict's box
PAIR = {"text": "the cat sat", "text_pair": "on the mat"}
PARAGRAPH = "The cat sat. A dog sat on the mat. Play on!"

Visit = Callable[..., Any]


def logits(page: Any) -> list[str]:
    """Return what is printed beside the two bars."""
    return printed(page.pictures["next-sentence"])


def test_the_first_example_is_answered_at_once(visit: Visit) -> None:
    page = visit(PAGE)
    assert ANSWER in page.markup and len(logits(page)) == 2
    assert page.markup.index(ANSWER) < page.markup.index("bx-nsp-input")


def test_the_page_shows_the_tasks_own_numbers(visit: Visit, tiny_engine: Engine) -> None:
    page = visit(PAGE, **PAIR)
    result = next_sentence(tiny_engine, *PAIR.values())
    for shown, share, logit in zip(logits(page), result.probabilities, result.logits, strict=True):
        assert shown == f"{view.percent(share)}, logit {signed(logit, 2)}"
    says, more, _ = view._answer(result)
    assert f"The model’s answer: {says}" in page.words and more in page.words
    assert "alibrated" in page.words
    assert view.scores(result).alt in page.pictures["next-sentence"]


def test_swap_exchanges_the_sentences_and_swapping_again_brings_them_back(visit: Visit) -> None:
    page = visit(PAGE, **PAIR)
    before = logits(page)
    page.click("Swap")
    assert page.at.text_area(key="text").value == "on the mat"
    assert page.at.text_area(key="text_pair").value == "the cat sat"
    assert logits(page) != before
    assert logits(page.click("Swap")) == before


def test_a_random_partner_comes_from_another_example(visit: Visit) -> None:
    page = visit(PAGE)
    second = page.at.text_area(key="text_pair").value
    page.click("Random partner")
    others = {row.values["text_pair"] for row in examples("next_sentence")}
    assert page.at.text_area(key="text_pair").value in others - {second}
    assert page.at.text_area(key="text").value == examples("next_sentence")[0].values["text"]


def test_what_the_model_did_not_read_is_said_before_the_answer(visit: Visit) -> None:
    page = visit(PAGE).type("the cat sat " * 30).type("on Ω", key="text_pair")
    words = page.words
    assert words.index("The model cannot read all of this") < words.index("model’s answer")
    assert words.index("95 tokens are too many") < words.index("model’s answer")
    assert "Of 90 pieces the first text lost the last 47 and kept 43" in words


def test_a_paragraph_is_put_in_order(visit: Visit) -> None:
    page = visit(PAGE, tab="Order of a paragraph", paragraph=PARAGRAPH)
    drawn = page.pictures["sentence-order"]
    assert drawn.count('class="bx-svg-cell"') == 2 * 6
    assert "As written" in page.words and "best order" in page.words
    page.choose("paragraph", "Only one.")
    assert "Found 1 sentence; expected 2 to 12" in page.warnings
    assert ANSWER in page.markup and "sentence-order" not in page.pictures


def test_shuffling_shows_another_order_and_can_be_undone(visit: Visit) -> None:
    page = visit(PAGE, tab="Order of a paragraph", paragraph=PARAGRAPH)
    before = page.pictures["sentence-order"]
    seed = next(seed for seed in range(9) if "Shuffled" in shuffled(visit, seed).words)
    page = shuffled(visit, seed)
    after = page.pictures["sentence-order"]
    assert after != before and after.partition("<details")[2] == before.partition("<details")[2]
    page.click("As written")
    assert page.pictures["sentence-order"] == before
    page.click("Shuffle")
    assert page.at.query_params["shuffle"][0].isdecimal()


def shuffled(visit: Visit, seed: int) -> Any:
    """Open the tab with sentences in an order given by a number."""
    return visit(PAGE, tab="Order of a paragraph", paragraph=PARAGRAPH, shuffle=str(seed))


@pytest.mark.parametrize("seed", ["", "-1", "x", "9" * 400, "²"])
def test_a_strange_seed_shows_the_text_as_written(visit: Visit, seed: str) -> None:
    page = visit(PAGE, tab="Order of a paragraph", paragraph=PARAGRAPH, shuffle=seed)
    assert "As written" in page.words and page.errors == ""


def test_the_colours_of_the_matrix_can_be_common(visit: Visit) -> None:
    page = visit(PAGE, tab="Order of a paragraph", paragraph=PARAGRAPH, common="true")
    assert "Palest: 0 %, darkest: 100 %" in page.words


def test_only_the_open_tab_is_computed(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    place = "app.faces.streamlit.features.next_sentence.next_sentence_order"
    monkeypatch.setattr(place, lambda *_: called.append(1))
    visit(PAGE, paragraph=PARAGRAPH)
    assert called == []

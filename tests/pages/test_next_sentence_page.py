"""Test the next-sentence page from a visitor's point of view."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import examples

PAGE = Path(__file__).resolve().parents[2] / "pages" / "3_next_sentence.py"

ANSWER = 'role="status"'  # the verdict's box

pytestmark = pytest.mark.usefixtures("tiny_model")


def opened(**address: str) -> AppTest:
    """Open the page at an address."""
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    for key, value in address.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def asked(text: str, text_pair: str) -> AppTest:
    """Open the page with texts in its boxes; no text may cause an error."""
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.session_state["text"], at.session_state["text_pair"] = text, text_pair
    at.run()
    assert not at.exception and not at.error
    return at


def markup(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def test_the_first_example_is_answered_at_once() -> None:
    at = opened()
    assert at.text_area(key="text").value == examples("next_sentence")[0].values["text"]
    page = markup(at)
    assert ANSWER in page
    assert "label 0" in page and "label 1" in page and "logit" in page
    assert "The input as the model sees it" in page
    assert "Do not conclude" in page
    assert at.dataframe[0].value["probability"].sum() == pytest.approx(1.0)
    assert not at.warning and not at.error


def test_the_address_fills_the_boxes() -> None:
    at = opened(text="the cat sat", text_pair="on the mat")
    assert at.text_area(key="text").value == "the cat sat"
    assert at.text_area(key="text_pair").value == "on the mat"
    tokens = at.dataframe[1].value["token"].tolist()
    assert tokens == ["[CLS]", "the", "cat", "sat", "[SEP]", "on", "the", "mat", "[SEP]"]


def test_swap_exchanges_the_sentences_and_swapping_again_brings_them_back() -> None:
    at = opened(text="the cat sat", text_pair="on the mat")
    before = at.dataframe[0].value["logit"].tolist()
    swap = next(button for button in at.button if button.label == "Swap the sentences")
    swap.click().run()
    assert at.text_area(key="text").value == "on the mat"
    assert at.text_area(key="text_pair").value == "the cat sat"
    assert at.dataframe[0].value["logit"].tolist() != before
    next(b for b in at.button if b.label == "Swap the sentences").click().run()
    assert at.dataframe[0].value["logit"].tolist() == before


@pytest.mark.parametrize("number", range(len(examples("next_sentence"))))
def test_every_example_gives_an_answer(number: int) -> None:
    at = opened(text="x", text_pair="y")
    at.button(key=f"_example_{number}").click().run()
    row = examples("next_sentence")[number]
    assert at.text_area(key="text").value == row.values["text"]
    assert at.text_area(key="text_pair").value == row.values["text_pair"]
    assert row.note
    assert not at.exception and not at.error and not at.warning
    assert ANSWER in markup(at)


@pytest.mark.parametrize(("first", "second"), [("", ""), ("the cat", ""), ("", "sat"), ("  ", "a")])
def test_an_empty_box_is_met_with_an_invitation(first: str, second: str) -> None:
    at = asked(first, second)
    assert [info.value for info in at.info] == [
        "Write one sentence into each box, or pick an example above."
    ]
    assert ANSWER not in markup(at)


def test_a_sentence_of_invisible_characters_is_a_friendly_warning() -> None:
    at = asked("\u200b\x01", "dog")
    assert "first sentence holds no piece" in at.warning[0].value


def test_nasty_texts_are_answered_and_never_become_markup(nasty: str) -> None:
    page = markup(asked(f"a {nasty}", f"{nasty} b"))
    assert ANSWER in page
    assert "<script" not in page and "<img" not in page


def test_a_long_pair_says_what_was_cut_and_answers() -> None:
    page = markup(asked("the cat sat " * 30, "on the mat"))
    assert "96 tokens are too many" in page
    assert "The first text lost its last 48 of 90 pieces and kept 42" in page
    assert "longest first" in page
    assert ANSWER in page


def test_a_text_beyond_the_sites_limit_is_refused_kindly() -> None:
    at = asked("a " * 60_000, "dog")
    assert "at most 100,000" in at.warning[0].value


def test_an_untrained_head_is_announced_before_any_number(
    headless_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(headless_folder))
    page = markup(opened(text="the cat", text_pair="sat"))
    assert "no trained weights" in page
    assert ANSWER not in page
    page = markup(opened(text="the cat", text_pair="sat", noise="true"))
    assert page.index("no trained weights") < page.index(ANSWER)
    assert "cls.seq_relationship.weight" in page

"""Test the question-answering page by driving it as a visitor would."""

import json
import re
from collections.abc import Callable
from html import unescape

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.features.qa import view_charts as charts
from app.features.qa import view_text as view
from app.features.qa.task import qa
from app.features.qa.task_suggested import suggested
from app.words.blocks import HINT_END
from app.words.html import Html, filled, join

PAGE = "pages/5_qa.py"
PASSAGE = "The cat sat on the mat. The dog sat on the river bank."
ADDRESS = {"text": PASSAGE, "question": "the cat?"}


def parts(page) -> dict[str, str]:
    """Return the markup of the page's components, by their keys."""
    found = {}
    for element in page.at.get("bidi_component"):
        data = json.loads(element.proto.json or "{}")
        if "markup" in data:
            key = re.search(r"-(outcome|picture-[\w-]+)$", element.proto.id)
            found[key[1] if key else element.proto.id] = data["markup"]
    return found


def said(page) -> str:
    """Return what a person reads of the main picture."""
    return unescape(re.sub(r"<[^>]*>", "", parts(page)["outcome"]))


def test_the_page_opens_with_an_answer_marked_in_the_passage(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.at.text_area(key="question").value == examples("qa")[0].values["question"]
    main = parts(page)["outcome"]
    assert main.count('role="status"') == 1
    assert "bx-qa-mark" in main
    assert "The model’s answer: " in said(page)
    assert set(parts(page)) == {"outcome", "picture-qa-answers"}, "closed tabs draw nothing"
    assert page.warnings == page.errors == ""


def drawn_without_lessons(markup: Html) -> str:
    """Return markup as a page shows it that is not part of the site: a "?" names no lesson."""
    return str(filled(markup, HINT_END, join()))


def test_what_is_shown_is_what_the_task_found(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, **ADDRESS, answers="3", longest="4")
    result = qa(tiny_engine, PASSAGE, "the cat?", answers=3, longest=4)
    assert parts(page)["outcome"] == drawn_without_lessons(view.outcome(result))
    drawn = parts(page)["picture-qa-answers"]
    assert str(charts.answers(result).wide) in drawn
    table = charts.answers_table(result)
    rows = re.findall(r"<tr data-at.*?</tr>|<tr><td.*?</tr>", drawn)
    numbers = [re.findall(r'data-value="([-\d.e]+)"', row)[-2:] for row in rows]
    assert [[float(value) for value in row] for row in numbers] == [
        pytest.approx(row, rel=1e-7) for row in table[["score", "probability"]].values.tolist()
    ]


def test_logits_and_the_common_scale_are_a_click_away(visit: Callable) -> None:
    page = visit(PAGE, **ADDRESS, tab="Start and end")
    own = parts(page)["picture-qa-pairs"]
    page.at.button_group(key="curves").set_value("logits")
    page.choose("scale", "common")
    assert "picture-qa-logits" in parts(page)
    assert "0 to 100.0 % of all" in parts(page)["picture-qa-pairs"] != own


def test_the_threshold_turns_the_verdict(visit: Callable) -> None:
    low = visit(PAGE, **ADDRESS, threshold="-15.0")
    high = visit(PAGE, **ADDRESS, threshold="15.0")
    assert "none in this passage" in said(low)
    assert "not accepted" in said(low)
    assert "none in this passage" not in said(high)
    assert "threshold −15.0" in said(low)


def test_several_questions_are_listed_and_the_address_says_which_is_shown(
    visit: Callable, tiny_engine: Engine
) -> None:
    address = {"text": PASSAGE, "question": "the cat?\n\n  the dog sat?  "}
    for ask, question in (("0", "the cat?"), ("1", "the dog sat?"), ("9", "the cat?")):
        page = visit(PAGE, **address, ask=ask)
        result = qa(tiny_engine, PASSAGE, question, answers=3)
        assert parts(page)["outcome"] == drawn_without_lessons(view.outcome(result))
        assert "1. the cat?" in page.words and "2. the dog sat?" in page.words
        current = re.search(r'data-value="(\d)"[^>]*aria-current', page.markup)[1]
        assert current == ("1" if ask == "1" else "0")
    assert page.errors == page.warnings == ""


def test_suggested_questions_stand_ready(visit: Callable) -> None:
    page = visit(PAGE)
    first = examples("qa")[0].values
    offered = suggested(str(first["text"]), str(first["question"]))
    buttons = re.findall(r'data-pick="suggest" data-value="(\d)"[^>]*>(.*?)<', page.markup)
    assert buttons == [(str(number), each) for number, each in enumerate(offered)]


def test_a_long_passage_is_read_in_windows_and_the_page_says_so(visit: Callable) -> None:
    page = visit(PAGE, question="the cat?", tab="Start and end").type(
        "the cat sat on the mat. " * 40
    )
    assert "280 pieces were read in" in said(page)
    assert len(page.at.dataframe[0].value) == 280, "every word, where the picture shows some"
    assert 'data-pick="around"' in page.markup


def test_the_rules_on_answers_can_be_lifted_in_the_address(visit: Callable) -> None:
    strict = visit(PAGE, **ADDRESS)
    free = visit(PAGE, **ADDRESS, whole="false", single="false")
    assert "(of whole words, within one sentence)" in said(strict)
    assert "(of whole words" not in said(free)
    rules = [toggle.value for toggle in free.at.toggle if toggle.key in {"whole", "single"}]
    assert rules == [False, False]


def test_a_link_with_a_passage_alone_asks_what_fits_it(visit: Callable) -> None:
    page = visit(PAGE, text="The stone bridge was built in 1902.")
    assert page.at.text_area(key="question").value == "When was the stone bridge built?"
    assert visit(PAGE, **ADDRESS).at.text_area(key="question").value == "the cat?"

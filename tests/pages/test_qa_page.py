"""Test the question-answering page by driving it as a visitor would."""

import re
from collections.abc import Callable

from app.catalog import examples
from app.engine.models import Engine
from app.features.qa.task import qa
from app.features.qa.task_suggested import suggested
from app.features.qa.view import passage

PAGE = "pages/5_qa.py"
PASSAGE = "The cat sat on the mat. The dog sat on the river bank."
ADDRESS = {"text": PASSAGE, "question": "the cat?"}


def test_the_page_opens_with_an_answer_and_offers_questions(visit: Callable) -> None:
    page = visit(PAGE)
    first = examples("qa")[0].values
    assert page.at.text_area(key="question").value == first["question"]
    assert "The model’s answer: " in page.words and "bx-qa-mark" in page.markup
    assert set(page.pictures) == {"qa-answers"}, "closed tabs draw nothing"
    offered = suggested(str(first["text"]), str(first["question"]))
    buttons = re.findall(r'data-pick="suggest" data-value="(\d)"[^>]*>(.*?)<', page.markup)
    assert buttons == [(str(number), each) for number, each in enumerate(offered)]
    page.pick("suggest", 0)
    assert page.at.text_area(key="question").value == offered[0]
    assert page.click("Restore the last question").warnings == page.errors == ""
    assert page.at.text_area(key="question").value == first["question"]


def test_several_questions_are_listed_with_the_settings_of_the_address(
    visit: Callable, tiny_engine: Engine
) -> None:
    address = {"text": PASSAGE, "question": "the cat?\n\n  the dog sat?  ", "longest": "4"}
    rules = {"whole": "false", "single": "false", "threshold": "-15.0"}
    for ask, question in (("0", "the cat?"), ("1", "the dog sat?"), ("9", "the cat?")):
        page = visit(PAGE, **address, **rules, ask=ask)
        result = qa(
            tiny_engine, PASSAGE, question, answers=3, longest=4, threshold=-15.0,
            whole_words=False, one_sentence=False,
        )  # fmt: skip
        assert str(passage(result)) in page.markup and "not accepted" in page.words
        for says in ("1. the cat?", "2. the dog sat?", "none in this passage"):
            assert says in page.words
        current = re.search(r'data-value="(\d)"[^>]*aria-current', page.markup)[1]
        assert current == ("1" if ask == "1" else "0")
    assert page.errors == page.warnings == ""


def test_a_link_with_a_passage_alone_asks_what_fits_it(visit: Callable) -> None:
    page = visit(PAGE, text="The stone bridge was built in 1902.")
    assert page.at.text_area(key="question").value == "When was the stone bridge built?"
    assert visit(PAGE, **ADDRESS).at.text_area(key="question").value == "the cat?"

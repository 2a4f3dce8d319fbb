"""Test the page "Why?", and its fold on the pages whose answers it explains."""

import json
from collections.abc import Callable

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.faces.streamlit.features import why as controls
from app.features.why import view, view_duel
from app.features.why.task import why
from app.features.why.task_texts import Row
from bert_core.errors import InputError

PAGE = "pages/14_why.py"
TEXT = "the cat [MASK] on the mat"
FOLDS = {
    "fill_mask": ("pages/2_fill_mask.py", {"text": TEXT}),
    "qa": ("pages/5_qa.py", {"text": "the cat sat on the mat.", "question": "the cat?"}),
    "ner": ("pages/6_ner.py", {"text": "the cat sat on the mat dog"}),
    "next_sentence": ("pages/3_next_sentence.py", {"text": "the cat.", "text_pair": "a dog."}),
    "classification": ("pages/8_classification.py", {"text": "the cat sat on the mat"}),
}


def test_the_page_opens_with_its_first_example(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    assert page.at.text_area(key="text").value == examples("why")[0].values["text"]
    assert set(page.pictures) == {"why", "why-curves"}
    assert "Survives deletion" in page.words or "Does not survive deletion" in page.words


@pytest.mark.parametrize("example", examples("why"), ids=lambda row: row.label)
def test_every_example_is_explained(visit: Callable, example) -> None:
    page = visit(PAGE).click(example.label)
    assert page.errors == "" and page.at.selectbox(key="of").value == example.values["of"]
    asks = any(button.label.startswith("Explain this text") for button in page.at.button)
    assert ("why" in page.pictures) ^ asks ^ ("finds no name" in page.warnings)


@pytest.mark.parametrize("of", FOLDS)
def test_the_fold_explains_the_answer_of_its_page_when_it_is_open(
    visit: Callable, tiny_engine: Engine, of: str
) -> None:
    script, given = FOLDS[of]
    assert "why" not in visit(script, **given).pictures
    page = visit(script, **given, why="true", why_method="Shapley")
    assert page.errors == page.warnings == ""
    pair = given.get("question", given.get("text_pair", ""))
    result = why(tiny_engine, given["text"], pair, of=of, method="shapley")
    drawn = view.text(result)
    assert str(drawn.wide) in page.pictures["why"]
    assert str(view_duel.curves(result, result.duel).wide) in page.pictures["why-curves"]
    assert view.leaders(result).split(".")[0] in page.words


def test_the_link_has_the_method_the_target_and_the_tab(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(
        PAGE, of="Question answering", text="the cat sat on the mat.", text_pair="the cat?",
        why_target="end", why_method="Grad × in", why_tab="All methods",
    )  # fmt: skip
    assert page.errors == page.warnings == ""
    result = why(
        tiny_engine, "the cat sat on the mat.", "the cat?", of="qa", target="end",
        method="gradient_x_input",
    )  # fmt: skip
    assert set(page.pictures) == {"why", "why-duel", "why-methods"}
    assert str(view.text(result).wide) in page.pictures["why"]
    page = visit(PAGE, text=TEXT, why_method="x", why_target="<b>", of="?", baseline="?")
    assert page.errors == "" and "why" in page.pictures


def test_a_long_text_is_explained_when_asked_and_stays(visit: Callable) -> None:
    page = visit(PAGE, text="the cat sat on the mat. " * 5 + TEXT)
    assert page.pictures == {}
    page.click("Explain this text (43 tokens)")
    assert "why" in page.pictures
    page.at.segmented_control(key="why_method").set_value("occlusion")
    assert "why" in page.run().pictures


def test_the_duel_over_texts_begins_and_continues(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:

    row = Row(0, tuple((0.5 - n / 20, n / 20) for n in range(10)), (True,) * 5 + (False,) * 4)

    def few(*_: object, done: tuple[Row, ...], **__: object):
        yield from (row, row)
        if not done:
            raise InputError("Wait 5 seconds.")

    monkeypatch.setattr(controls, "duels", few)
    page = visit(PAGE, text=TEXT, why_tab="50 texts")
    assert "why-texts" not in page.pictures
    page.click("Compare over 50 shipped texts")
    assert "Wait 5 seconds" in page.warnings
    assert "Means over 2 shipped texts" in page.words  # what was measured is not lost
    page.click("Continue after 2")
    assert "Means over 4 shipped texts" in page.words and "why-texts" in page.pictures
    assert page.run().pictures["why-texts"]


def test_nasty_texts_never_become_markup(visit: Callable, nasty: str) -> None:
    page = visit(PAGE).type(f"the [MASK] {nasty}")
    assert page.errors == ""
    shown = page.markup + json.dumps(page.pictures)
    assert "<script" not in shown and "<img" not in shown


def test_what_cannot_be_explained_gets_a_sentence(visit: Callable) -> None:
    assert "no \\[MASK\\]" in visit(PAGE).type("the cat").warnings
    assert "no \\[MASK\\]" in visit(PAGE).type("").warnings


def test_the_page_can_be_taken_along_as_code(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT)
    assert any("attribute(model, encoding, target" in code.value for code in page.at.code)

"""Test the question-answering page by driving it as a visitor would."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.catalog import examples
from app.features.qa import view as view
from app.features.qa.task import qa
from app.models import Engine

PAGE = "pages/5_qa.py"
PASSAGE = "The cat sat on the mat. The dog sat on the river bank."


def numbers(page) -> list[dict]:
    """Return the traces of the page's chart."""
    chart = page.at.get("plotly_chart")[0]
    return list(json.loads(chart.proto.spec)["data"])


def frames(page) -> dict[str, object]:
    """Return the page's tables, by the name of their first column."""
    return {frame.value.columns[0]: frame.value for frame in page.at.dataframe}


def test_the_page_opens_with_an_answer_marked_in_the_passage(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.at.title[0].value == "Question answering"
    assert page.at.text_area(key="question").value == examples("qa")[0].values["question"]
    assert page.markup.count('role="status"') == 1
    assert "bx-qa-mark" in page.markup
    assert "no-answer score" in page.words
    assert page.warnings == page.errors == ""


@pytest.mark.parametrize("example", examples("qa"), ids=lambda row: row.label)
def test_every_example_is_answered_and_says_what_to_look_at(visit: Callable, example) -> None:
    page = visit(PAGE).click(example.label)
    assert page.at.text_area(key="text").value == example.values["text"]
    assert page.at.text_area(key="question").value == example.values["question"]
    notes = [caption.value for caption in page.at.caption if "visibility" in caption.value]
    assert len(notes) == 1
    assert example.note[:30] in notes[0].replace("\\", "")


def test_what_is_shown_is_what_the_task_found(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, text=PASSAGE, question="the cat?", answers="3", longest="4")
    result = qa(tiny_engine, PASSAGE, "the cat?", answers=3, longest=4)
    table = frames(page)["answer"]
    assert len(result.answers) == 3
    texts = [PASSAGE[each.start : each.end] for answer in result.answers for each in answer.places]
    assert table["text"].tolist() == [*texts, "(no answer)"]
    assert table["probability"].iloc[-1] == pytest.approx(result.null_probability)
    assert view.percent(result.probability) in page.words
    start, end = numbers(page)
    assert start["name"] == "start"
    assert end["name"] == "end"


def test_the_threshold_turns_the_verdict(visit: Callable) -> None:
    address = {"text": PASSAGE, "question": "the cat?"}
    score = float(frames(visit(PAGE, **address))["answer"]["score"].max())
    low = visit(PAGE, **address, threshold="-15.0")
    high = visit(PAGE, **address, threshold="15.0")
    assert "does not seem to answer this" in low.words
    assert "not accepted" in low.words
    assert "does not seem to answer this" not in high.words
    assert "threshold −15.0" in low.words
    assert f"{score:.2f}" in low.words
    assert f"{score:.2f}" in high.words


def test_every_picture_has_words_and_a_table(visit: Callable) -> None:
    for picture, kind in (("curves", "scatter"), ("logits", "scatter"), ("pairs", "heatmap")):
        page = visit(PAGE, text=PASSAGE, question="the cat?")
        page.at.button_group(key="picture").set_value(picture)
        page.run()
        assert numbers(page)[0]["type"] == kind
        assert len(page.at.get("plotly_chart")[0].proto.alt) > 40
        assert any(name in frames(page) for name in ("word", "start word"))


def test_several_questions_are_answered_in_one_table(visit: Callable) -> None:
    page = visit(PAGE, text=PASSAGE, question="the cat?\n\n  the dog sat?  ")
    table = frames(page)["question"]
    assert table["question"].tolist() == ["the cat?", "the dog sat?"]
    page.at.button_group(key="ask").set_value(1)
    page.run()
    assert page.errors == page.warnings == ""
    assert page.markup.count('role="status"') == 1


def test_a_sentence_can_be_taken_out(visit: Callable) -> None:
    page = visit(PAGE, text=PASSAGE, question="the cat?")
    box = page.at.selectbox(key="_without")
    assert len(box.options) == 2
    assert sum("the answer starts here" in option for option in box.options) == 1
    box.select_index(0)
    page.run()
    assert "Without it the best span" in page.words
    assert page.markup.count('role="status"') == 3
    page.type("the dog. the cat. the mat.")
    assert page.errors == page.warnings == ""


def test_taking_out_the_only_sentence_is_a_friendly_warning(visit: Callable) -> None:
    page = visit(PAGE, text="the cat sat", question="the cat?")
    page.at.selectbox(key="_without").select_index(0)
    page.run()
    assert "passage has no text" in page.warnings


def test_a_long_passage_is_read_in_windows_and_the_page_says_so(visit: Callable) -> None:
    page = visit(PAGE, question="the cat?").type("the cat sat on the mat. " * 40)
    assert "280 pieces were read in" in page.words
    assert "bx-qa-strip" in page.markup
    assert len(frames(page)["word"]) == 280
    assert page.warnings == page.errors == ""


def test_a_question_too_long_is_refused_with_numbers(visit: Callable) -> None:
    page = visit(PAGE, text=PASSAGE, question="the cat " * 20)
    assert "40 pieces" in page.warnings
    assert "at most 24" in page.warnings


def test_too_many_questions_are_refused_with_numbers(visit: Callable) -> None:
    page = visit(PAGE, text=PASSAGE, question="cat?\n" * 11)
    assert "11 questions" in page.warnings


@pytest.mark.parametrize("key", ["text", "question"])
def test_an_empty_box_is_met_with_an_invitation(visit: Callable, key: str) -> None:
    page = visit(PAGE).type(" ", key=key)
    assert "pick an example" in page.at.info[0].value
    assert 'role="status"' not in page.markup


def test_a_text_of_invisible_characters_is_a_friendly_warning(visit: Callable) -> None:
    page = visit(PAGE).type("\u200b\x01")
    assert "has no text that the model can read" in page.warnings


def test_nasty_texts_never_become_markup(visit: Callable, nasty: str) -> None:
    page = visit(PAGE).type(f"a {nasty} b. {nasty} c")
    page.type(f"the {nasty[:14].splitlines()[0]}?", key="question")
    assert page.errors == ""
    for body in [page.markup, *(option for box in page.at.selectbox for option in box.options)]:
        assert "<script" not in body or "\\<script" in body
        assert "<img" not in body or "\\<img" in body
    assert "<script" not in page.markup
    assert "<img" not in page.markup
    assert 'role="status"' in page.markup


def test_settings_out_of_range_in_the_address_are_ignored(visit: Callable) -> None:
    page = visit(PAGE, answers="9999", longest="-3", threshold="1e9", picture="nothing", ask="7")
    assert 1 <= page.at.slider(key="answers").value <= 20
    assert 1 <= page.at.slider(key="longest").value <= 60
    assert page.errors == page.warnings == ""


def test_an_untrained_head_is_announced_before_any_number(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, untrained_folder: Path
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    assert "bx-caution" in visit(PAGE).markup  # shown without any number
    page = visit(PAGE, noise="true")
    assert "no trained weights" in page.words
    assert page.markup.index("no trained weights") < page.markup.index('role="status"')
    assert "qa_outputs.weight" in page.words


def test_the_rules_on_answers_can_be_lifted_in_the_address(visit: Callable) -> None:
    address = {"text": PASSAGE, "question": "the cat?"}
    strict = visit(PAGE, **address)
    free = visit(PAGE, **address, whole="false", single="false")
    assert "(of whole words, within one sentence)" in strict.words
    assert "(of whole words" not in free.words
    assert [toggle.value for toggle in free.at.toggle] == [False, False]

"""Pages: the form of each feature, and what is shown for it."""

import json
import re
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from app.catalog import examples
from app.declared import Declared, all_declared, declared
from app.faces.gradio import lessons
from app.faces.gradio.face import QUEUED, SESSIONS
from app.faces.gradio.widgets import ANY, NO, YES, filled, model_choices, read, widget
from app.faces.gradio.written import write
from app.lessons.shelf import mostly_about, shelf
from tests.app.faces.gradio.conftest import Served
from tests.app.features.atlas.conftest import few_texts  # noqa: F401
from tests.compat.gradio import most_sessions, queue_limits
from tests.conftest import NASTY

EVERY = pytest.mark.parametrize("feature", all_declared(), ids=lambda each: each.feature.slug)
pytestmark = pytest.mark.usefixtures("few_texts")
STRANGE = [(each, NASTY["script"]) for each in all_declared()]
STRANGE += [(declared("fill_mask"), text) for text in NASTY.values()]


def values(feature: Declared, number: int = 0) -> dict[str, Any]:
    found = feature.examples
    return feature.example_values(found[number].values) if found else {}


# -- the form --------------------------------------------------------------------------------------


@EVERY
def test_every_parameter_has_a_labelled_widget_with_its_range(feature: Declared) -> None:
    for each in feature.parameters:
        drawn: Any = widget(each)
        assert drawn.label == each.field.label
        if isinstance(drawn, gr.Slider | gr.Number):
            assert (drawn.minimum, drawn.maximum) == (each.field.low, each.field.high)
        if isinstance(drawn, gr.Dropdown):
            models = ["", *(name for _, name in model_choices())] if each.field.model else None
            assert [value for _, value in drawn.choices] == (models or list(each.choices))


@EVERY
def test_what_an_example_puts_into_the_form_is_what_the_task_gets(feature: Declared) -> None:
    for number in range(len(feature.examples)):
        given = values(feature, number)
        shown = read(feature, filled(feature, given))
        assert feature.read(shown) == feature.read(
            {each.name: each.default for each in feature.parameters} | given
        )


def test_a_choice_that_may_be_left_to_the_model_has_three_answers() -> None:
    feature = declared("tokenizer")
    (given,) = [each for each in feature.parameters if each.kind is bool and each.optional]
    for words, value in ((ANY, None), (YES, True), (NO, False)):
        form = filled(feature, {"text": "x", given.name: value})
        assert words in form
        assert read(feature, form)[given.name] is value


# -- what is shown ---------------------------------------------------------------------------------


@EVERY
def test_a_page_shows_report_caution_and_model_and_its_lessons_behind_question_marks(
    tiny_model: Path, feature: Declared
) -> None:
    shorter: dict[str, dict[str, object]] = {
        "lab_finetune": {"steps": 10}, "data": {"table": "text\nthe cat"},
    }  # fmt: skip
    short = shorter.get(feature.feature.slug, {})
    found = write(feature, values(feature) | short, "")
    markup = str(found.markup)
    assert found.json is not None, markup
    for part in ("bx-headline", feature.feature.beware, "tiny-model", "weights "):
        assert part in markup
    named = set(re.findall(r'href="lessons\?lesson=([\w-]+)"', markup))
    if 'class="bx-hint"' in markup:
        assert named == {each.slug for each in mostly_about(feature.feature.folder)}
    assert "bx-hint-end" not in markup and 'data-pick="lesson"' not in markup


def test_a_page_says_what_to_look_at_in_an_example(tiny_model: Path) -> None:
    feature = declared("fill_mask")
    assert examples("fill_mask")[0].note in str(write(feature, values(feature), "").markup)
    assert "bx-example" not in str(write(feature, {"text": "the cat"}, "").markup)
    assert "bx-example" not in str(write(feature, {**values(feature), "shuffle": 3}, "").markup)


@pytest.mark.parametrize(("feature", "nasty"), STRANGE)
def test_texts_of_strangers_stay_text(tiny_model: Path, feature: Declared, nasty: str) -> None:
    texts = {each.name: nasty for each in feature.parameters if each.kind is str and each.required}
    markup = str(write(feature, values(feature) | texts, nasty[:5] if "<" in nasty else "").markup)
    assert "<script" not in markup and "<img src=x" not in markup


def test_a_page_names_the_head_that_was_not_trained(
    untrained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    for feature in (each for each in all_declared() if each.feature.needs):
        found = write(feature, values(feature), "")
        assert found.json is None and "bx-headline" not in str(found.markup)
        assert "has no trained weights for this page" in str(found.markup)
        assert "Choose explorer-mini-uncased instead." in str(found.markup)


@pytest.mark.parametrize(
    ("given", "model", "says"),
    [
        ({"text": " "}, "", "The text is empty"),
        ({"text": "cat", "top_k": 1e9}, "", "top_k: found"),
        ({"text": "cat"}, "<b>", "&lt;b&gt;"),
    ],
)
def test_a_page_says_why_there_is_no_result(
    tiny_model: Path, given: dict[str, object], model: object, says: str
) -> None:
    found = write(declared("fill_mask"), given, model)
    assert found.json is None
    assert says in str(found.markup) and 'class="bx-note' in str(found.markup)


# -- as served -------------------------------------------------------------------------------------


def test_every_page_is_served_with_its_own_form(served: Served) -> None:
    config = served.get("config").json()
    labels = {each["id"]: each["props"].get("label") for each in config["components"]}
    for feature in all_declared():
        own = {labels[number] for number in config["page"][feature.feature.slug]["components"]}
        assert {each.field.label for each in feature.parameters} <= own


def asked(served: Served, page: str, number: int, data: list[Any], **query: str) -> list[Any]:
    """Run one of a page's functions as a browser does; return what it puts into the page."""
    functions = [
        each
        for each in served.get(f"config?page={page}").json()["dependencies"]
        if each["backend_fn"] and each["api_visibility"] == "private"
    ]
    body = {"data": data, "fn_index": functions[number]["id"], "session_hash": "me"}
    assert served.post("queue/join", body, params=query).status_code == 200
    stream = served.get("gradio_api/queue/data?session_hash=me").text
    messages = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]
    (done,) = [each for each in messages if each["msg"] == "process_completed"]
    assert done["success"], done
    found: list[Any] = done["output"]["data"]
    return found


def test_the_button_shows_the_answer_and_an_example_fills_the_form(served: Served) -> None:
    assert served.get("fill_mask").status_code == 200
    markup, found = asked(served, "fill_mask", 0, ["the [MASK] sat", 3, "", 0, ""])
    assert "bx-headline" in markup and len(found["slots"][0]["candidates"]) == 3
    row = examples("fill_mask")[2]
    assert asked(served, "fill_mask", 1, [row.label])[0] == row.values["text"]
    assert {each[0] for each in served.connected} <= {"127.0.0.1", "::1"} and served.connected


def test_a_new_page_shows_the_text_of_its_address(served: Served) -> None:
    opened = asked(served, "fill_mask", 3, ["{}"], text="a [MASK]", model="tiny-model0")
    text, *_, model, example, unfit = opened
    assert unfit == "" and example is None
    assert text == "a [MASK]"
    assert model["value"] == "tiny-model0"
    assert "explorer-mini-uncased" in str(model["choices"])
    text, *_, example, remark = asked(served, "fill_mask", 3, [None], model="<b>unknown")
    assert example == examples("fill_mask")[0].label
    assert "asks for the model “&lt;b&gt;unknown”, which is not offered here" in remark
    assert text == examples("fill_mask")[0].values["text"]


def test_functions_of_pages_cannot_be_called_by_programs(served: Served) -> None:
    for each in served.get("config?page=fill_mask").json()["dependencies"]:
        if each["api_visibility"] == "private":
            found = served.post("run/anything", {"data": [], "fn_index": each["id"]})
            assert found.status_code == 404 and "data" not in found.json()


def test_what_is_remembered_is_bounded(served: Served) -> None:
    face = served.blocks
    assert most_sessions(face) == SESSIONS
    assert queue_limits(face) == (QUEUED, 1)
    assert not face.analytics_enabled


def test_a_lesson_is_written_with_its_answers_and_an_unknown_one_is_said(tiny_model: Path) -> None:
    found = lessons._written("pieces", "")
    assert found.count("bx-reveal") == len(shelf().lessons["pieces"].steps)
    assert "There is no lesson named" in lessons._written("<script>", "")
    assert "<script" not in lessons._written("<script>", "")

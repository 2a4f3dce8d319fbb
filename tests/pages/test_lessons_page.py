"""The player: covered until there is a guess, then the answer beside it; nothing else is drawn."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.catalog import feature
from app.declared import declared
from app.engine.models import open_engine
from app.faces.streamlit.lesson_way import address_of
from app.lessons.claims import looked
from app.lessons.records import Step
from app.lessons.shelf import shelf
from tests.app.lessons.test_reading import LESSON

PAGE = "pages/17_lessons.py"
COVER, STATUS = 'class="bx-cover"', 'class="bx-reveal"'

Visit = Callable[..., Any]


@pytest.fixture(autouse=True)
def bundled_model(tiny_model: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERT_EXPLORER_MODEL")


def guess(page: Any, number: int, key: str) -> Any:
    return page.choose(key, number)


def show(page: Any) -> Any:
    return page.click("Show")


def test_a_step_is_covered_until_there_is_a_guess_and_then_shows_the_picture_of_its_page(
    visit: Visit,
) -> None:
    page = visit(PAGE, lesson="both-sides", step="2")
    assert COVER in page.markup and page.pictures == {} and "dentist" not in page.words
    assert next(each for each in page.at.button if each.label == "Show").disabled
    show(guess(page, 0, "_guess_both-sides-2"))
    assert COVER not in page.markup and "fill-mask-1" in page.pictures
    assert "You: teacher, as before" in page.words and "The model: dentist" in page.words
    assert "stopped at the gap" in page.words  # the reply to what was guessed
    assert 'data-done="both-sides 2"' in page.markup and STATUS in page.markup
    assert "17" in page.words and "20" in page.words


def test_a_number_is_drawn_on_one_axis_with_the_truth(visit: Visit) -> None:
    page = visit(PAGE, lesson="pieces", step="3")
    show(page.choose("_guess_pieces-3", 30))
    (axis,) = (each for name, each in page.pictures.items() if name == "guess")
    (its,) = set(re.findall(r"the model: ([\d.]+ %)", axis))
    assert "you: 30 %" in axis and f"{its}. The first guess" in page.words  # one number, once more


def test_a_word_of_ones_own_gets_its_place_in_the_picture(visit: Visit) -> None:
    page = visit(PAGE, lesson="both-sides", step="1")
    show(page.choose("_guess_both-sides-1", "<b>coach</b>"))
    assert "<b>coach" not in page.markup and "<b>coach</b>" in page.words
    page = visit(PAGE, lesson="both-sides", step="1")
    show(page.choose("_guess_both-sides-1", "coach"))
    assert "coach" in page.pictures["fill-mask-1"] and "You: coach, with" in page.words


def test_the_reason_comes_before_the_change_and_every_reason_is_answered(visit: Visit) -> None:
    longest = "It takes the longest piece that fits, again and again."
    replies = {each.say: each.reply for each in shelf().lessons["pieces"].steps[0].why.choices}
    page = visit(PAGE, lesson="pieces", step="1")
    show(guess(page, 2, "_guess_pieces-1"))
    assert not page.at.text_area and "Your turn" not in page.words
    page.click("The word is too long.")
    assert "“understanding” is longer, and it is 1 piece" in page.words
    page.click("Another reason").click(longest)
    assert replies[longest] in page.words
    assert "Your turn" in page.words
    page.type("cat", key="_edit_pieces-1_text")
    assert "1 in all: cat" in page.words
    page.type("<script>", key="_edit_pieces-1_text")
    assert "<script>" in page.words and "<script>" not in page.markup


def test_at_the_end_are_the_guesses_what_it_rests_on_and_the_next_lesson(visit: Visit) -> None:
    page = visit(PAGE, lesson="both-sides", step="4")
    show(page.choose("_guess_both-sides-4", 3))
    page.at.session_state["step"] = 7
    page.run()
    assert "With the end cut off – you: 3; the model: 24" in page.words
    assert "17 of 20 (95 % interval 64 % to 95 %). Tested: more than half: p = 0.0026" in page.words
    assert "not a random sample" in page.words and "(Wilson)" in page.words
    labels = [each.label for each in page.at.button]
    assert "Next lesson: Does it know, or does it just repeat?" in labels
    assert "Fill-mask" in labels


@pytest.mark.parametrize(
    "slug",
    [pytest.param(s, marks=() if s == "pieces" else pytest.mark.slow) for s in shelf().lessons],
)
def test_a_lesson_reads_as_a_page_with_everything_open(visit: Visit, slug: str) -> None:
    page = visit(PAGE, lesson=slug, read="true")
    assert (page.errors, page.warnings) == ("", "")
    found = shelf().lessons[slug]
    assert COVER not in page.markup and re.findall(r"\{[\w.]+[:}]", page.words) == []
    assert "[[" not in page.words
    assert page.markup.count(STATUS) == len(found.steps)
    for step in found.steps:
        assert step.heading in page.words
        for choice in step.question.choices if step.question else ():
            assert choice.reply.partition("{")[0] in page.words
    assert found.last in page.words


def test_the_list_has_every_lesson_and_what_was_done_is_only_marked_in_the_browser(
    visit: Visit,
) -> None:
    page = visit(PAGE)
    for slug, found in shelf().lessons.items():
        assert f'data-tick="{slug}"' in page.markup and found.goal in page.words
    assert 'data-clear="ticks"' in page.markup


@pytest.mark.parametrize("name", ["<b>x</b>", "../pieces", "pieces.toml", "PIECES"])
def test_an_unknown_lesson_is_named_and_all_are_listed(visit: Visit, name: str) -> None:
    page = visit(PAGE, lesson=name)
    assert "There is no lesson named" in page.warnings and "<b>" not in page.markup
    assert "data-tick" in page.markup


def links() -> list[Any]:
    """Return the first step of each page, and the others as slow."""
    found, pages = [], set()
    for slug, each in shelf().lessons.items():
        for number, step in enumerate(each.steps, 1):
            seen = (step.page, *step.look.values)
            marks = pytest.mark.slow if seen in pages else ()
            pages.add(seen)
            found.append(pytest.param(step, id=f"{slug} {number}", marks=marks))
    return found


@pytest.mark.parametrize("step", links())
def test_a_page_opens_with_what_the_step_looks_at(visit: Visit, step: Step) -> None:
    task = declared(step.page)
    values = looked(open_engine(), step.look).values
    address = address_of(step.page, values)
    page = visit(feature(task.feature.folder).page, **address)
    assert not any("Left out" in each.value for each in page.at.caption)
    for each in task.parameters:
        if each.name in values and each.key not in NOT_ON_THE_PAGE:
            state = page.at.session_state
            shown = state[each.key] if each.key in state else page.at.query_params[each.key]
            assert str(shown) == str(values[each.name]), each.name


NOT_ON_THE_PAGE = {"alone"}
"""Parameters with which a lesson asks for less than a page would show."""


def test_another_model_is_counted_itself_and_told_from_the_one_a_lesson_was_written_for(
    visit: Visit, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tiny_model))
    page = visit(PAGE, lesson="pieces", step="1")
    show(guess(page, 0, "_guess_pieces-1"))
    assert "This model does not show what the lesson was written for" in page.words
    page.at.session_state["step"] = 7
    page.run()
    assert "This model does not show it." in page.words


def test_an_operators_lesson_is_listed_and_its_words_stay_text(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LESSON.replace('"Know it."', '"<script>alert(1)</script>"')
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    (tmp_path / "bad.toml").write_text("x = 1", encoding="utf-8")
    monkeypatch.setenv("BERT_EXPLORER_LESSONS", str(tmp_path))
    page = visit(PAGE)
    assert "this key is missing." in page.warnings
    assert "<script>alert(1)</script>" in page.words and "<script" not in page.markup
    assert "The sun is" in visit(PAGE, lesson="mine").words


@pytest.mark.parametrize(("slug", "name"), [("reasons", "pieces"), ("one-head", "heads")])
def test_what_is_pointed_at_is_marked_beside_the_right_one(
    visit: Visit, slug: str, name: str
) -> None:
    number = {"reasons": 1, "one-head": 2}[slug]
    page = visit(PAGE, lesson=slug, step=str(number))
    assert 'data-rove="' in page.markup and '"bx-pointed"' not in page.markup
    assert next(each for each in page.at.button if each.label == "Show").disabled
    page = page.pick("point", 1)
    assert page.markup.count('aria-pressed="true"') == 1
    page = page.pick("point", 10_000)
    assert page.markup.count('aria-pressed="true"') == 1
    show(page)
    assert "data-pick" not in page.markup.partition("bx-points")[2].partition("</div>")[0]
    right = {"pieces": "[CLS]: the model", "heads": "head 10 of layer 4: the model"}[name]
    mine = {"pieces": "the: you", "heads": "head 0 of layer 1: you"}[name]
    assert f'aria-label="{right}"' in page.markup and f'aria-label="{mine}"' in page.markup


def test_a_count_says_how_far_it_can_be_trusted(visit: Visit) -> None:
    page = visit(PAGE, lesson="not", step="1")
    assert "95 % interval" not in page.words
    show(guess(page, 1, "_guess_not-1"))
    assert "30 of 31 (95 % interval 84 % to 99 %)" in page.words

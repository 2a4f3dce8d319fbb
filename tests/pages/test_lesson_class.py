"""The teacher's side of a class: every kind of question is asked, counted and answered."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.faces.streamlit.lesson_class import votes_table
from app.lessons.shelf import shelf
from app.records.served import CLASSES
from app.rooms.records import Room
from app.rooms.store import ROOMS
from app.rooms.turns import joined, voted

PAGE = "pages/17_lessons.py"
FIRST = ("pieces", "both-sides", "order")  # all kinds of questions are in these

Visit = Callable[..., Any]


@pytest.fixture(autouse=True)
def served(tiny_model: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("BERT_EXPLORER_MODEL")
    CLASSES.set()
    before = set(ROOMS.codes)
    yield
    CLASSES.clear()
    for code in set(ROOMS.codes) - before:
        ROOMS.end(code)


def only_room() -> Room:
    (code,) = ROOMS.codes
    found = ROOMS.find(code)
    assert found is not None
    return found


def vote(guess: object) -> None:
    room = only_room()
    ROOMS.change(room.code, joined("student", 9))
    ROOMS.change(room.code, voted("student", room.stage, guess, 30))


@pytest.mark.parametrize(
    "slug",
    [pytest.param(s, marks=() if s in FIRST else pytest.mark.slow) for s in shelf().lessons],
)
def test_every_step_is_asked_voted_on_and_answered_as_the_lesson_does(
    visit: Visit, slug: str
) -> None:
    page = visit(PAGE, lesson=slug).click("Start a class")
    for number, step in enumerate(shelf().lessons[slug].steps, 1):
        board = only_room().board
        assert board is not None and board.card.step == number and board.phase == "ask"
        card, asked = board.card, f"{board.card}"
        assert "[[" not in asked and "{" not in asked.replace("{}", "") and card.say
        assert 'class="bx-cover"' not in page.markup and page.pictures == {}
        assert (card.kind == "look") == (step.question is None)
        if step.question:
            guess = {"choose": 0, "number": card.ends[0], "word": "teacher"}[card.kind]
            vote(guess)
            page.click("Show votes").click("Vote again")
            vote(guess)
        page.click("Show the answer")
        board = only_room().board
        assert board is not None and board.truth is not None and board.phase == "revealed"
        assert 'class="bx-reveal"' in page.markup and page.errors == ""
        if step.question:
            assert board.truth.says and 'class="bx-turn"' in page.markup  # the question stays
            if card.kind == "choose":
                assert len(board.truth.replies) in (0, len(card.choices))
                assert sum(bar.first for bar in board.bars()) == 1
                assert sum(bar.right for bar in board.bars()) == 1
            if card.kind == "number":
                assert sum(bar.right for bar in board.bars()) == 1
            if card.kind == "word":
                assert 0 < (board.words()[0].chance or 0) < 1
        page.click("Next")
    board = only_room().board
    assert board is not None and board.card.heading == "Takeaway"


def test_a_class_is_offered_only_where_students_can_join(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered() -> bool:
        return "Start a class" in [each.label for each in visit(PAGE, lesson="not").at.button]

    assert offered()
    monkeypatch.setenv("BERT_EXPLORER_CLASSES", "off")
    assert not offered()
    monkeypatch.delenv("BERT_EXPLORER_CLASSES")
    CLASSES.clear()
    assert not offered()


def test_a_lesson_can_be_changed_with_the_class_and_a_wrong_link_is_said(visit: Visit) -> None:
    page = visit(PAGE, lesson="not").click("Start a class")
    vote(0)
    page.at.query_params["lesson"] = "pieces"
    page.run()
    assert 'class="bx-cover"' in page.markup  # a visitor alone, here
    page.click("Bring the class here")
    room = only_room()
    assert room.lesson == "pieces" and room.members == {"student"}
    assert room.board is not None and room.board.card.step == 1 and room.board.votes == ({}, {})
    page.click("End it now")
    assert ROOMS.codes == ()
    page = visit(PAGE, **{"lesson": "not", "class": f"{room.code}.{room.key}"})
    assert "There is no class behind this link" in page.warnings and room.key not in page.markup


def test_a_class_ends_at_the_second_click_and_its_votes_can_be_saved(visit: Visit) -> None:
    page = visit(PAGE, lesson="both-sides").click("Start a class")
    vote("=1+1")
    labels = [each.label for each in page.at.button]
    assert "End the class" not in labels and "End it now" in labels  # behind a popover
    assert [each.proto.label for each in page.at.get("download_button")][:1] == [
        "Save the votes (CSV)"
    ]
    page.click("Show votes").click("Vote again")
    vote("teacher")
    found = votes_table(only_room()).to_dict("records")
    asked = only_room().boards[1].card.ask
    assert [(row["question"], row["answer"]) for row in found] == [
        (asked, "'=1+1"), (asked, "teacher"),
    ]  # fmt: skip
    assert [row["votes"] for row in found] == [1, 0]
    assert [row["votes after talking"] for row in found] == [0, 1]


def test_the_link_of_the_class_page_starts_one_with_the_lesson_that_is_chosen(
    visit: Visit,
) -> None:
    page = visit(PAGE, **{"class": "new"})
    assert [box.value for box in page.at.info] == ["Choose a lesson: your class begins with it."]
    assert ROOMS.codes == ()
    page = visit(PAGE, **{"lesson": "pieces", "class": "new"})
    assert only_room().lesson == "pieces" and "class" not in page.at.query_params

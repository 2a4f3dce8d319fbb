"""The state machine of a class, by table: what may follow what, what is a vote, what is counted."""

from collections.abc import Callable
from typing import get_args

import pytest

from app.rooms.records import Card, Phase, Room, RoomError, Truth
from app.rooms.turns import (
    Turn,
    again,
    checked,
    hidden,
    joined,
    left,
    moved,
    revealed,
    shown,
    voted,
)

CHOOSE = Card(1, "A gap", "Which?", ("The [MASK].",), "choose", ("paris", "lyon", "rome"))
NUMBER = Card(2, "How much", "How much?", (), "number", (), (0, 100), "%")
WORD = Card(3, "A word", "Yours?", (), "word")
LOOK = Card(4, "Look", "")
TRUTH = Truth("paris", "It was paris.", 0, None, ("yes", "no", "no"))
TURNS: dict[str, Callable[[], Turn]] = {
    "show": shown,
    "again": again,
    "reveal": lambda: revealed(TRUTH),
}
TABLE: dict[Phase, dict[str, Phase]] = {
    "ask": {"show": "shown", "reveal": "revealed"},
    "shown": {"again": "again", "reveal": "revealed"},
    "again": {"reveal": "revealed"},
    "revealed": {},
}


def room(*turns: Turn, card: Card = CHOOSE) -> Room:
    """Return a room in which a card is asked and turns were taken."""
    found = Room("ACDEFG", "key", "net", frozenset({"t"}), "lesson", "Title")
    for turn in (moved(card, "lesson", "Title"), joined("a", 9), joined("b", 9), *turns):
        found = turn(found)
    return found


def in_phase(phase: Phase, card: Card = CHOOSE) -> Room:
    ways: dict[Phase, tuple[Turn, ...]] = {
        "ask": (),
        "shown": (shown(),),
        "again": (shown(), again()),
        "revealed": (revealed(TRUTH),),
    }
    return room(*ways[phase], card=card)


def vote(found: Room, member: str, guess: object) -> Room:
    return voted(member, found.stage, guess, 10)(found)


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("phase", get_args(Phase))
def test_only_what_the_table_has_can_follow(phase: Phase, turn: str) -> None:
    before = in_phase(phase)
    if turn not in TABLE[phase]:
        with pytest.raises(RoomError, match="This cannot follow now: the question is"):
            TURNS[turn]()(before)
        return
    after = TURNS[turn]()(before)
    assert after.board is not None and after.board.phase == TABLE[phase][turn]
    assert after.stage == before.stage + 1


@pytest.mark.parametrize("phase", ["ask", "again"])
def test_a_vote_is_changed_and_not_added(phase: Phase) -> None:
    after = vote(vote(in_phase(phase), "a", 1), "a", 2).board
    assert after is not None and after.votes[phase == "again"] == {"a": 2}
    assert after.votes[phase != "again"] == {}


@pytest.mark.parametrize(
    ("found", "member", "stage", "why"),
    [
        (in_phase("shown"), "a", None, "Votes are closed now"),
        (in_phase("revealed"), "a", None, "Votes are closed now"),
        (room(card=LOOK), "a", None, "Votes are closed now"),
        (room(), "a", 0, "The class has gone on"),
        (room(), "forged", None, "not joined"),
        (Room("ACDEFG", "key", "net", frozenset(), "", ""), "a", None, "Nothing has been asked"),
    ],
)
def test_a_vote_that_is_not_asked_for_is_refused(
    found: Room, member: str, stage: int | None, why: str
) -> None:
    with pytest.raises(RoomError, match=why):
        voted(member, found.stage if stage is None else stage, 1, 10)(found)


@pytest.mark.parametrize(
    ("card", "good", "bad"),
    [
        (CHOOSE, [0, 2], [3, -1, True, 1.0, "1", None, [1], {"a": 1}, 10**30]),
        (NUMBER, [0, 100], [101, -1, 0.5, False, "5", None]),
        (
            WORD,
            ["x", "<b>y</b>", "d’été"],
            ["", " ", "a b", "x" * 11, "a\nb", "\u202ex", "\0", 5, None],
        ),
    ],
)
def test_a_guess_is_an_answer_to_the_question_or_is_refused(
    card: Card, good: list[object], bad: list[object]
) -> None:
    assert [checked(card, each, 10) for each in good] == good
    for each in bad:
        with pytest.raises(RoomError):
            checked(card, each, 10)


def test_both_rounds_are_counted_beside_the_truth_and_who_leaves_keeps_the_vote() -> None:
    found = vote(vote(room(), "a", 1), "b", 1)
    found = again()(shown()(found))
    found = left("b")(vote(found, "a", 0))
    assert found.here == {"a"} and found.members == {"a", "b"}
    assert not any(bar.right for bar in found.boards[1].bars())  # the truth is not known yet
    board = revealed(TRUTH)(found).boards[1]
    assert [(bar.label, bar.first, bar.second, bar.right) for bar in board.bars()] == [
        ("paris", 0, 1, True),
        ("lyon", 2, 0, False),
        ("rome", 0, 0, False),
    ]


def test_numbers_are_counted_in_parts_of_the_scale_that_leave_none_out() -> None:
    for ends in ((0, 100), (1, 7), (-5, 60), (3, 3)):
        card = Card(2, "", "", (), "number", (), ends)
        found = room(*(joined(str(n), 999) for n in range(*ends)), card=card)
        for n in range(ends[0], ends[1] + 1):
            found = vote(joined(str(n), 999)(found), str(n), n)
        bars = found.boards[2].bars()
        assert sum(bar.first for bar in bars) == ends[1] - ends[0] + 1
        assert max(bar.first for bar in bars) - min(bar.first for bar in bars) <= 1
    board = revealed(Truth("0.1 %", "", None, 0.1))(room(card=NUMBER)).boards[2]
    assert [bar.label for bar in board.bars()][::9] == ["0 to 9 %", "90 to 100 %"]
    assert [bar.right for bar in board.bars()] == [True] + [False] * 9


def test_words_are_counted_without_case_and_one_can_be_hidden_and_shown_again() -> None:
    found = vote(vote(room(card=WORD), "a", "Doctor"), "b", "doctor")
    with pytest.raises(RoomError, match="no word to hide"):
        hidden(0, found.stage)(found)  # nobody has seen it yet
    found = shown({"Doctor": 0.25})(found)
    (word,) = found.boards[3].words()
    assert (word.text, word.first, word.chance, word.hidden) == ("Doctor", 2, 0.25, False)
    found = hidden(0, found.stage)(found)
    assert found.boards[3].words()[0].hidden
    assert not hidden(0, found.stage)(found).boards[3].words()[0].hidden
    for place, stage in ((1, found.stage), (0, found.stage - 1)):  # the words may be others now
        with pytest.raises(RoomError, match="no word to hide"):
            hidden(place, stage)(found)


def test_a_step_is_as_it_was_left_and_another_lesson_begins_anew() -> None:
    found = revealed(TRUTH)(vote(room(), "a", 1))
    back = moved(CHOOSE, "lesson", "Title")(moved(NUMBER, "lesson", "Title")(found))
    assert back.board == found.board and back.stage == found.stage + 2
    other = moved(CHOOSE, "other", "Other")(found)
    assert other.board is not None and other.board.votes == ({}, {}) and len(other.boards) == 1
    assert other.members == found.members
    full = left("a")(found)
    assert joined("a", 2)(full).here == {"a", "b"}  # who was there before
    with pytest.raises(RoomError, match="This class is full: 2 have joined"):
        joined("c", 2)(full)

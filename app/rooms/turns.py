"""The state machine: every turn takes a room and returns the next one, or says why it does not.

ask ──show──→ shown ──again──→ again ──reveal──→ revealed
 └──────────────┴────────────────reveal──────────────↗
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.rooms.records import Board, Card, Guess, Phase, Room, RoomError, Truth

Turn = Callable[[Room], Room]
Chances = Mapping[str, float | None]

_FROM: Mapping[Phase, tuple[Phase, ...]] = {
    "shown": ("ask",),
    "again": ("shown",),
    "revealed": ("ask", "shown", "again"),
}


def moved(card: Card, lesson: str, title: str) -> Turn:
    """Show a step; one that was shown before is as it was left."""

    def turn(room: Room) -> Room:
        boards = dict(room.boards) if room.lesson == lesson else {}
        boards.setdefault(card.step, Board(card))
        return replace(
            room, lesson=lesson, title=title, step=card.step, boards=boards, stage=room.stage + 1
        )

    return turn


def shown(chances: Chances | None = None) -> Turn:
    """Close the first round, and show its votes."""
    return lambda room: _advanced(room, "shown", chances=chances or {})


def again() -> Turn:
    """Ask once more; the votes of the first round stay."""
    return lambda room: _advanced(room, "again")


def revealed(truth: Truth, chances: Chances | None = None) -> Turn:
    """Close the votes, and show what the model does."""
    return lambda room: _advanced(room, "revealed", truth=truth, chances=chances or {})


def hidden(place: int, stage: int) -> Turn:
    """Hide the word at a place of `Board.words`, or show it again.

    Args:
        place: of the word.
        stage: the stage of the room in which the teacher saw it there.
    """

    def turn(room: Room) -> Room:
        board = _board(room)
        words = board.words()
        if stage != room.stage or board.is_open or not 0 <= place < len(words):
            raise RoomError("closed", "There is no word to hide.")
        name = frozenset({words[place].text.casefold()})
        return _with(room, replace(board, hidden=board.hidden ^ name), room.stage + 1)

    return turn


def joined(member: str, most: int) -> Turn:
    """Let a browser in, or in again."""

    def turn(room: Room) -> Room:
        if member not in room.members and len(room.members) >= most:
            raise RoomError(
                "full", f"This class is full: {most} have joined, as many as this site takes."
            )
        return replace(room, members=room.members | {member}, here=room.here | {member})

    return turn


def left(member: str) -> Turn:
    """Note that a browser is gone; its votes stay."""
    return lambda room: replace(room, here=room.here - {member})


def voted(member: str, stage: int, guess: object, most_chars: int) -> Turn:
    """Take a vote, or another one instead of it.

    Args:
        member: who has joined before.
        stage: the stage of the room that the member saw.
        guess: what came from the browser.
        most_chars: the longest word.
    """

    def turn(room: Room) -> Room:
        board = _board(room)
        if member not in room.members:
            raise RoomError("closed", "You have not joined this class. Reload the page.")
        if stage != room.stage:
            raise RoomError("closed", "The class has gone on. Answer what is asked now.")
        if not board.is_open:
            raise RoomError("closed", "Votes are closed now. Look at what the teacher shows.")
        given = {**board.votes[board.round], member: checked(board.card, guess, most_chars)}
        first, second = board.votes
        votes = (first, given) if board.phase == "again" else (given, second)
        return _with(room, replace(board, votes=votes), room.stage)

    return turn


def checked(card: Card, guess: object, most_chars: int) -> Guess:
    """Return a guess, if it is an answer to the question.

    Raises:
        RoomError: it is not; the message says what is expected.
    """
    if card.kind == "word":
        if not isinstance(guess, str):
            raise RoomError("guess", "Write one word.")
        word = guess.strip()
        if not word or len(word) > most_chars or not word.isprintable() or " " in word:
            raise RoomError(
                "guess",
                f"Found {len(word):,} characters; expected one word of 1 to {most_chars}, without "
                "spaces.",
            )
        return word
    low, high = card.ends if card.kind == "number" else (0, len(card.choices) - 1)
    if type(guess) is not int or not low <= guess <= high:
        what = "a whole number" if card.kind == "number" else "the number of a choice"
        raise RoomError("guess", f"This is not {what} from {low} to {high}. Choose again.")
    return guess


def _board(room: Room) -> Board:
    if room.board is None:
        raise RoomError("closed", "Nothing has been asked yet. Wait for the teacher.")
    return room.board


def _advanced(room: Room, phase: Phase, **changes: Any) -> Room:
    board = _board(room)
    if board.phase not in _FROM[phase]:
        now = _NAMES[board.phase]
        raise RoomError("closed", f"This cannot follow now: the question is {now}.")
    return _with(room, replace(board, phase=phase, **changes), room.stage + 1)


_NAMES: Mapping[Phase, str] = {
    "ask": "being asked",
    "shown": "closed, and its votes are shown",
    "again": "asked again",
    "revealed": "answered",
}


def _with(room: Room, board: Board, stage: int) -> Room:
    return replace(room, boards={**room.boards, room.step: board}, stage=stage)

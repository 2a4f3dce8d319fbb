"""A room as what JSON can say, and back."""

from dataclasses import asdict, fields
from typing import Any

from app.rooms.records import Board, Card, Room, Truth

_SETS = ("owners", "members", "here")


def written(room: Room) -> object:
    """Return a room as dictionaries, lists and plain values; votes are not copied."""
    sets = {name: list(getattr(room, name)) for name in _SETS}
    return {**_fields(room), **sets, "boards": [_of_board(each) for each in room.boards.values()]}


def as_room(found: Any) -> Room:
    """Return the room of `written`."""
    sets = {name: frozenset(found[name]) for name in _SETS}
    boards = (_board(each) for each in found["boards"])
    return Room(**{**found, **sets, "boards": {each.card.step: each for each in boards}})


def _fields(of: Room | Board) -> dict[str, Any]:
    return {each.name: getattr(of, each.name) for each in fields(of)}


def _of_board(board: Board) -> dict[str, Any]:
    truth = board.truth and asdict(board.truth)
    own = {"card": asdict(board.card), "truth": truth, "hidden": list(board.hidden)}
    return {**_fields(board), **own}


def _board(found: Any) -> Board:
    truth = found["truth"]
    own = {
        "card": Card(**{**found["card"], **_tuples(found["card"], "given", "choices", "ends")}),
        "truth": truth and Truth(**{**truth, **_tuples(truth, "replies")}),
        "hidden": frozenset(found["hidden"]),
    }
    return Board(**{**found, **_tuples(found, "votes"), **own})


def _tuples(found: Any, *names: str) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(found[name]) for name in names}

"""A room as what JSON can say, and back."""

from dataclasses import asdict
from typing import Any

from app.rooms.records import Board, Card, Room, Truth

_SETS = ("owners", "members", "here")


def written(room: Room) -> object:
    """Return a room as dictionaries, lists and plain values."""
    found = asdict(room)
    boards = [{**each, "hidden": sorted(each["hidden"])} for each in found["boards"].values()]
    return {**found, "boards": boards, **{name: sorted(found[name]) for name in _SETS}}


def as_room(found: Any) -> Room:
    """Return the room of `written`."""
    sets = {name: frozenset(found[name]) for name in _SETS}
    boards = (_board(each) for each in found["boards"])
    return Room(**{**found, **sets, "boards": {each.card.step: each for each in boards}})


def _board(found: Any) -> Board:
    truth = found["truth"] and Truth(
        **{**found["truth"], "replies": _many(found["truth"], "replies")}
    )
    tuples = {name: _many(found["card"], name) for name in ("given", "choices", "ends")}
    return Board(
        **{
            **found,
            "card": Card(**{**found["card"], **tuples}),
            "votes": _many(found, "votes"),
            "truth": truth,
            "hidden": frozenset(found["hidden"]),
        }
    )


def _many(found: Any, name: str) -> tuple[Any, ...]:
    return tuple(found[name])

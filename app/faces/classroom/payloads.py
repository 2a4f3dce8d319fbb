"""What browsers are sent of a room.

Students get neither the answer nor anybody's word before the teacher shows them, and never a key or
the number of a browser.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.rooms.records import Board, Guess, Room

Told = dict[str, Any]


def as_bytes(content: Any) -> bytes:
    """Write a value as JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def for_students(room: Room) -> bytes:
    """Write what all students see; the same for everybody, so it is written once a change."""
    board = room.board
    if board is None:
        return as_bytes({"stage": room.stage, "phase": "wait", "title": room.title})
    card, shown = board.card, board.phase == "revealed"
    told: Told = {
        **asdict(card),
        "stage": room.stage,
        "title": room.title,
        "phase": board.phase,
        "round": board.round,
        "bars": [asdict(each) for each in board.bars()] if _votes_are_shown(board) else [],
        "words": _words(board) if shown else [],
        "truth": asdict(board.truth) if shown and board.truth else None,
    }
    return as_bytes(told)


def for_teacher(room: Room) -> bytes:
    """Write what the teacher's panel shows: counts at any time, words only when they are shown."""
    board = room.board
    told: Told = {"stage": room.stage, "here": len(room.here), "joined": len(room.members)}
    if board is not None:
        told |= {
            "phase": board.phase,
            "kind": board.card.kind,
            "answered": len(board.votes[board.round]),
            "round": board.round,
            "bars": [asdict(each) for each in board.bars()],
            "words": _words(board) if _votes_are_shown(board) else [],
        }
    return as_bytes(told)


def own_votes(room: Room, member: str) -> bytes:
    """Write what one browser has voted, so that it knows after a reload."""
    mine: Mapping[int, list[Guess | None]] = {
        step: [votes.get(member) for votes in board.votes] for step, board in room.boards.items()
    }
    return as_bytes(mine)


def _votes_are_shown(board: Board) -> bool:
    return board.phase in ("shown", "revealed")


def _words(board: Board) -> list[Told]:
    """Return the words; of a hidden one, nothing but its place."""
    rows = enumerate(board.words())
    return [
        {"place": place, "hidden": True} if each.hidden else {"place": place, **asdict(each)}
        for place, each in rows
    ]

"""A room as what JSON can say, and back; what is no room is a `ValueError`."""

from functools import partial

from pydantic import TypeAdapter

from app.rooms.records import Room

_ROOM = TypeAdapter(Room)
written = partial(_ROOM.dump_python, mode="json")
as_room = _ROOM.validate_python

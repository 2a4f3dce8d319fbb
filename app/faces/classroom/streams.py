"""Streams of events: every browser of a class waits on one, and is told of what has changed."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from app.faces.classroom.payloads import as_bytes, for_students, for_teacher, own_votes
from app.rooms.records import Room, RoomError
from app.rooms.store import GONE, Rooms
from app.rooms.turns import joined, left
from app.settings import settings

_BEAT = 15.0  # seconds between signs of life
_GATHER = 0.1  # seconds; votes that come together are told together
_TABS = 3  # streams of one browser in a class


def event(name: str, data: bytes) -> bytes:
    """Write one event; JSON has no line breaks."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def last_event(says: str) -> bytes:
    """Write the event after which a browser does not come back."""
    return event("end", as_bytes({"says": says}))


class Streams:
    """What browsers wait for. One object belongs to one event loop."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._loop = asyncio.get_running_loop()
        self._students: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._teachers: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._written: dict[str, tuple[int, bytes]] = {}
        self._tabs: Counter[tuple[str, str]] = Counter()
        rooms.listen(self._hear)

    async def of_student(self, code: str, member: str) -> AsyncIterator[bytes]:
        """Yield what a student sees, from now to the end of the class."""
        key = (code, member)
        if self._tabs[key] >= _TABS:
            yield last_event(
                f"This class is open in {_TABS} tabs of this browser. Close one of them."
            )
            return
        self._tabs[key] += 1
        try:
            room = self._rooms.change(code, joined(member, settings().members))
            yield event("mine", own_votes(room, member))
            async for each in self._told(code, self._students[code], self._for_students):
                yield each
        except RoomError as error:
            if error.reason != "away":  # a browser comes back after a stream without a last event
                yield last_event(str(error))
        finally:
            self._tabs[key] -= 1
            if not self._tabs[key]:
                del self._tabs[key]
                with suppress(RoomError):
                    self._rooms.change(code, left(member))

    async def of_teacher(self, code: str) -> AsyncIterator[bytes]:
        """Yield what the teacher's panel shows."""
        async for each in self._told(code, self._teachers[code], for_teacher, _GATHER):
            yield each

    async def _told(
        self,
        code: str,
        waiting: set[asyncio.Event],
        written: Callable[[Room], bytes],
        gather: float = 0.0,
    ) -> AsyncIterator[bytes]:
        """Yield what is new for one browser; one that reads slowly gets only the newest."""
        bell, last = asyncio.Event(), b""
        waiting.add(bell)
        try:
            while (room := self._rooms.known(code)) is not None:
                bell.clear()
                new = written(room)
                if new != last:
                    yield event("state", last := new)
                    await asyncio.sleep(gather)
                try:
                    await asyncio.wait_for(bell.wait(), _BEAT)
                except TimeoutError:
                    yield b": still here\n\n"
            yield last_event(GONE.format(settings().hours) if not last else "The class has ended.")
        finally:
            waiting.discard(bell)

    def _for_students(self, room: Room) -> bytes:
        stage, written = self._written.get(room.code, (-1, b""))
        if stage != room.stage:
            written = for_students(room)
            self._written[room.code] = room.stage, written
        return written

    def _hear(self, code: str, public: bool) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._ring, code, public)

    def _ring(self, code: str, public: bool) -> None:
        for bell in self._teachers.get(code, ()):
            bell.set()
        for bell in self._students.get(code, ()) if public else ():
            bell.set()
        if self._rooms.known(code) is None:
            for kept in (self._students, self._teachers, self._written):
                kept.pop(code, None)

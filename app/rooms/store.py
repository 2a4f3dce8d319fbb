"""All rooms of this process, in memory: nothing of them is ever written to a disk.

`Rooms` is the one way to them. What it keeps are values, and a change is a function of one; a store
that several processes share can have the same methods.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from app.rooms.records import Room, RoomError
from app.rooms.turns import Turn
from app.settings import settings

SIGNS = "ACDEFGHJKMNPQRTWXY3479"
"""The signs of a code: those that are not taken for another, read or heard."""

CODE = 6  # signs: 113 million codes
_HOUR = 3_600.0  # seconds
_OWNERS = 5  # browsers with which a teacher may open one room
GONE = (
    "There is no class with this code. Look at the code once more. A class ends after {} hours, "
    "when its teacher ends it, or when the server is started anew."
)

Told = Callable[[str, bool], None]
"""Is told the code of a room that has changed, and whether students see the change."""


def _later(seconds: float, act: Callable[[], None]) -> None:
    """Do something later, unless the process ends before."""
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


class Rooms:
    """The rooms, with their bounds; see the settings CLASSES, ROOMS, MEMBERS, HOURS and WORD.

    Args:
        clock: returns the time in seconds.
        later: does something after some seconds.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], None] = _later,
    ) -> None:
        self._clock, self._later = clock, later
        self._rooms: dict[str, Room] = {}
        self._listening: list[Told] = []
        self._lock = threading.Lock()

    def listen(self, told: Told) -> None:
        """Tell a function of every change, in the thread that makes it."""
        self._listening.append(told)

    def open(self, owner: str, network: str, lesson: str, title: str) -> Room:
        """Open a room, or return the one that the teacher has.

        Args:
            owner: the number of the teacher's browser.
            network: its network address.
            lesson: the slug of the lesson.
            title: its title.

        Raises:
            RoomError: classes are switched off, or no more rooms fit in.
        """
        found = settings()
        if not found.classes:
            raise RoomError("full", "Classes are switched off on this site.")
        if not owner:
            raise RoomError("closed", "A class needs the cookie of this site. Allow it and reload.")
        self.sweep()
        if (mine := self.owned(owner)) is not None:
            return mine
        with self._lock:
            of_network = sum(each.network == network for each in self._rooms.values())
            if len(self._rooms) >= found.rooms or of_network >= max(1, found.rooms // 2):
                raise RoomError(
                    "full",
                    f"{len(self._rooms)} classes are running, {of_network} of them from your "
                    f"network address. This site takes {found.rooms} and half of them from one "
                    "address. Try again later, or end one.",
                )
            seconds = found.hours * _HOUR
            room = Room(
                code=self._new_code(), key=secrets.token_urlsafe(24), network=network,
                until=self._clock() + seconds, owners=frozenset({owner}),
                lesson=lesson, title=title,
            )  # fmt: skip
            self._rooms[room.code] = room
        self._later(seconds + 1, self.sweep)
        return room

    def find(self, code: str) -> Room | None:
        """Return the room of a code; None if there is none."""
        room = self._rooms.get(code)
        return room if room is not None and self._clock() < room.until else None

    def owned(self, owner: str) -> Room | None:
        """Return the room of a teacher's browser; None if it has none."""
        rooms = [each for each in list(self._rooms.values()) if owner and owner in each.owners]
        return next((each for each in rooms if self.find(each.code)), None)

    def admit(self, link: str, owner: str) -> Room:
        """Let another browser of the teacher in.

        Args:
            link: the code and the key, as the teacher's link has them.
            owner: the number of the browser.

        Raises:
            RoomError: there is no such room, or the key is another.
        """
        code, _, key = link.partition(".")
        room = self.find(code)
        if room is None or not owner or not secrets.compare_digest(key.encode(), room.key.encode()):
            raise RoomError("gone", "This link leads to no class. It may have ended.")
        if len(room.owners | {owner}) > _OWNERS:
            raise RoomError("full", f"This class is open in {_OWNERS} browsers, which is the most.")
        return self.change(code, lambda room: replace(room, owners=room.owners | {owner}))

    def change(self, code: str, turn: Turn) -> Room:
        """Let a turn replace a room; return the new one.

        Raises:
            RoomError: there is no such room, or the turn cannot be taken.
        """
        with self._lock:
            room = self.find(code)
            if room is None:
                raise RoomError("gone", GONE.format(settings().hours))
            after = self._rooms[code] = turn(room)
        if after != room:
            self._tell(code, after.stage != room.stage)
        return after

    def end(self, code: str) -> None:
        """End a room: everything of it is forgotten."""
        with self._lock:
            gone = self._rooms.pop(code, None)
        if gone is not None:
            self._tell(code, True)

    def sweep(self) -> None:
        """End the rooms whose time is over."""
        for code in list(self._rooms):
            if self.find(code) is None:
                self.end(code)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all rooms."""
        return tuple(self._rooms)

    def _tell(self, code: str, public: bool) -> None:
        for told in self._listening:
            told(code, public)

    def _new_code(self) -> str:
        """Return a code that no room has; the caller holds the lock."""
        while (code := "".join(secrets.choice(SIGNS) for _ in range(CODE))) in self._rooms:
            pass
        return code


ROOMS = Rooms()
"""The rooms of this process."""

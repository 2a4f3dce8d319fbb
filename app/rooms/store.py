"""All rooms, in memory or where the servers of a site share them: never on a disk.

`Rooms` is the one way to them. What it keeps are values, and a change is a function of one.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from app.rooms.records import Room, RoomError
from app.rooms.turns import Turn
from app.rooms.written import as_room, written
from app.settings import settings
from app.shared import shared
from app.shared.memory import AwayError, Documents

SIGNS = "ACDEFGHJKMNPQRTWXY3479"
"""The signs of a code: those that are not taken for another, read or heard."""

CODE = 6  # signs: 113 million codes
_HOUR = 3_600.0  # seconds
_OWNERS = 5  # browsers with which a teacher may open one room
GONE = (
    "There is no class with this code. Check the code. A class ends after {} hours, when its "
    "teacher ends it, or when the server restarts."
)

Told = Callable[[str, bool], None]
"""Is told the code of a room that has changed, and whether students see the change."""


def _later(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


class Rooms:
    """The rooms, with their bounds; see the settings CLASSES, ROOMS, MEMBERS, HOURS and WORD.

    Args:
        clock: returns the time in seconds.
        later: does something after some seconds.
        kept: where they are; a place of their own if None.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], None] = _later,
        kept: Documents[Room] | None = None,
    ) -> None:
        self._later = later
        self._rooms: Documents[Room] = kept or Documents(clock)

    def listen(self, told: Told) -> None:
        """Tell a function of every change, in whatever thread it is noticed."""

        def changed(code: str, before: Room | None, after: Room | None) -> None:
            if before is not None:  # no one is waiting for a room that has just been opened
                told(code, after is None or after.stage != before.stage)

        self._rooms.listen(changed)

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
        if (mine := self.owned(owner)) is not None:
            return mine
        while (code := "".join(secrets.choice(SIGNS) for _ in range(CODE))) in self.codes:
            pass
        room = Room(
            code=code, key=secrets.token_urlsafe(24), network=network,
            owners=frozenset({owner}), lesson=lesson, title=title,
        )  # fmt: skip
        seconds, most = found.hours * _HOUR, (found.rooms, max(1, found.rooms // 2))
        with _reaching():
            counts = self._rooms.add(
                room.code, room, seconds=seconds, group=network, most=most[0], most_of_group=most[1]
            )
        if counts is not None:
            raise RoomError(
                "full",
                f"{counts[0]} classes are running, {counts[1]} of them from your network address. "
                f"This site takes {found.rooms} and half of them from one address. Try again "
                "later, or end one.",
            )
        self._later(seconds + 1, self._rooms.sweep)
        return room

    def known(self, code: str) -> Room | None:
        """Return the room of a code as this process has last heard of it; it asks no other."""
        return self._rooms.known().get(code)

    def find(self, code: str) -> Room | None:
        """Return the room of a code; None if there is none.

        Raises:
            RoomError: this cannot be known now.
        """
        with _reaching():
            return self._rooms.find(code)

    def owned(self, owner: str) -> Room | None:
        """Return the room of a teacher's browser; None if it has none."""
        rooms = self._rooms.known().values()
        return next((each for each in rooms if owner and owner in each.owners), None)

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
            raise RoomError("gone", "There is no class behind this link. It may have ended.")
        if len(room.owners | {owner}) > _OWNERS:
            raise RoomError("full", f"This class is open in {_OWNERS} browsers, which is the most.")
        return self.change(code, lambda room: replace(room, owners=room.owners | {owner}))

    def change(self, code: str, turn: Turn) -> Room:
        """Let a turn replace a room; return the new one.

        Raises:
            RoomError: there is no such room, or the turn cannot be taken.
        """
        with _reaching():
            after = self._rooms.change(code, turn)
        if after is None:
            raise RoomError("gone", GONE.format(settings().hours))
        return after

    def end(self, code: str) -> None:
        """End a room: everything of it is forgotten.

        Raises:
            RoomError: it cannot be ended now.
        """
        with _reaching():
            self._rooms.drop(code)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all rooms."""
        return tuple(self._rooms.known())


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except AwayError:
        raise RoomError(
            "away", "Classes are not available right now. Try again in a minute."
        ) from None


ROOMS = Rooms(kept=shared().documents("rooms", written, as_room))
"""The rooms of this site."""

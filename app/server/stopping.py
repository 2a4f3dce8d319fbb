"""How the process ends: with Ctrl+C, or when the system asks it to (SIGTERM).

A thread of its own waits for the signal, so a busy server does not delay the end. Python's normal
shutdown is not used: it would tear threads out of PyTorch's C++ code, and the process would abort.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Protocol

from app import log

_LONGEST = 4.0  # seconds for the farewell; a busy server is slow to begin it
_LOOK = 0.02  # seconds between two looks at it
_NOTICE = 3.0  # seconds in which a proxy that asks every second sends visitors elsewhere
_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 0}


class Farewell(Protocol):
    """What a server does before the process ends."""

    def begin(self) -> None:
        """Tell all clients, soon; called in another thread than the server's."""

    def is_over(self) -> bool:
        """Return whether all of them know."""


class Stop:
    """Ends the process after a signal, and after a second one at once.

    Args:
        leave: ends the process with a status.

    Attributes:
        draining: whether the process goes on for a while, for those who are there.
    """

    def __init__(self, leave: Callable[[int], None] = os._exit) -> None:
        self._leave = leave
        self._told: SimpleQueue[int] = SimpleQueue()  # signal handlers may use it
        self._farewell: Farewell | None = None
        self._seconds, self._since = 0.0, 0.0
        self._at_work: Callable[[], int] = int
        self.draining = False

    def obey(self) -> None:
        """Obey both signals from now on; call this first, in the main thread."""
        for each in _STATUS:
            signal.signal(each, self.hear)
        threading.Thread(target=self.wait, name="stop", daemon=True).start()

    def hear(self, number: int, _: object = None) -> None:
        """Note a signal; it is obeyed in the thread."""
        self._told.put(number)

    def with_farewell(self, farewell: Farewell) -> None:
        """Let a server say farewell from now on."""
        self._farewell = farewell

    def with_drain(self, seconds: float, at_work: Callable[[], int]) -> None:
        """Go on for some seconds after SIGTERM, until nothing is being answered.

        Args:
            seconds: at most.
            at_work: returns how many answers are being computed.
        """
        self._seconds, self._at_work = seconds, at_work

    def wait(self) -> None:
        """Wait for a signal, and obey it."""
        number = self._told.get()
        since = time.monotonic()
        if number == signal.SIGTERM and self._seconds:
            self.draining = True
            self._pass_time(self._seconds, self._is_drained)
        log.end()
        if self._farewell is not None:
            self._farewell.begin()
            self._pass_time(_LONGEST, self._farewell.is_over)
        event = f"stopped by SIGTERM after {time.monotonic() - since:.1f} s"
        said = log.line_of("INFO", "app", event) if number == signal.SIGTERM else "Stopped.\n"
        with suppress(OSError):  # the reader is gone
            os.write(2, said.encode())
        self._leave(_STATUS[signal.Signals(number)])

    def _pass_time(self, seconds: float, is_over: Callable[[], bool]) -> None:
        """Wait for something, some seconds at most; a second signal ends it at once."""
        self._since = time.monotonic()
        while time.monotonic() - self._since < seconds and self._told.empty() and not is_over():
            time.sleep(_LOOK)

    def _is_drained(self) -> bool:
        return time.monotonic() - self._since > _NOTICE and not self._at_work()


STOP = Stop()
"""The end of this process."""

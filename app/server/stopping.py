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
from typing import TYPE_CHECKING

from app import log

if TYPE_CHECKING:
    from app.compat.uvicorn import Server

_LONGEST = 4.0  # seconds until clients are gone; a busy server is slow to begin
_LOOK = 0.02  # seconds between two looks at it
_NOTICE = 3.0  # seconds in which a proxy that asks every second sends visitors elsewhere
_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 0}


class Stop:
    """Ends the process with a status (`leave`) after a signal, and after a second one at once."""

    def __init__(self, leave: Callable[[int], None] = os._exit) -> None:
        self._leave = leave
        self._signals: SimpleQueue[int] = SimpleQueue()  # signal handlers may use it
        self.server: Server | None = None  # which closes its connections first
        self._seconds = 0.0
        self._at_work: Callable[[], int] = int
        self.draining = False  # whether it goes on for a while, for those who are there

    def obey(self) -> None:
        """Obey both signals from now on; call this first, in the main thread."""
        for each in _STATUS:
            signal.signal(each, self.hear)
        threading.Thread(target=self.wait, name="stop", daemon=True).start()

    def hear(self, number: int, _: object = None) -> None:
        """Note a signal; it is obeyed in the thread."""
        self._signals.put(number)

    def with_drain(self, seconds: float, at_work: Callable[[], int]) -> None:
        """Go on for some seconds after SIGTERM, until nothing is being answered (`at_work`)."""
        self._seconds, self._at_work = seconds, at_work

    def wait(self) -> None:
        """Wait for a signal, and obey it."""
        number = self._signals.get()
        since = time.monotonic()
        if number == signal.SIGTERM and self._seconds:
            self.draining = True
            notice = time.monotonic() + _NOTICE
            self._pass_time(self._seconds, lambda: time.monotonic() < notice or self._at_work())
        log.end()
        if (server := self.server) is not None:
            server.should_exit = True
            self._pass_time(_LONGEST, lambda: server.has_connections)
        event = f"stopped by SIGTERM after {time.monotonic() - since:.1f} s"
        line = log.line_of("INFO", "app", event) if number == signal.SIGTERM else "Stopped.\n"
        with suppress(OSError):  # the reader is gone
            os.write(2, line.encode())
        self._leave(_STATUS[signal.Signals(number)])

    def _pass_time(self, seconds: float, is_needed: Callable[[], object]) -> None:
        """Wait some seconds, at most while it is needed; a second signal ends it at once."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._signals.empty() and is_needed():
            time.sleep(_LOOK)


STOP = Stop()
"""The end of this process."""

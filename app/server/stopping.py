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
    """

    def __init__(self, leave: Callable[[int], None] = os._exit) -> None:
        self._leave = leave
        self._told: SimpleQueue[int] = SimpleQueue()  # signal handlers may use it
        self._farewell: Farewell | None = None

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

    def wait(self) -> None:
        """Wait for a signal, and obey it."""
        number = self._told.get()
        since = time.monotonic()
        log.end()
        if self._farewell is not None:
            self._farewell.begin()
            while not self._farewell.is_over() and time.monotonic() - since < _LONGEST:
                if not self._told.empty():
                    break
                time.sleep(_LOOK)
        event = f"stopped by SIGTERM after {time.monotonic() - since:.1f} s"
        said = log.line_of("INFO", "app", event) if number == signal.SIGTERM else "Stopped.\n"
        with suppress(OSError):  # the reader is gone
            os.write(2, said.encode())
        self._leave(_STATUS[signal.Signals(number)])


STOP = Stop()
"""The end of this process."""

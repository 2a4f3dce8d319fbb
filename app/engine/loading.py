"""The model is loaded while the server already answers; what needs it waits here.

Importing PyTorch takes seconds, in which a page can be drawn as far as it needs no model. Nothing
is waited for in a process that loads its model first, or with its first question.
"""

import threading
from collections.abc import Callable


class Loading:
    """Work of the start that others wait for."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._over.set()

    def begin(self, work: Callable[[], None]) -> threading.Thread:
        """Let a thread do the work; everybody else waits for its end, whatever that is."""
        self._over.clear()

        def done() -> None:
            try:
                work()
            finally:
                self._over.set()

        thread = threading.Thread(target=done, name="loading", daemon=True)
        thread.start()
        return thread

    def is_over(self) -> bool:
        """Return whether nothing is being loaded."""
        return self._over.is_set()

    def wait(self) -> None:
        """Wait until the work is done; the next use of its result reports what went wrong."""
        self._over.wait()


LOADING = Loading()
"""The start of this process."""

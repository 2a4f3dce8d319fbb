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
        self.is_over = self._over.is_set
        self.wait = self._over.wait

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


LOADING = Loading()
"""The start of this process."""

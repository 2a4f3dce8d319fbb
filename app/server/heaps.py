"""How the process keeps memory that its threads no longer use."""

import threading
import time
from collections.abc import Callable

from app.compat.glibc import limit_heaps, trim

_MOST = 2
_PAUSE = 60.0  # seconds


def share_heaps() -> None:
    """Let all threads allocate from two heaps; call this before there are many threads.

    glibc opens up to eight heaps for each core, one for each thread that runs beside others, and
    keeps what is free in each. Every run of a page has a thread of its own, so after moments in
    which a whole class asked, free memory lay in many heaps, and none of it was used by the next
    thread (70 MB instead of 19 MB after 1,500 answers). Python's threads take turns anyway. Other C
    libraries have no such heaps.
    """
    limit_heaps(_MOST)


def give_back(drop: Callable[[], bool], pause: float = _PAUSE) -> None:
    """Give free memory back to the system now and then, for as long as the process lives.

    glibc keeps what was freed in the middle of a heap: after sixty books, as much as they had taken
    together. A minute in which nothing was computed or dropped costs nothing here.

    Args:
        drop: drops what is kept and no longer needed; returns whether there was any.
        pause: seconds between two times.
    """

    def work() -> None:
        used = 0.0
        while True:
            time.sleep(pause)
            if drop() or time.process_time() - used > pause / 60:  # there is something to return
                trim()
                used = time.process_time()

    threading.Thread(target=work, name="give-back", daemon=True).start()

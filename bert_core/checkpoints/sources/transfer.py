"""Count what a download receives: report it, or end the download when its caller has gone."""

import threading
from collections.abc import Callable
from typing import Self

from bert_core.errors import DownloadCancelled

# Called with the bytes received and expected; None if the server does not state the latter.
Progress = Callable[[int, int | None], None]


class Meter:
    """Counts received bytes; a context manager. Without `progress`, a terminal gets a bar."""

    def __init__(
        self,
        what: str,
        total: int | None,
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        from tqdm import tqdm

        self.done = 0
        self._what, self._total, self._progress, self._cancel = what, total, progress, cancel
        disable = None if progress is None else True  # None: unless it is a terminal
        self._bar = tqdm(
            desc=what, total=total, unit="B", unit_scale=True, leave=False, disable=disable
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def add(self, count: int) -> None:
        """Count received bytes (DownloadCancelled: the caller no longer waits)."""
        if self._cancel is not None and self._cancel.is_set():
            raise DownloadCancelled(f"{self._what}: cancelled; nothing was kept.")
        self.done += count
        self._bar.update(count)
        if self._progress is not None:
            self._progress(self.done, self._total)

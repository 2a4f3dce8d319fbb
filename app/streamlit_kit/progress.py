"""A bar for what takes more than a moment, and nothing for what does not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

_WORTH_A_BAR = 8  # steps


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give the block a function to report with: how many steps are done, and of how many.

    The bar goes when the block ends, by an error too.

    Args:
        what: what is being done, for example "Reading".
    """
    place = st.empty()

    def report(done: int, total: int) -> None:
        if total >= _WORTH_A_BAR:
            place.progress(done / total, text=f"{what}: {done:,} of {total:,} windows")

    try:
        yield report
    finally:
        place.empty()

"""A progress bar for work that takes more than a moment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

_WORTH_A_BAR = 8  # steps


@contextmanager
def progress(what: str, things: str = "windows") -> Iterator[Callable[[int, int], None]]:
    """Give the block a function that reports progress: steps done, and steps in total.

    The bar disappears when the block ends, even with an error.

    Args:
        what: what is being done, for example "Reading".
        things: what the steps are, in the plural.
    """
    place = st.empty()

    def report(done: int, total: int) -> None:
        if total >= _WORTH_A_BAR:
            place.progress(done / total, text=f"{what}: {done:,} of {total:,} {things}")

    try:
        yield report
    finally:
        place.empty()

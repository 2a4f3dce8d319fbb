"""What a visitor sees of work that takes more than a moment: its place in the queue, and a bar."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from app.engine.compute.visitor import Visit, visiting
from app.faces.streamlit.visitor import visitor

Progress = Callable[[int, int], None]

_WORTH_A_BAR = 8  # steps
_EVERY = 0.2  # seconds; a thousand windows would send a thousand messages


@contextmanager
def waiting_line() -> Iterator[None]:
    """Let the computing in the block count as this visitor's, with a line while it must wait."""
    place = st.empty()

    def tell(before: int | None) -> None:
        if before is None:
            place.empty()
        else:
            place.caption(f"Waiting: {before} ahead of you.")

    who = visitor()
    with visiting(Visit(who.name, tell, who.network)):
        yield


@contextmanager
def progress(
    what: str,
    things: str = "windows",
    *,
    least: int = _WORTH_A_BAR,
    cancel: Callable[[], None] | None = None,
) -> Iterator[Progress]:
    """Give the block a function that reports progress: steps done, and steps in total.

    The bar disappears when the block ends, even with an error. Whatever the visitor does next ends
    the run of the page at the next report, and so does the button under the bar.

    Args:
        what: what is being done, for example "Reading".
        things: what the steps are, in the plural.
        least: the number of steps from which there is a bar.
        cancel: draws a button; called when it is pressed, before the page runs again.
    """
    place, below = st.empty(), st.empty()
    drawn = 0.0

    def report(done: int, total: int) -> None:
        nonlocal drawn
        if total >= least and time.monotonic() - drawn > _EVERY:
            if cancel is not None and not drawn:
                below.button("Cancel", key=f"_cancel {what}", on_click=cancel)
            drawn = time.monotonic()
            place.progress(done / total, text=f"{what}: {done:,} of {total:,} {things}")

    try:
        yield report
    finally:
        place.empty()
        below.empty()

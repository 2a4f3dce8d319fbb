"""Small tables of our own, to begin with; each is a file in `samples/`."""

from functools import cache
from pathlib import Path

from app.data.tables import MOST_ROWS, Table, read_table

SAMPLES = {
    "reviews": "Reviews: praise or blame?",
    "names": "Sentences with named entities",
    "pairs": "Pairs of sentences",
    "questions": "Questions to short texts",
    "gaps": "Sentences with a gap",
    "choices": "Which ending?",
}
"""Their names in links and for programs, and on the screen."""


@cache
def sample(name: str) -> Table:
    """Return a table of ours by its name."""
    path = next(Path(__file__).with_name("samples").glob(f"{name}.*"))
    return read_table(path.read_bytes(), path.suffix, most=MOST_ROWS)

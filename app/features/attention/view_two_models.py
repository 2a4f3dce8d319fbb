"""One head beside the most similar head of another model."""

from app.features.attention.result_two_models import TwoHeads
from app.words.format import count, percent
from app.words.html import visible
from app.words.screen import Screen
from app.words.two_answers import DIFFERS, TITLE, drawn

__all__ = ["TITLE", "screen"]


def screen(found: TwoHeads, model: str = "") -> Screen:
    """Say what is shown."""
    one, other = map(visible, found.models)
    [heads] = found.answers
    differing = sum(row.differs for row in found.rows)
    first = f"{heads.first.text[:1].upper()}{heads.first.text[1:]}"
    return drawn(
        found,
        f"{first} of {one} looks most like {heads.second.text} of {other}: "
        f"{percent(found.overlap, counted=True)} of their attention goes to the same parts of the "
        f"text. What gets most of it differs in {differing:,} of {count(len(found.rows), 'line')}, "
        f"marked {DIFFERS}.",
    )

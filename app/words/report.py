"""A report: a result as it would look on paper.

Every feature writes one (`report` in its view). The Gradio tab, the saved page, the notebook and
the recorded site draw it with `drawn`; a terminal prints `as_text`.
"""

from dataclasses import dataclass

from app.words.html import Html, tag
from app.words.pictures import Picture, figure


@dataclass(frozen=True, slots=True)
class Report:
    """A result on paper.

    Attributes:
        headline: the result in one sentence of plain text.
        blocks: what follows, in reading order: markup (texts, tables, notes) and pictures, each
            with its words and its table.
    """

    headline: str
    blocks: tuple[Html | Picture, ...]

    def drawn(self) -> list[Html]:
        """Draw the headline and every block as markup."""
        head = tag("p", self.headline, class_="bx-headline")
        return [head, *(figure(b) if isinstance(b, Picture) else b for b in self.blocks)]

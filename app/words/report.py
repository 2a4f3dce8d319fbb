"""A report: a result as it would appear on paper.

Every feature writes one (`report` in its view). The Gradio tab, the saved page, the notebook and
the recorded site draw it with `drawn`; `app.faces.paper.text` prints it on a terminal.
"""

from dataclasses import dataclass
from typing import Annotated

from app.words.html import Html, tag
from app.words.pictures import Picture, figure

Block = Html | Picture  # markup (texts, tables, notes), or a picture with its words and its table


@dataclass(frozen=True, slots=True)
class Report:
    """A result on paper."""

    headline: Annotated[str, "the result in one sentence or two of plain text"]
    blocks: Annotated[tuple[Block, ...], "what follows, in reading order"]
    first: Annotated[
        tuple[Html, ...],
        "what must be known before the answer, such as what the model did not read",
    ] = ()
    unanswered: Annotated[
        bool,
        "whether nothing was asked, as in a text without a gap; the headline says what is missing,"
        " and the command line takes it for a refusal",
    ] = False

    def drawn(self) -> list[Html]:
        """Draw everything as markup, in reading order."""
        head = tag("p", self.headline, class_="bx-headline")
        blocks = (figure(each) if isinstance(each, Picture) else each for each in self.blocks)
        return [*self.first, head, *blocks]

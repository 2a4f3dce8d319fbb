"""Numbers and answers of the bundled model that documents quote.

A quote is a sentence of a document with gaps, `{}`, and a function that measures what belongs
into them. `python -m tools.derive quotes` measures all of them and fills the gaps. A quote is found
by the words around its gaps, so documents are plain Markdown; a test measures each again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from app.engine.models import Engine
from app.settings import ROOT
from bert_core.errors import BertError

_GAP = r"([^\s*`](?:[^*`]{0,60}?[^\s*`])??)"  # one value, of at most 62 characters


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence with gaps."""

    document: Annotated[str, "its file, from the root of the repository"]
    says: Annotated[str, "a part of it that occurs once; {} for each gap, without stars in it"]
    look: Annotated[Callable[[Engine], Sequence[Any]], "measures one value for each gap"]

    def find(self, text: str) -> re.Match[str]:
        """Find it in the text of its document, whatever is in the gaps.

        Raises:
            ValueError: it is not there, or several times.
        """
        words = (_GAP.join(map(re.escape, word.split("{}"))) for word in self.says.split())
        found = list(re.finditer(r"\s+".join(words) + r"(?!\w)", text))
        if len(found) != 1:
            raise ValueError(f"{self.document} has “{self.says}” {len(found)} times; expected once")
        return found[0]

    def fill(self, text: str, values: Sequence[str]) -> str:
        """Return the text with other values in the gaps; equal ones keep their line breaks."""
        found = self.find(text)
        gaps = list(zip(found.groups(), values, strict=True))
        for number, (old, new) in reversed([*enumerate(gaps, 1)]):
            if " ".join(old.split()) != new:
                text = text[: found.start(number)] + new + text[found.end(number) :]
        return text


def fill(engine: Engine, quotes: Iterable[Quote], root: Path = ROOT) -> list[str]:
    """Measure every quote and fill the documents.

    Returns:
        What a person has to put right: quotes that cannot be measured, or are not there.
    """
    left = []
    for quote in quotes:
        path = root / quote.document
        try:
            values = [str(each) for each in quote.look(engine)]
            text = quote.fill(path.read_text(encoding="utf-8"), values)
            path.write_text(text, encoding="utf-8")
        except (BertError, ValueError) as error:
            left.append(f"{quote.document}: {quote.says} cannot be filled: {error}")
    return left

"""Numbers and answers of the bundled model that documents quote.

A quote is a sentence of a document with gaps, `{}`, and a function that measures what belongs
into them. `python -m tools.derive quotes` measures all of them, fills the gaps in the documents,
and keeps the values in `tools/quotes.json`, with the weights. A quote is found by the words around
its gaps, so documents are plain Markdown; a test finds each with the values measured.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from app.engine.models import Engine
from app.settings import ROOT
from bert_core.errors import BertError

VALUES = ROOT / "tools" / "quotes.json"
_GAP = "{}"
_LONGEST = 60  # characters in a gap


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence with gaps."""

    document: Annotated[str, "its file, from the root of the repository"]
    says: Annotated[str, "a part of it that occurs once; {} for each gap, without stars in it"]
    look: Annotated[Callable[[Engine], Sequence[Any]], "measures one value for each gap"]

    @property
    def key(self) -> str:
        """Its name in the file of values."""
        return f"{self.document}: {self.says}"

    def find(self, text: str) -> re.Match[str]:
        """Find it in the text of its document, whatever is in the gaps.

        Raises:
            ValueError: it is not there, or several times.
        """
        gap = rf"([^\s*`](?:[^*`]{{0,{_LONGEST}}}?[^\s*`])??)"
        words = [
            gap.join(re.escape(part) for part in word.split(_GAP)) for word in self.says.split()
        ]
        found = list(re.finditer(r"\s+".join(words) + r"(?!\w)", text))
        if len(found) != 1:
            raise ValueError(
                f"{self.document} has “{self.says}” {len(found)} times; expected once (see "
                "tools/observations.py)."
            )
        return found[0]

    def fill(self, text: str, values: Sequence[str]) -> str:
        """Return the text with other values in the gaps; equal ones keep their line breaks.

        Raises:
            ValueError: it is not there once.
        """
        found = self.find(text)
        for number in range(len(values), 0, -1):
            value = values[number - 1]
            if " ".join(found[number].split()) != value:
                text = text[: found.start(number)] + value + text[found.end(number) :]
        return text

    def values(self, engine: Engine) -> list[str]:
        """Measure what belongs into the gaps.

        Raises:
            ValueError: there are more or fewer values than gaps.
        """
        found = [str(each) for each in self.look(engine)]
        if len(found) != self.says.count(_GAP):
            raise ValueError(f"{self.key}: {len(found)} values; expected one for each gap")
        return found


def twice(values: Sequence[str]) -> list[str]:
    """Return the words in several gaps of a sentence; its two sides must differ.

    >>> twice(["94", "paris", "94", "paris"]), twice(["94", "paris", "still paris"])
    (['paris'], [])
    """
    words = [value for value in values if re.search(r"[^\W\d_]", value)]
    return [word for word in dict.fromkeys(words) if words.count(word) > 1]


def fill(engine: Engine, quotes: Sequence[Quote]) -> list[str]:
    """Measure every quote, fill the documents, and keep the values.

    Returns:
        What a person has to put right: quotes that cannot be measured, are not in their
        document, or say the same word twice.
    """
    values: dict[str, list[str]] = {}
    left = []
    for quote in quotes:
        path = ROOT / quote.document
        try:
            values[quote.key] = quote.values(engine)
            text = quote.fill(path.read_text(encoding="utf-8"), values[quote.key])
            path.write_text(text, encoding="utf-8")
        except (BertError, ValueError) as error:
            left.append(f"{quote.key} cannot be measured or filled: {error}")
        if same := twice(values.get(quote.key, ())):
            left.append(f"{quote.key} says “{same[0]}” twice; word it for equal sides, too")
    write(engine.provenance.fingerprint, values)
    return left


def write(weights: str, values: Mapping[str, Sequence[str]], path: Path = VALUES) -> None:
    """Write the file of values."""
    record = {"weights": weights, "values": values}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path = VALUES) -> tuple[str, dict[str, list[str]]]:
    """Read the weights that the values were measured on, and the values by quote."""
    record = json.loads(path.read_text(encoding="utf-8"))
    return record["weights"], record["values"]


def wrong(
    quotes: Iterable[Quote], texts: Mapping[str, str], values: Mapping[str, Sequence[str]]
) -> list[str]:
    """Say of every quote that differs from what was measured what is wrong.

    Args:
        quotes: all of them.
        texts: document -> its text.
        values: as measured, by quote.
    """
    found = []
    for quote in quotes:
        measured = values.get(quote.key)
        try:
            quoted = [" ".join(each.split()) for each in quote.find(texts[quote.document]).groups()]
        except ValueError as error:
            found.append(str(error))
            continue
        if measured is None or quoted != list(measured):
            found.append(
                f"{quote.document} says {quoted} where {measured or 'nothing'} was measured, in "
                f"“{quote.says}”. Run `python -m tools.derive quotes`."
            )
    return found

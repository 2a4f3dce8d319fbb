"""What is recorded: the examples of every page, and how a task answers one."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

from app.catalog import FEATURES, Example, Feature, examples
from app.declared import Declared, declared, tabs
from app.declared.answers import answer
from app.engine.models import Engine
from app.overview import Door
from app.words.blocks import Html, cautions
from bert_core.errors import BertError

_LETTERS = 40  # of a file name
_OF_HOME = "The text of the home page"
_ONLY = "This model"  # the one entry of a page that takes no text


@dataclass(frozen=True, slots=True)
class Entry:
    """One example with its results: one file."""

    feature: Annotated[Feature, "the page it belongs to"]
    number: Annotated[int, "counted from 1 on its page"]
    example: Annotated[Example, "what is given"]
    tab: Annotated[str, 'the task of a tab that it is given to; "" for the page\'s own'] = ""

    @property
    def task(self) -> Declared:
        """What the example is given to."""
        return declared(self.tab or self.feature.slug)

    @property
    def place(self) -> str:
        """Its file, from the root of the folder, without an extension."""
        return f"{self.feature.slug}/{self.number}-{file_name(self.example.label)}"


def file_name(label: str) -> str:
    """Return letters and digits of a label, in lower case, joined by hyphens.

    >>> file_name("A guess at “it”"), file_name("../../etc/Größe?"), file_name("海")
    ('a-guess-at-it', 'etc-grosse', 'example')
    """
    plain = unicodedata.normalize("NFKD", label.casefold()).encode("ascii", "ignore").decode()
    words = "-".join(re.findall("[a-z0-9]+", plain))
    return words[:_LETTERS].strip("-") or "example"


def all_entries(doors: Iterable[Door]) -> tuple[Entry, ...]:
    """List every entry in the order of the menu, the texts of the home page's doors included."""
    texts = {door.slug: door.texts for door in doors}
    found: list[Entry] = []
    for row in FEATURES:
        shown = [(each, "") for each in examples(row.slug) or [Example(_ONLY, "", {})]]
        alone = map(declared, tabs(row.slug))
        firsts = ((replace(each.examples[0], label=each.feature.title), each) for each in alone)
        shown += [(first, each.feature.slug) for first, each in firsts]
        if row.slug in texts:
            shown.append((Example(_OF_HOME, "", texts[row.slug]), ""))
        found += [Entry(row, number, *each) for number, each in enumerate(shown, 1)]
    return tuple(found)


def results(engine: Engine, entry: Entry) -> list[Html]:
    """Run the task on an example and draw its reports; what keeps it from answering says so."""
    drawn: list[Html] = []
    for given in _givens(entry.task, entry.example):
        try:
            found = answer(entry.task, engine, given)
            drawn += [*cautions(found.notices), *found.report.drawn()]
        except BertError as error:
            drawn += cautions([str(error)])
    return drawn


def _givens(task: Declared, example: Example) -> list[dict[str, object]]:
    """Return what the task is given: several times where a box of one line has several."""
    given = task.example_values(example.values)
    for each in task.parameters:
        value = example.values.get(each.key)
        if isinstance(value, str) and each.field.lines == 1 and "\n" in value:
            return [{**given, each.name: line} for line in value.split("\n") if line.strip()]
    return [given]

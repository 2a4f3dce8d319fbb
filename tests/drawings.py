"""Read the site's own markup, drawings included: which elements it has, with what attributes."""

from html.parser import HTMLParser
from typing import NamedTuple


class Element(NamedTuple):
    """One element: its own text and its attributes, whose names are in lower case."""

    text: str
    attributes: dict[str, str]

    def number(self, name: str) -> float:
        """Return an attribute as a number."""
        return float(self.attributes[name])


class _Reader(HTMLParser):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.depth = name, 0
        self.found: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == self.name:
            self.depth += 1
            self.found.append(Element("", {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == self.name

    def handle_data(self, data: str) -> None:
        if self.depth:
            text, attributes = self.found[-1]
            self.found[-1] = Element(text + data, attributes)


def elements(markup: object, name: str, class_: str = "") -> list[Element]:
    """Return all elements with a name, and with a class if one is given."""
    reader = _Reader(name)
    reader.feed(str(markup))
    reader.close()
    return [
        each
        for each in reader.found
        if not class_ or class_ in each.attributes.get("class", "").split()
    ]

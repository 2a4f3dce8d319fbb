"""Read the site's own markup, drawings included: its words, its elements and its pictures."""

import json
from html.parser import HTMLParser
from typing import NamedTuple

from streamlit.testing.v1 import AppTest


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


def words(markup: object) -> str:
    """Return the text of some markup, as a browser shows it; 95 % with a plain space."""
    parts: list[str] = []
    parser = HTMLParser()
    parser.handle_data = parts.append  # type: ignore[method-assign]
    parser.feed(str(markup))
    parser.close()
    return "".join(parts).replace("\u00a0%", " %")


def lengths(drawing: object, *classes: str) -> list[float]:
    """Return the widths of the bars with one of these classes, from top to bottom."""
    found = [bar for class_ in classes for bar in elements(drawing, "rect", class_)]
    return [bar.number("width") for bar in sorted(found, key=lambda bar: bar.number("y"))]


def printed(markup: str) -> list[str]:
    """Return the numbers printed beside the bars of a picture's wide drawing."""
    return [
        each.text for each in elements(markup.partition("bx-narrow")[0], "text", "bx-svg-value")
    ]


def pictures(at: AppTest) -> dict[str, str]:
    """Return the markup of every picture on a page, by the picture's name."""
    shown = (json.loads(each.proto.json or "{}") for each in at.get("bidi_component"))
    found = [each["markup"] for each in shown if "<figure" in each.get("markup", "")]
    return {_name(each): each for each in found}


def _name(markup: str) -> str:
    """Return a picture's name, from its first tag alone: its drawings take ten milliseconds."""
    tag = markup[markup.index("<figure") :].partition(">")[0]
    return elements(f"{tag}>", "figure")[0].attributes["data-name"]

"""Read shapes back from drawings, so that tests compare geometry with numbers."""

import json
import re
from xml.etree import ElementTree

from streamlit.testing.v1 import AppTest

from app.words.html import Html

_S = "{http://www.w3.org/2000/svg}"


def parts(drawing: Html, kind: str, class_: str = "") -> list[dict[str, str]]:
    """Return the attributes of every element of a kind and class, with its text as `text`."""
    root = ElementTree.fromstring(drawing.markup)  # noqa: S314 - our own
    return [
        {**each.attrib, "text": each.text or ""}
        for each in root.iter(f"{_S}{kind}")
        if class_ in each.get("class", "").split() or not class_
    ]


def lengths(drawing: Html, *classes: str) -> list[float]:
    """Return the widths of the bars with one of these classes, from top to bottom."""
    found = [bar for class_ in classes for bar in parts(drawing, "rect", class_)]
    return [float(bar["width"]) for bar in sorted(found, key=lambda bar: float(bar["y"]))]


def pictures(at: AppTest) -> dict[str, str]:
    """Return the markup of every picture on a page, by the picture's name."""
    shown = (json.loads(each.proto.json) for each in at.get("bidi_component"))
    found = [each["markup"] for each in shown if each and "<figure" in each.get("markup", "")]
    return {re.findall(r'data-name="([^"]*)"', each)[0]: each for each in found}


def printed(markup: str) -> list[str]:
    """Return the numbers printed beside the bars of a picture's wide drawing."""
    return re.findall(r'class="bx-svg-value">([^<]*)<', markup.partition("bx-narrow")[0])

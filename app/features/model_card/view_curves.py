"""Learning curves: SVG files stored with the weights, treated as untrusted input."""

import base64
import xml.etree.ElementTree as ElementTree

from app.words.blocks import line
from app.words.html import Html, tag, visible

_SPACE = "{http://www.w3.org/2000/svg}"
# The elements of a chart of lines and text. A browser neither runs scripts nor fetches anything
# for an SVG shown as an image; this list keeps out what could take very long to draw.
_PARTS = frozenset(
    {"svg", "title", "desc", "g", "rect", "line", "path", "polyline", "polygon", "circle"}
    | {"ellipse", "text", "tspan"}
)
_MOST_PARTS = 20_000
_MOST_WORDS = 300  # characters of the title


def curve(name: str, svg: bytes) -> Html:
    """Draw a learning curve with its own title as alternative text.

    Args:
        name: file name, shown if the curve cannot be drawn.
        svg: contents of the file.
    """
    title = _title(svg)
    if title is None:
        says = f"{visible(name)} is not shown: it is more than a drawing of lines and words."
        return line(says)
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    words = visible(title) or f"Learning curve, {visible(name)}"
    picture = tag("img", src=address, alt=words, class_="bx-card-curve")
    return tag("figure", picture, tag("figcaption", words, class_="bx-line"))


def _title(svg: bytes) -> str | None:
    """Return the title of a plain drawing, "" if it has none, or None if it is not plain."""
    try:
        text = svg.decode("utf-8")
        if "<!" in text or "<?" in text.removeprefix("<?xml"):  # no entities, no style sheets
            return None
        root = ElementTree.fromstring(text)  # noqa: S314 - no entities, so no expansion
    except (ValueError, ElementTree.ParseError):
        return None
    parts = list(root.iter())
    if root.tag != f"{_SPACE}svg" or len(parts) > _MOST_PARTS or not all(map(_is_plain, parts)):
        return None
    return " ".join((root.findtext(f"{_SPACE}title") or "").split())[:_MOST_WORDS]


def _is_plain(part: ElementTree.Element) -> bool:
    """Return whether an element only draws: no links, no scripts."""
    names = [name.rpartition("}")[2].lower() for name in part.attrib]
    asks = any("url(" in value.lower() for value in part.attrib.values())
    acts = any(name.startswith("on") or name in {"href", "style"} for name in names)
    return str(part.tag).removeprefix(_SPACE) in _PARTS and not asks and not acts

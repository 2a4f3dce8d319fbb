"""Learning curves: drawings that lie beside the weights, shown without trusting them."""

import base64
import xml.etree.ElementTree as ElementTree

from app.words.blocks import line
from app.words.html import Html, tag, visible

_SPACE = "{http://www.w3.org/2000/svg}"
# What a chart of lines and words is made of. A browser runs nothing of a drawing that is shown as
# a picture, and fetches nothing for it; this keeps out what could take it very long to draw.
_PARTS = frozenset(
    {"svg", "title", "desc", "g", "rect", "line", "path", "polyline", "polygon", "circle"}
    | {"ellipse", "text", "tspan"}
)
_MOST_PARTS = 20_000
_MOST_WORDS = 300  # of its title, in letters


def curve(name: str, svg: bytes) -> Html:
    """Draw a learning curve with its own title for those who do not see it.

    Args:
        name: its file, shown where it cannot be drawn.
        svg: what is in the file.
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
    """Return the title of a plain drawing, "" for none; None where it is anything else."""
    try:
        text = svg.decode("utf-8")
        if "<!" in text or "<?" in text.removeprefix("<?xml"):  # no entities, no style sheets
            return None
        root = ElementTree.fromstring(text)  # noqa: S314 - without entities it cannot swell
    except (ValueError, ElementTree.ParseError):
        return None
    parts = list(root.iter())
    if root.tag != f"{_SPACE}svg" or len(parts) > _MOST_PARTS or not all(map(_is_plain, parts)):
        return None
    return " ".join((root.findtext(f"{_SPACE}title") or "").split())[:_MOST_WORDS]


def _is_plain(part: ElementTree.Element) -> bool:
    """Tell whether an element only draws: it links to nothing, and runs nothing."""
    names = [name.rpartition("}")[2].lower() for name in part.attrib]
    asks = any("url(" in value.lower() for value in part.attrib.values())
    acts = any(name.startswith("on") or name in {"href", "style"} for name in names)
    return str(part.tag).removeprefix(_SPACE) in _PARTS and not asks and not acts

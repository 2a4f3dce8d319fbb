"""Read the drawing of a marked text back from its SVG."""

from dataclasses import dataclass
from xml.etree import ElementTree

from app.features.ner.view_text import LABEL
from app.words.html import Html
from app.words.lines import printed_width

_S = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Word:
    """A drawn word: its letters and the place they are stretched to."""

    text: str
    left: float
    right: float
    middle: float


@dataclass(frozen=True)
class Spot:
    """A place that lights up."""

    at: str
    left: float
    right: float


@dataclass(frozen=True)
class Marked:
    """One mark on one line."""

    start: int
    end: int
    at: str | None
    colour: str
    told: str
    left: float
    right: float
    top: float
    bottom: float
    tint: float
    framed: bool
    thickness: float
    path: str
    dashes: str | None
    label: str
    label_left: float
    label_y: float

    @property
    def label_right(self) -> float:
        return self.label_left + printed_width(self.label, LABEL)

    @property
    def under(self) -> float:
        """Height of the underline."""
        return float(self.path.split("H")[0].replace("M", "").split("L")[0].split()[1])

    @property
    def path_shape(self) -> tuple[int, int, str | None]:
        """What distinguishes the shapes of underlines."""
        return self.path.count("M"), min(1, self.path.count("L")), self.dashes


class Drawing:
    """The parts of a drawing, in the order in which they are drawn."""

    def __init__(self, drawn: Html) -> None:
        root = ElementTree.fromstring(drawn.markup)  # noqa: S314 - our own drawing
        self.words = [
            Word(
                node.text or "",
                float(node.get("x", "")),
                float(node.get("x", "")) + float(node.get("textLength", "")),
                float(node.get("y", "")),
            )
            for node in root.findall(f"{_S}text")
        ]
        self.spots = [
            Spot(
                str(node.get("data-at")),
                float(node.get("x", "")),
                float(node.get("x", "")) + float(node.get("width", "")),
            )
            for node in root.findall(f"{_S}rect")
        ]
        self.marks = [_marked(node) for node in root.findall(f"{_S}g")]

    @property
    def typed(self) -> str:
        return "".join(word.text.replace("\u200f", "") for word in self.words)

    def within(self, mark: Marked) -> list[Word]:
        """Return the words whose middle is in the rectangle of a mark, from left to right."""
        found = [
            word
            for word in self.words
            if mark.top < word.middle < mark.bottom
            and mark.left < (word.left + word.right) / 2 < mark.right
        ]
        return sorted(found, key=lambda word: word.left)


def _marked(node: ElementTree.Element) -> Marked:
    rect, path, label = (node.find(f"{_S}{name}") for name in ("rect", "path", "text"))
    assert rect is not None and path is not None
    left, top = float(rect.get("x", "")), float(rect.get("y", ""))
    return Marked(
        start=int(node.get("data-start", "")),
        end=int(node.get("data-end", "")),
        at=node.get("data-at"),
        colour=node.get("style", "").removeprefix("--bx-c:"),
        told=node.findtext(f"{_S}title", ""),
        left=left,
        right=left + float(rect.get("width", "")),
        top=top,
        bottom=top + float(rect.get("height", "")),
        tint=float(rect.get("fill-opacity", "")),
        framed="bx-ner-differs" in rect.get("class", ""),
        thickness=float(path.get("stroke-width", "")),
        path=path.get("d", ""),
        dashes=path.get("stroke-dasharray"),
        label="" if label is None else label.text or "",
        label_left=0.0 if label is None else float(label.get("x", "")),
        label_y=-1.0 if label is None else float(label.get("y", "")),
    )

"""The zoom: the way back, and the heads of a layer."""

from collections.abc import Sequence

from app.features.xray.result import XrayResult
from app.words.blocks import Html, hint, pick, tag
from app.words.format import percent
from app.words.pictures import svg
from app.words.pixels import pixels
from bert_core.analysis.head_statistics import HeadName

_SIDE = 120
Zoom = tuple[int, ...]
"""What is open: () for the whole model, then layer and head."""


def crumbs(zoom: Zoom) -> Html:
    """Draw the way back: each step is a button, and Escape takes the last one."""
    names = ["Whole model"]
    if zoom:
        names.append(f"Layer {zoom[0]}")
    if len(zoom) > 1:
        names.append(f"Head {zoom[1]}")
    steps = [
        tag("button", name, type="button", class_="bx-button", data_pick="back", data_value=level,
            data_escape="" if level == len(names) - 2 else None)
        for level, name in enumerate(names[:-1])
    ]  # fmt: skip
    last = tag("strong", names[-1], aria_current="page")
    between = [part for each in steps for part in (each, tag("span", "›", aria_hidden="true"))]
    return tag("nav", *between, last, tag("small", "Esc: back"), class_="bx-xr-crumbs",
               aria_label="The way back to the whole model")  # fmt: skip


def heads_of(result: XrayResult, layer: int, notes: Sequence[Sequence[HeadName]]) -> Html:
    """Draw every head of a layer as a small map that opens it; `notes` say what each head does."""
    effects = {each.part: each.effect for each in result.ranking}
    buttons = [
        _head(result, layer, head, notes[layer][head], effects.get(f"{layer}.{head}"))
        for head in range(result.heads)
    ]
    return tag(
        "figure",
        hint(
            "One small map per head: rows are the pieces that look, columns those looked at, in "
            "the order of the text; a deeper colour means more attention, scaled to the largest "
            "number of each head. Below it: the kind of piece that gets most."
        ),
        tag("p", f"Layer {layer}: choose a head.", class_="bx-xr-say", data_readout="",
            role="status"),
        tag("div", *buttons, class_="bx-xr-heads", data_rove=""),
        class_="bx-picture",
    )  # fmt: skip


def _head(result: XrayResult, layer: int, head: int, note: HeadName, effect: float | None) -> Html:
    attention = result.attentions[layer][head]
    top = float(attention.max()) or 1.0
    off = {f"{layer}.{head}", f"{layer}.a"} & set(result.off)
    name = f"head {head}" + (" ✕" if off else "")
    says = f"Layer {layer}, head {head}: {note.name}"
    says += f" {percent(note.score, 0, counted=True)}." if note.score == note.score else "."
    says += f" Largest number {top:.3f}." + (" Off." if off else "")
    if effect is not None:
        says += f" Without it the answer changes by {effect:+.3f} nats.".replace("-", "−")
    small = svg(_SIDE, _SIDE, pixels(attention / top, x=0, y=0, width=_SIDE, height=_SIDE))
    return tag(
        "button", small, tag("span", name), tag("small", note.name), data_say="", aria_label=says,
        class_="bx-xr-head", **pick("head", head, stop=head == 0, element="button"),
    )  # fmt: skip

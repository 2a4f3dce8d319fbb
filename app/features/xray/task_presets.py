"""Ready-made sets of switches."""

from app.features.xray.result import Part, XrayResult, all_parts
from app.features.xray.result_zoom import HeadNote

Notes = tuple[tuple[HeadNote, ...], ...]

PRESETS = {
    "attention": "No attention at all",
    "forward": "No feed-forward at all",
    "last": "No attention in the last layer",
    "rests": "No heads that look mostly at [CLS] or [SEP]",
    "near": "No heads that look at the piece before or after",
}
"""Sets that need no ranking, by key."""


def preset(key: str, result: XrayResult, notes: Notes) -> tuple[Part, ...]:
    """Return the parts that a preset switches off.

    Args:
        key: of `PRESETS`.
        result: the text.
        notes: what each head does in it.
    """
    parts = all_parts(result.layers, result.heads)
    if key in ("attention", "forward"):
        place = "attention" if key == "attention" else "feed_forward"
        return tuple(part for part in parts if part.place == place)
    if key == "last":
        return (Part(result.layers - 1, "attention"),)
    wanted = ("[CLS]", "[SEP]") if key == "rests" else ("previous", "next")
    return tuple(
        part
        for part in parts
        if part.place == "head" and notes[part.layer][part.head].name in wanted
    )

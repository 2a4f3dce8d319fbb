"""The patching tab: which pieces and heads of which layers carry a difference."""

import numpy as np
import pandas as pd

from app.features.xray.result_patching import Grid, Patching, Site
from app.words.blocks import hint
from app.words.format import percent, signed
from app.words.html import Html, join, tag, visible
from app.words.pictures import Picture, picture, svg
from app.words.pixels import pixels
from app.words.report import Report

TITLE = "Patching"
EXAMPLE = {
    "text": "My uncle said that [MASK] was tired.",
    "second": "My niece said that [MASK] was tired.",
}
SITES: dict[Site, str] = {
    "layer": "outputs of layers",
    "attention": "attention blocks",
    "feed_forward": "feed-forward blocks",
}
RESTORED, LOST = "restored", "lost"
NAMES = {
    RESTORED: "restored, by putting it into the second sentence",
    LOST: "lost, by replacing it in the first sentence",
}
NOTE = (
    "Percentages are shares of the difference between the two sentences. Left: the model reads the "
    "second sentence, but one activation is taken from the first. 100 % means that this alone "
    "brings the first answer back (it suffices). Right: the model reads the first sentence, but "
    "one activation is taken from the second. 100 % means that the answer is lost (the activation "
    "was needed). The two differ where several places carry the same information: then any one of "
    "them is enough, and none is needed. Heads are replaced at all pieces at once."
)

_TOP, _LEFT, _RIGHT = 92, 34, 24
_LETTERS = 10  # of a piece, written above its column
_PRINTED = 25.0  # least width of a cell with a number
_ROW = 26


def report(found: Patching) -> Report:
    """Write the result as it would appear on paper."""
    return Report(compared(found), blocks(found))


def compared(found: Patching) -> str:
    """State what is compared."""
    one, other = (visible(name) for name in found.answers)
    first, second = (signed(value, 2) for value in found.values)
    what = (
        f"Logit of “{one}” minus that of “{other}”:" if found.is_contrast else f"“{one}”, in nats:"
    )
    return f"{what} {first} for the first sentence, {second} for the second."


def headline(found: Patching) -> Html:
    """State what is compared, and which heads carry most of the difference."""
    told = tag("p", compared(found), " ", *_strongest(found))
    return tag("div", hint(NOTE), told, class_="bx-xr-patched")


def _strongest(found: Patching) -> list[Html | str]:
    """Name the head that restores most, and the one without which most is lost."""
    said: list[Html | str] = []
    for name, grid in ((RESTORED, found.heads_restored), (LOST, found.heads_lost)):
        layer, head = np.unravel_index(int(np.nanargmax(grid)), grid.shape)
        share = percent(float(grid[layer, head]), 0, counted=True)
        where = f"head {head} of layer {layer}"
        if name == RESTORED:
            said += [f"With only {where} from the first sentence, the second one gets back "]
        else:
            said += [f"With only {where} from the second sentence, the first one loses "]
        said += [tag("strong", share), " of the difference. "]
    return said


def pieces_picture(found: Patching) -> Picture:
    """Draw both directions for every layer and piece, side by side."""
    names = column_names(found)
    grids = {RESTORED: found.restored, LOST: found.lost}
    return _picture(found, "xray-patching", grids, names, "piece")


def heads_picture(found: Patching) -> Picture:
    """Draw both directions for every layer and head, side by side."""
    names = [str(head) for head in range(found.heads_restored.shape[1])]
    grids = {RESTORED: found.heads_restored, LOST: found.heads_lost}
    return _picture(found, "xray-patching-heads", grids, names, "head")


def column_names(found: Patching) -> list[str]:
    """Name the columns: the piece of the first sentence, with that of the second if it differs."""
    return [
        visible(one) if one == other else f"{visible(one)}/{visible(other)}"
        for one, other in zip(found.tokens, found.other_tokens, strict=True)
    ]


def _picture(
    found: Patching, name: str, grids: dict[str, Grid], columns: list[str], what: str
) -> Picture:
    told = []
    for kind, grid in grids.items():
        layer, at = np.unravel_index(int(np.nanargmax(grid)), grid.shape)
        share = percent(float(grid[layer, at]), 0, counted=True)
        told.append(f"{kind} most at layer {layer}, {what} {columns[at]} ({share})")
    return picture(
        name,
        lambda width: _grids(found, grids, columns, width, slanted=what == "piece"),
        alt=f"Two grids, layers by {what}s: {'; '.join(told)}.",
        table=_table(grids, columns, what),
    )


def _table(grids: dict[str, Grid], columns: list[str], what: str) -> pd.DataFrame:
    """List both numbers of every cell."""
    layers, count = grids[RESTORED].shape
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(layers), count),
            what: columns * layers,
            **{kind: grid.reshape(-1) for kind, grid in grids.items()},
        }
    )


def _grids(
    found: Patching, grids: dict[str, Grid], columns: list[str], width: int, *, slanted: bool
) -> Html:
    """Draw two grids, side by side where there is room."""
    wide = width > 500
    room = (width - 16) / 2 if wide else width
    top = _TOP if slanted else 46
    layers = grids[RESTORED].shape[0]
    high = top + _ROW * layers + 10
    drawn = []
    for number, (kind, grid) in enumerate(grids.items()):
        x, y = (number * (room + 16), 0) if wide else (0, number * (high + 10))
        inner = _grid(grid, columns, kind, room, top, marked=found.changed if slanted else ())
        drawn.append(tag("g", *inner, transform=f"translate({x:g} {y:g})"))
    return svg(width, high if wide else 2 * high + 10, *drawn)


def _grid(
    grid: Grid, columns: list[str], kind: str, room: float, top: float, *, marked: tuple[int, ...]
) -> list[Html]:
    """Draw one grid: layers are rows, blue is above 0, vermilion below."""
    layers, count = grid.shape
    cell = min(48.0, (room - _LEFT - _RIGHT) / count)
    side = cell * count
    drawn = [
        tag("text", kind, x=_LEFT, y=10, class_="bx-svg-strong"),
        pixels(np.nan_to_num(grid).astype(np.float32), x=_LEFT, y=top, width=side,
               height=_ROW * layers),
        tag("rect", x=_LEFT, y=top, width=f"{side:.1f}", height=_ROW * layers,
            class_="bx-svg-frame"),
    ]  # fmt: skip
    step = int(np.ceil(15 / cell))
    for at, name in enumerate(columns):
        x = _LEFT + (at + 0.5) * cell
        here = at in marked
        if at % step and not here:
            continue
        shown = name if len(name) <= _LETTERS or here else f"{name[: _LETTERS - 1]}…"
        slant = {"transform": f"rotate(-45 {x:.1f} {top - 8:g})"} if top == _TOP else {}
        drawn.append(
            tag("text", shown, x=f"{x:.1f}", y=f"{top - 8:g}",
                class_=("bx-svg-small" if slant else "bx-svg-middle bx-svg-small")
                + (" bx-svg-strong" if here else ""), **slant)
        )  # fmt: skip
    for layer in range(layers):
        y = f"{top + (layer + 0.5) * _ROW:g}"
        drawn.append(tag("text", str(layer), x=_LEFT - 8, y=y, class_="bx-svg-name bx-svg-small"))
        if cell >= _PRINTED:
            drawn += [
                tag("text", f"{100 * value:.0f}".replace("-", "−"),
                    x=f"{_LEFT + (at + 0.5) * cell:.1f}", y=y,
                    class_="bx-svg-middle bx-svg-small"
                    + (" bx-xr-over" if abs(value) >= 0.7 else ""))
                for at, value in enumerate(grid[layer])
                if abs(value) >= 0.05
            ]  # fmt: skip
    return drawn


def explanation() -> Html:
    """Say how to read the numbers."""
    return tag("p", "Rows are layers. Numbers are percentages of the difference; below 5 % none "
               "is printed.", class_="bx-line")  # fmt: skip


def blocks(found: Patching) -> tuple[Html | Picture, ...]:
    """Return everything the tab shows, in order."""
    return (
        join(headline(found), explanation()),
        pieces_picture(found),
        heads_picture(found),
    )

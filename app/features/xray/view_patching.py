"""The patching tab: which pieces and heads of which layers carry a difference."""

from functools import partial

import numpy as np

from app.features.xray.result import Grid, Patching
from app.words.blocks import Html, hint, join, tag, visible
from app.words.format import percent, shortened, signed
from app.words.matrix import Matrix
from app.words.pictures import Picture, beside, picture
from app.words.screen import Screen

TITLE = "Patching"
EXAMPLE = {
    "text": "My uncle said that [MASK] was tired.",
    "second": "My niece said that [MASK] was tired.",
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


def screen(found: Patching) -> Screen:
    """Say what is shown."""
    what = tag("p", headline(found), " ", *_strongest(found))
    explained = tag("p", "Rows are layers. Numbers are percentages of the difference; below 5 % "
                    "none is printed.", class_="bx-line")  # fmt: skip
    first = join(tag("div", hint(NOTE), what, class_="bx-xr-patched"), explained)
    return Screen(headline(found), (first, pieces_picture(found), heads_picture(found)))


def headline(found: Patching) -> str:
    """State what is compared."""
    one, other = (visible(name) for name in found.answers)
    first, second = (signed(value, 2) for value in found.values)
    what = (
        f"Logit of “{one}” minus that of “{other}”:" if found.is_contrast else f"“{one}”, in nats:"
    )
    return f"{what} {first} for the first sentence, {second} for the second."


def _strongest(found: Patching) -> list[Html | str]:
    parts: list[Html | str] = []
    for name, grid in ((RESTORED, found.heads_restored), (LOST, found.heads_lost)):
        layer, head = np.unravel_index(int(np.nanargmax(grid)), grid.shape)
        share = percent(float(grid[layer, head]), 0, counted=True)
        where = f"head {head} of layer {layer}"
        if name == RESTORED:
            parts += [f"With only {where} from the first sentence, the second one gets back "]
        else:
            parts += [f"With only {where} from the second sentence, the first one loses "]
        parts += [tag("strong", share), " of the difference. "]
    return parts


def pieces_picture(found: Patching) -> Picture:
    """Draw both directions for every layer and piece, side by side."""
    names = [  # of the first sentence, with those of the second where they differ
        visible(one) if one == other else f"{visible(one)}/{visible(other)}"
        for one, other in zip(found.tokens, found.other_tokens, strict=True)
    ]
    grids = {RESTORED: found.restored, LOST: found.lost}
    return _picture(found, "xray-patching", grids, names, "piece")


def heads_picture(found: Patching) -> Picture:
    """Draw both directions for every layer and head, side by side."""
    names = [str(head) for head in range(found.heads_restored.shape[1])]
    grids = {RESTORED: found.heads_restored, LOST: found.heads_lost}
    return _picture(found, "xray-patching-heads", grids, names, "head")


def _picture(
    found: Patching, name: str, grids: dict[str, Grid], columns: list[str], what: str
) -> Picture:
    most = []
    for kind, grid in grids.items():
        layer, at = np.unravel_index(int(np.nanargmax(grid)), grid.shape)
        share = percent(float(grid[layer, at]), 0, counted=True)
        most.append(f"{kind} most at layer {layer}, {what} {columns[at]} ({share})")
    return picture(
        name,
        lambda width: _grids(found, grids, columns, width, slanted=what == "piece"),
        alt=f"Two grids, layers by {what}s: {'; '.join(most)}.",
        table={
            "layer": np.repeat(np.arange(len(found.restored)), len(columns)),
            what: columns * len(found.restored),
            **{kind: grid.reshape(-1) for kind, grid in grids.items()},
        },
    )


def _grids(
    found: Patching, grids: dict[str, Grid], columns: list[str], width: int, *, slanted: bool
) -> Html:
    top, marked = (_TOP, found.changed) if slanted else (46, ())
    plots = [
        partial(_grid, grid, columns, kind, top=top, marked=marked) for kind, grid in grids.items()
    ]
    return beside(width, top + _ROW * len(found.restored) + 10, plots)


def _grid(
    grid: Grid, columns: list[str], kind: str, room: float, *, top: float, marked: tuple[int, ...]
) -> list[Html]:
    """Draw one grid: layers are rows, blue is above 0, vermilion below."""
    layers, count = grid.shape
    place = Matrix(_LEFT, top, min(48.0, (room - _LEFT - _RIGHT) / count), _ROW)
    printed = [
        [f"{100 * value:.0f}".replace("-", "−") if abs(value) >= 0.05 else "" for value in row]
        for row in grid
    ]
    names = [name if n in marked else shortened(name, _LETTERS) for n, name in enumerate(columns)]
    return [
        tag("text", kind, x=_LEFT, y=10, class_="bx-svg-strong"),
        *place.image(grid, printed if place.width >= _PRINTED else (), "bx-xr-over"),
        *place.columns(place.thinned(names, kept=marked), slanted=top == _TOP, strong=marked),
        *place.rows((str(layer), None) for layer in range(layers)),
    ]

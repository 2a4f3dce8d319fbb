"""The diff tab: where two runs differ, in the answer, in the heads and along the layers."""

import numpy as np

from app.features.xray.result_diff import Difference, Floats
from app.words.blocks import hint
from app.words.format import count, percent, shortened, signed
from app.words.html import Html, tag, visible
from app.words.matrix import Matrix
from app.words.panel import Panel
from app.words.pictures import Picture, picture, svg
from app.words.screen import Screen

TITLE = "Diff"
EXAMPLE = {
    "text": "My uncle said that [MASK] was tired.",
    "second": "My niece said that [MASK] was tired.",
}
NOTE = (
    "Pieces that both texts have in the same order are paired; the pieces between them are paired "
    "if both texts have the same number of them. Heads: how differently a head spreads its "
    "attention in the two runs (Jensen-Shannon distance, mean over pairs; 0: equal, 1: nothing in "
    "common). Vectors: 1 − cosine of the two vectors of a pair after each layer; 0: the same "
    "direction."
)

_LEFT, _RIGHT, _ROW = 70, 24, 26
_PRINTED = 30.0  # least width of a cell with a number
_LETTERS = 12
_WIDEST = 46.0


def screen(found: Difference, model: str = "") -> Screen:
    """Say what is shown."""
    return Screen(compared(found), blocks(found))


def compared(found: Difference) -> str:
    """Say what differs most."""
    if not np.nanmax(found.attention) and not found.turned.max():
        return "The runs are equal: no vector and no head differs."
    layer, head = np.unravel_index(int(np.nanargmax(found.attention)), found.attention.shape)
    most = found.answers[0]
    return (
        f"“{visible(most.name)}” has {percent(most.first)} in the first run and "
        f"{percent(most.second)} in the second. The head that differs most is head {head} of layer "
        f"{layer} (distance {found.attention[layer, head]:.2f})."
    )


def headline(found: Difference) -> Html:
    """Say what is compared, and what differs most."""
    one, other = found.models
    models = [] if one == other else [tag("p", f"{visible(one)} and {visible(other)}.")]
    told = tag("p", compared(found))
    return tag("div", hint(NOTE), *models, told, aligned(found), class_="bx-xr-diff")


def aligned(found: Difference) -> Html:
    """Write both texts below each other, with what has no partner or another one marked."""
    partner = dict(found.pairs)
    back = {b: a for a, b in found.pairs}
    first = [
        _piece(token, same=at in partner and found.other_tokens[partner[at]] == token)
        for at, token in enumerate(found.tokens)
    ]
    second = [
        _piece(token, same=at in back and found.tokens[back[at]] == token)
        for at, token in enumerate(found.other_tokens)
    ]
    return tag(
        "div",
        *(tag("p", *row, class_="bx-xr-row") for row in (first, second)),
        tag("p", f"{count(len(found.pairs), 'pair')} of pieces are compared.", class_="bx-line"),
    )


def _piece(token: str, *, same: bool) -> Html:
    return tag("span" if same else "mark", tag("bdi", visible(token)), " ")


def answers_picture(found: Difference) -> Picture:
    """Draw the answers of both runs as pairs of bars."""
    return picture(
        "xray-diff-answers",
        lambda width: _bars(found, width),
        alt="Answers of the first and of the second run: "
        + "; ".join(
            f"{visible(each.name)} {percent(each.first)}, {percent(each.second)}"
            for each in found.answers
        )
        + ".",
        table=[(each.name, each.first, each.second, each.change) for each in found.answers],
        columns=("answer", "first", "second", "change"),
    )


def _bars(found: Difference, width: int) -> Html:
    """Draw two bars for each answer, the second one hatched."""
    top = max(max(each.first, each.second) for each in found.answers) or 1.0
    rows = len(found.answers)
    panel = Panel((120, width - 150), (0, 40 * rows), (0, top), (rows, 0))
    for number, each in enumerate(found.answers):
        name = shortened(visible(each.name), _LETTERS)
        panel.text(0, number, name, -10, 16, class_="bx-svg-name")
        for middle, share, kind in ((7, each.first, "bar"), (23, each.second, "mark")):
            y = number + middle / 40
            least = 1.5 if share else 0  # what is above 0 can be seen
            panel.span((0, share), (y, y), inset=-7, least=least, class_=f"bx-svg-{kind}")
        panel.text(top, number, f"{percent(each.first)} → {percent(each.second)}", 10, 16)
    return svg(width, 40 * rows, *panel.drawn)


def heads_picture(found: Difference) -> Picture:
    """Draw how differently each head looks in the two runs."""
    heads = [str(head) for head in range(found.attention.shape[1])]
    layers = [str(layer) for layer in range(found.attention.shape[0])]
    return _picture("xray-diff-heads", found.attention, (layers, heads), ("layer", "head"))


def vectors_picture(found: Difference) -> Picture:
    """Draw how far the vectors of each pair are apart after each layer."""
    names = [
        visible(one) if one == other else f"{visible(one)}/{visible(other)}"
        for one, other in ((found.tokens[a], found.other_tokens[b]) for a, b in found.pairs)
    ]
    rows = ["input", *map(str, range(found.turned.shape[0] - 1))]
    return _picture("xray-diff-vectors", found.turned, (rows, names), ("after", "piece"))


def _picture(
    name: str, values: Floats, labels: tuple[list[str], list[str]], what: tuple[str, str]
) -> Picture:
    rows, columns = labels
    row, column = np.unravel_index(int(np.nanargmax(values)), values.shape)
    kind = "Distance of heads" if what[1] == "head" else "1 − cosine of vectors"
    return picture(
        name,
        lambda width: _grid(values, labels, width, slanted=what[1] == "piece"),
        alt=f"{kind}, {len(rows)} rows by {count(len(columns), 'column')}: largest at {what[0]} "
        f"{rows[row]}, {what[1]} {columns[column]}, {signed(float(values[row, column]), 3)[1:]}.",
        table={
            what[0]: np.repeat(rows, len(columns)),
            what[1]: columns * len(rows),
            "difference": values.reshape(-1),
        },
    )


def _grid(
    values: Floats, labels: tuple[list[str], list[str]], width: int, *, slanted: bool
) -> Html:
    """Draw a grid of numbers from 0; the largest has the full colour."""
    rows, columns = labels
    grid = Matrix(
        _LEFT, 92 if slanted else 30, min(_WIDEST, (width - _LEFT - _RIGHT) / len(columns)), _ROW
    )
    printed = [
        [f"{value:.2f}".removeprefix("0") if value >= 0.005 else "" for value in row]
        for row in values
    ]
    drawn = grid.image(
        values / max(float(np.nanmax(values)), 1e-6),
        printed if grid.width >= _PRINTED else (), "bx-xr-over",
    )  # fmt: skip
    names = grid.thinned([shortened(name, _LETTERS) for name in columns])
    drawn += [*grid.columns(names, slanted=slanted), *grid.rows((name, None) for name in rows)]
    return svg(width, grid.top + _ROW * len(rows) + 6, *drawn)


def blocks(found: Difference) -> tuple[Html | Picture, ...]:
    """Return everything the tab shows, in order."""
    return (
        headline(found),
        answers_picture(found),
        tag("p", "Heads: distance of their attention in the two runs, 0 to 1", class_="bx-line"),
        heads_picture(found),
        tag("p", "Vectors: 1 − cosine after each layer, 0 for equal ones", class_="bx-line"),
        vectors_picture(found),
    )

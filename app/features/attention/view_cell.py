"""The arithmetic of one cell: query, key, product, softmax, with the model's own numbers."""

import math

import numpy as np

from app.features.attention.view_text import labels
from app.records.results import CellArithmetic
from app.words.blocks import Html, hint, join, tag, visible
from app.words.format import signed
from app.words.panel import Panel
from app.words.pictures import Picture, linked, listed, numbers, picture, svg
from app.words.screen import Screen

TITLE = "One cell"

NO_CELL = "Click a cell to see how its number is computed."
ONE_HEAD = "This is the mean of a layer’s heads; show a single head to see its arithmetic."
FIRST_PIECES = "Computed for the first pieces of these words, because heads work with pieces."

_ROWS = 200  # of the table of the softmax
_TALL = 54  # height of a row of bars


def screen(cell: CellArithmetic) -> Screen:
    """Say what is shown."""
    layer, head = cell.place
    source, goal = (visible(cell.tokens[at]) for at in (cell.row, cell.column))
    return Screen(
        f"Layer {layer}, head {head}: {source} looks at {goal} with {cell.value:.4f}.",
        (steps(cell), products(cell), softmax_table(cell)),
    )


def steps(cell: CellArithmetic) -> Html:
    """Draw the four steps from the query and the key to the number in the cell."""
    size = cell.query.size
    product = float(cell.products.sum(dtype=np.float64))
    score, each = float(cell.scores[cell.column]), cell.exponentials
    top = float(cell.scores.max())
    source = _piece(cell, cell.row)
    goal = _piece(cell, cell.column)
    layer, head = cell.place
    return join(
        tag(
            "ol",
            tag("li", f"Layer {layer}, head {head} turns ", source, f" into a query of {size} "
                "numbers and ", goal, f" into a key of {size}."),
            tag("li", "Multiplied in pairs and added up: ", tag("b", signed(product, 4)), "."),
            tag("li", f"Divided by √{size} = {math.sqrt(size):.4f}: ",
                tag("b", signed(score, 4)), "."),
            tag("li", f"Softmax over the {len(cell.scores):,} scores of the row (largest ",
                signed(top, 4), "): ", f"{each[cell.column]:.4g} / {each.sum():.4g} = ",
                tag("b", f"{cell.computed:.6f}"), "."),
            class_="bx-att-steps",
        ),
        tag(
            "div",
            hint(
                "Softmax: e to the power of each score minus the largest one, divided by the sum "
                "of these. Computed in double precision from the model's own query and key; the "
                "model's number can differ in the seventh digit."
            ),
            f"The cell: {cell.value:.6f}.",
            class_="bx-line",
        ),
    )  # fmt: skip


def _piece(cell: CellArithmetic, at: int) -> Html:
    return tag("bdi", visible(cell.tokens[at]), class_="bx-att-token", data_at=linked([at]))


def products(cell: CellArithmetic) -> Picture:
    """Draw query, key and their products as three rows of signed bars."""
    rows = (("q", cell.query), ("k", cell.key), ("q·k", cell.products))

    def draw(width: int) -> Html:
        size, panels = cell.query.size, []
        for number, (name, values) in enumerate(rows):
            top = float(np.abs(values).max()) or 1.0
            down = _TALL * number + 3, _TALL * (number + 1) - 3
            panel = Panel((50, width - 2), down, (0, size), (-top, top))
            panel.text(0, 0, name, -10, class_="bx-svg-name")
            panel.level(0, class_="bx-svg-base")
            for at, value in enumerate(values.tolist()):
                kind = "bx-svg-bar" if value > 0 else "bx-att-minus"
                panel.span((at, at + 0.8), (0, value), class_=kind, data_value=f"{value:.8g}")
            panels += panel.drawn
        return svg(width, _TALL * len(rows), *panels)

    most = int(np.abs(cell.products).argmax())
    return picture(
        "attention-cell",
        draw,
        alt=f"Query, key and their products in {cell.query.size} dimensions, each row on its own "
        f"scale. The largest product is {signed(float(cell.products[most]), 4)}, in dimension "
        f"{most}; together they make {signed(float(cell.products.sum()), 4)}.",
        table=zip(range(cell.query.size), *(values.tolist() for _, values in rows), strict=True),
        columns=("dimension", "query", "key", "product"),
    )


def softmax_table(cell: CellArithmetic) -> Html:
    """Draw the softmax of the row in a fold: the largest 200 numbers if there are more."""
    each = cell.exponentials
    best = np.argsort(-each, kind="stable")[:_ROWS]
    sums = each[best] / each.sum()
    names = labels([cell.tokens[at] for at in best], best.tolist())
    links = (linked([int(at)]) for at in best)
    scores = cell.scores[best].astype(np.float64)
    table = listed(
        zip(names, scores, each[best], sums, links, strict=True),
        ("looked at", "score", "e^(score - largest)", "attention", "at"),
    )
    many = len(each) > _ROWS
    title = f"The {_ROWS} largest of {len(each)} in this row" if many else "The softmax of this row"
    return numbers(table, "attention-row", title=title)

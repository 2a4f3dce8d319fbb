"""Text for the attention page: sentences, notes and tables for every picture."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    GroupShares,
    HeadView,
    LayerLinks,
    Part,
    Selection,
)
from app.words.format import percent
from app.words.html import Html, join, tag, visible

TABLE_SIDE = 64
"""Longest side of a matrix that is also shown as a table; a longer one goes into the CSV."""

WIDE = 48
"""From here on a text gets the whole width for its one large head."""

TABLE_LINKS = 300
"""Rows of the table that stands for a longer matrix, or for the line view."""

HINTS = ("The cat sat on the mat.", "It purred.")
"""What the empty boxes suggest."""

AS_TABLE = "The same as a table"
LINES_TABLE = "The lines as a table"
MATRIX_TABLE = "All of the numbers as a table"
AS_NUMBERS = "Every head in numbers"

MEAN = -1
"""The option that stands for the mean over a layer's heads."""

VIEW_NAMES = {"map": "Heat map", "lines": "Lines"}
SCALE_NAMES = {"common": "0 to 1", "own": "own peak"}
SCALE_UP = "Scale what is left up to 1"
SCALE_UP_HELP = (
    "Hidden columns take their share of attention with them. Scaling divides every row by what is "
    "left; the model itself never worked with such numbers."
)

PART_NAMES: dict[Part, str] = {
    "all": "all",
    "aa": "A to A",
    "ab": "A to B",
    "ba": "B to A",
    "bb": "B to B",
}

_LOOKS = {
    "A": "The first text (A) looks",
    "B": "The second text (B) looks",
    "special": "[CLS] and [SEP] look",
}
_GOALS = {"A": "A", "B": "B", "special": "[CLS] and [SEP]"}


def whole_percent(share: float) -> str:
    """Format a share of attention as a percentage, 0 and 100 % included."""
    return percent(float(share), 0, counted=True)


def name_of(layer: int, head: int | None, heads: int) -> str:
    """Name a head, or the mean over a layer.

    >>> name_of(2, 5, 12), name_of(0, None, 12)
    ('Layer 2, head 5', 'Layer 0, mean over its 12 heads')
    """
    return f"Layer {layer}, " + (f"mean over its {heads} heads" if head is None else f"head {head}")


def labels(tokens: tuple[str, ...], positions: tuple[int, ...]) -> list[str]:
    """Label tokens by position and spelling, so that equal tokens stay distinct."""
    return [f"{at} {visible(token)}" for at, token in zip(positions, tokens, strict=True)]


def layer_names(result: AttentionResult) -> dict[int, str]:
    """List the layers to choose from."""
    return {layer: str(layer) for layer in range(result.layers)}


def head_names(result: AttentionResult) -> dict[int, str]:
    """List the heads to choose from, plus their mean."""
    return {head: str(head) for head in range(result.heads)} | {MEAN: "mean"}


def head_note(result: AttentionResult, layer: int, head: int) -> str:
    """Summarise one head in a line of numbers."""
    statistics = result.statistics
    parts = [
        f"itself {whole_percent(statistics.to_itself[layer, head])}",
        f"previous {whole_percent(statistics.to_previous[layer, head])}",
        f"next {whole_percent(statistics.to_next[layer, head])}",
        f"[CLS] and [SEP] {whole_percent(statistics.to_special[layer, head])}",
        f"spread {float(statistics.entropy[layer, head]):.1f} bits",
    ]
    return ", ".join(parts)


def patterns_table(result: AttentionResult) -> pd.DataFrame:
    """Return the summary of every head as a table."""
    layer, head = np.divmod(np.arange(result.layers * result.heads), result.heads)
    statistics = result.statistics
    columns = {
        "to itself": statistics.to_itself,
        "to the previous token": statistics.to_previous,
        "to the next token": statistics.to_next,
        "to [CLS] and [SEP]": statistics.to_special,
        "entropy (bits)": statistics.entropy,
    }
    return pd.DataFrame(
        {"layer": layer, "head": head}
        | {name: values.reshape(-1).round(4) for name, values in columns.items()}
    )


def describe_grid(result: AttentionResult) -> str:
    """Describe the grid of all heads in one sentence."""
    statistics = result.statistics
    special = np.unravel_index(int(statistics.to_special.argmax()), statistics.to_special.shape)
    sharp = np.unravel_index(int(statistics.entropy.argmin()), statistics.entropy.shape)
    return (
        f"{result.layers} layers (rows) of {result.heads} heads (columns), each a small picture "
        f"of {len(result.tokens)} tokens looking at {len(result.tokens)}. Layer {special[0]}, "
        f"head {special[1]} looks most at [CLS] and [SEP] "
        f"({whole_percent(statistics.to_special.max())}); layer {sharp[0]}, head {sharp[1]} is "
        f"the sharpest ({float(statistics.entropy.min()):.1f} bits)."
    )


def grid_note(grid: AttentionGrid) -> Html:
    """Explain how a picture relates to the numbers."""
    rows, columns = grid.pictures.shape[2:]
    if not grid.averaged:
        words = "Click a head to see it large. One pixel is one number of the model."
    else:
        words = (
            "Click a head to see it large. The text is too long for one pixel a token: each "
            f"picture has {rows} × {columns} blocks, summed over the tokens looked at and averaged "
            "over the tokens that look, so rows still add up as before."
        )
    return tag("p", words, class_="bx-line bx-att-note")


def _strongest(result: AttentionResult, view: HeadView) -> tuple[str, int, int]:
    """Find and name the strongest link between two pieces, else between any two tokens.

    Many heads rest on [CLS], [SEP] or the piece itself when they have nothing to contribute.
    """
    words = [result.sides[at] is not None for at in view.rows]
    goals = [result.sides[at] is not None for at in view.columns]
    telling = np.outer(words, goals) & ~np.equal.outer(view.rows, view.columns)
    pool = view.weights * telling if telling.any() else view.weights
    row, column = np.unravel_index(int(pool.argmax()), pool.shape)
    name = "Strongest link between two pieces" if telling.any() else "Strongest link"
    return name, int(row), int(column)


def describe_view(result: AttentionResult, view: HeadView) -> str:
    """Describe the large picture in one sentence."""
    name, row, column = _strongest(result, view)
    return (
        f"{name_of(view.layer, view.head, result.heads)}: {len(view.rows)} tokens look at "
        f"{len(view.columns)}. {name}: from {visible(view.row_tokens[row])} "
        f"(position {view.rows[row]}) to {visible(view.column_tokens[column])} "
        f"(position {view.columns[column]}): {float(view.weights[row, column]):.4f}."
    )


def headline(result: AttentionResult, view: HeadView) -> Html:
    """Draw the strongest link shown."""
    name, row, column = _strongest(result, view)
    return tag(
        "p",
        f"{name}: ",
        tag("bdi", visible(view.row_tokens[row]), class_="bx-att-token"),
        " looks at ",
        tag("bdi", visible(view.column_tokens[column]), class_="bx-att-token"),
        f" with {float(view.weights[row, column]):.4f}.",
        class_="bx-att-note",
    )


def selection_note(view: HeadView) -> Html:
    """State what is hidden, how much attention that removes, and whether rows were rescaled."""
    selection: Selection = view.selection
    if selection.part == "all" and selection.special:
        return tag("p", "Every row adds up to 1: nothing is hidden.", class_="bx-line bx-att-note")
    hidden = (
        "[CLS] and [SEP] are hidden"
        if selection.part == "all"
        else f"Only {PART_NAMES[selection.part]} is shown"
    )
    share = f"what you see is {whole_percent(view.shown.mean())} of these rows' attention"
    scaled = (
        "each row was divided by its sum, so that it adds up to 1; these are not numbers that "
        "the model worked with"
        if selection.renormalise
        else "rows are not renormalised and add up to less than 1"
    )
    return tag("p", f"{hidden}: {share}, and {scaled}.", class_="bx-line bx-att-note")


def matrix_table(view: HeadView) -> pd.DataFrame:
    """Return a short matrix as a table, or the strongest links of a long one."""
    rows = labels(view.row_tokens, view.rows)
    columns = labels(view.column_tokens, view.columns)
    if max(view.weights.shape) <= TABLE_SIDE:
        frame = pd.DataFrame(view.weights.astype(np.float64).round(4), columns=columns)
        frame.insert(0, "looks \\ looked at", rows)
        return frame
    row, column = _largest(view.weights, TABLE_LINKS)
    return pd.DataFrame(
        {
            "looks": [rows[i] for i in row],
            "looked at": [columns[i] for i in column],
            "attention": view.weights[row, column].astype(np.float64).round(6),
        }
    )


def _largest(weights: Floats, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the largest values, largest first, without a full sort."""
    flat = weights.reshape(-1)
    best = np.argpartition(flat, -count)[-count:] if flat.size > count else np.arange(flat.size)
    best = best[np.argsort(flat[best], kind="stable")[::-1]]
    row, column = np.unravel_index(best, weights.shape)
    return row, column


def matrix_title(view: HeadView) -> str:
    """Return the title of the table next to the picture."""
    if max(view.weights.shape) <= TABLE_SIDE:
        return MATRIX_TABLE
    return f"The {TABLE_LINKS} strongest links as a table (all of them are in the CSV)"


def whole_matrix(view: HeadView) -> pd.DataFrame:
    """Return the whole shown matrix as a table, one row per attending token."""
    head = "mean" if view.head is None else f"head {view.head}"
    frame = pd.DataFrame(view.weights, columns=labels(view.column_tokens, view.columns))
    frame.insert(0, f"layer {view.layer}, {head}", labels(view.row_tokens, view.rows))
    return frame


def csv_name(view: HeadView) -> str:
    """Return the file name for saving the shown matrix.

    It contains nothing from the text, which may be private.
    """
    head = "mean" if view.head is None else f"head{view.head}"
    return f"attention-layer{view.layer}-{head}.csv"


def shares_table(shares: GroupShares) -> pd.DataFrame:
    """Return the shares between the sentences as a table."""
    frame = pd.DataFrame(
        shares.shares.astype(np.float64).round(4),
        columns=[f"to {_GOALS[name]}" for name in shares.groups],
    )
    frame.insert(0, "from", [_GOALS[name] for name in shares.groups])
    return frame


def describe_shares(shares: GroupShares) -> str:
    """Describe in a few sentences where each text looks."""
    return "On average: " + " ".join(
        f"{_LOOKS[source]} {', '.join(f'{share} at {goal}' for share, goal in goals)}."
        for source, goals in _shares(shares)
    )


def shares_line(shares: GroupShares) -> Html:
    """Draw where each text looks, one short line per group."""
    items = [
        tag(
            "li",
            f"{_LOOKS[source]} ",
            join(*(join(tag("strong", share), f" at {goal}") for share, goal in goals), by=", "),
        )
        for source, goals in _shares(shares)
    ]
    return tag("ul", *items, class_="bx-att-shares", aria_label="Attention between the texts")


def _shares(shares: GroupShares) -> list[tuple[str, list[tuple[str, str]]]]:
    """List each group's formatted shares and the groups that receive them."""
    goals = [_GOALS[name] for name in shares.groups]
    rows = [[whole_percent(value) for value in row] for row in shares.shares]
    return [
        (source, list(zip(row, goals, strict=True)))
        for source, row in zip(shares.groups, rows, strict=True)
    ]


def links_table(links: LayerLinks) -> pd.DataFrame:
    """Return the strongest lines as a table, strongest first."""
    last = slice(None, -TABLE_LINKS - 1, -1)
    rows = labels(links.view.row_tokens, links.view.rows)
    columns = labels(links.view.column_tokens, links.view.columns)
    return pd.DataFrame(
        {
            "looks": [rows[i] for i in links.row[last]],
            "looked at": [columns[i] for i in links.column[last]],
            "head": links.head[last],
            "attention": links.weight[last].astype(np.float64).round(4),
        }
    )


def describe_links(links: LayerLinks) -> str:
    """Describe which lines are drawn and which are not."""
    heads = f"head {links.heads[0]}" if len(links.heads) == 1 else f"{len(links.heads)} heads"
    drawn = len(links.weight)
    left_out = "" if drawn == links.over else f", the strongest of {links.over:,}"
    floor = f" of at least {links.floor:g}" if links.floor > 0 else ""
    return f"Layer {links.layer}, {heads}: {drawn:,} lines{floor}{left_out}."

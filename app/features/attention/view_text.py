"""Text of the attention page: titles, lists, notes and tables."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    Heads,
    HeadView,
    Links,
    Part,
    Place,
    RankedHead,
)
from app.features.attention.result_views import goals
from app.records.results import PLACES
from app.words.blocks import hint, line, pick
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.notes import HEAD_NAMES
from app.words.pictures import Frame, csv, linked, listed

MEAN = -1
"""The option for the mean over a layer's heads."""

LIST = 6
"""Heads in the list beside the picture; the others are in the table."""

VIEW_NAMES = {"map": "Heat map", "lines": "Lines"}
SCALE_NAMES = {"own": "own peak", "common": "0 to 1"}
WORDS = "Whole words"
WORDS_HELP = (
    "The rule: attention to the pieces of a word is added up; attention from its pieces is "
    "averaged. Rows still add up to 1."
)
LOG = "Logarithmic scale"
LOG_HELP = "Three decades: the palest colour is a thousandth of the darkest."
COMBINE_HELP = (
    "Shows the mean of several heads. In the small pictures, Shift and a click add a head or take "
    "it away."
)

PART_NAMES: dict[Part, str] = {
    "all": "all",
    "aa": "A to A",
    "ab": "A to B",
    "ba": "B to A",
    "bb": "B to B",
}

_TO = {
    "special": "[CLS] and [SEP]",
    "itself": "itself",
    "previous": "previous piece",
    "next": "next piece",
    "same": "same piece elsewhere",
    "other": "others",
}
"""How the shares of `goals` are called."""

_GOALS_NAMED, _WORTH_NAMING, _PRUNED = 3, 0.1, 0.5
_NAMES_HINT = (
    f"The attention that a piece gives adds up to 1. {HEAD_NAMES}"
    "“Usually” is the name on texts that come with the program; the list gives it where it "
    "differs. Heads are written layer.head, both counted from 0. “Strongest between pieces” leaves "
    "out [CLS], [SEP] and what a piece gives itself; numbers in brackets are positions."
)
_LOOKS = {
    "A": "The first text (A) looks",
    "B": "The second text (B) looks",
    "special": "[CLS] and [SEP] look",
}
_GOALS = {"A": "A", "B": "B", "special": "[CLS] and [SEP]"}
_LINKS = 200  # rows of the table that replaces a longer matrix


def whole_percent(share: float) -> str:
    """Format a share of attention as a percentage, 0 and 100 % included."""
    return percent(float(share), 0, counted=True)


def short_name(place: Place) -> str:
    """Name a head in a list, and in the address.

    >>> short_name((1, 8))
    '1.8'
    """
    return f"{place[0]}.{place[1]}"


def name_of(heads: Heads, size: int) -> str:
    """Name a head, or what several are shown as.

    >>> name_of(Heads.one(2, 5), 12), name_of(Heads.layer(0, 12), 12)
    ('Layer 2, head 5', 'Layer 0, mean of its 12 heads')
    >>> name_of(Heads(((0, 1), (2, 3))), 12)
    'Mean of heads 0.1, 2.3'
    """
    (layer, head), *more = heads.places
    if not more:
        return f"Layer {layer}, head {head}"
    if heads == Heads.layer(layer, size):
        return f"Layer {layer}, mean of its {size} heads"
    few = ", ".join(map(short_name, heads.places[:6]))
    rest = f" and {len(heads.places) - 6} more" if len(heads.places) > 6 else ""
    return f"Mean of heads {few}{rest}"


def labels(tokens: Sequence[str], at: Sequence[int]) -> list[str]:
    """Label tokens by position and spelling, so that equal tokens stay distinct."""
    return [f"{number} {visible(token)}" for number, token in zip(at, tokens, strict=True)]


def layer_names(result: AttentionResult) -> dict[int, str]:
    """List the layers to choose from."""
    return {layer: str(layer) for layer in range(result.layers)}


def head_names(result: AttentionResult) -> dict[int, str]:
    """List the heads to choose from, plus their mean."""
    return {head: str(head) for head in range(result.heads)} | {MEAN: "mean"}


def title(result: AttentionResult, heads: Heads) -> Html:
    """Draw which head is shown, and where its attention goes."""
    name, says = name_of(heads, result.heads), doing(result, heads)
    return tag("div", tag("h2", name), tag("small", says), class_="bx-att-title")


def doing(result: AttentionResult, heads: Heads) -> str:
    """Say where all attention of the shown heads goes, in shares that add up."""
    every = goals(result, heads)
    if sum(every.values()) < _PRUNED:
        return "Pruned."
    *named, other = every
    largest = sorted(named, key=lambda name: -every[name])[:_GOALS_NAMED]
    shares = {name: every[name] for name in largest if every[name] >= _WORTH_NAMING}
    shares[other] = max(0.0, 1 - sum(shares.values()))
    says = zip(shares, whole_shares(list(shares.values())), strict=True)
    return f"Attention: {', '.join(f'{share} % {_TO[name]}' for name, share in says if share)}."


def whole_shares(shares: Sequence[float]) -> list[int]:
    """Round shares to percentages that add up to 100.

    >>> whole_shares([0.335, 0.335, 0.33])
    [34, 33, 33]
    """
    found = [int(100 * share) for share in shares]
    order = sorted(range(len(shares)), key=lambda at: found[at] - 100 * shares[at])
    for at in order[: 100 - sum(found)]:
        found[at] += 1
    return found


def head_list(ranked: Sequence[RankedHead], heads: Heads, size: int) -> Html:
    """List the first heads of a ranking; a click on one shows it."""
    rows = []
    for number, row in enumerate(ranked[:LIST]):
        usual = row.usual.name if row.usual else row.here.name
        button = tag(
            "button",
            tag("b", short_name(row.place)),
            tag("span", row.here.name, " ", tag("i", whole_percent(row.here.score))),
            tag("small", f"usually {usual}") if usual != row.here.name else "",
            **pick("head", row.place[0] * size + row.place[1], stop=not number, element="button"),
            aria_current="true" if (row.place,) == heads.places else None,
        )
        rows.append(tag("li", button))
    return tag(
        "div",
        hint(_NAMES_HINT),
        tag("h3", "Clearest heads here"),
        tag("ol", *rows, class_="bx-att-list", data_rove="heads"),
        class_="bx-att-heads",
    )


def ranking_table(ranked: Sequence[RankedHead]) -> Frame:
    """Return what every head does here and usually."""
    return listed(
        (
            (rank, *row.place, row.here.name, row.usual.name if row.usual else "–",
             round(row.here.score, 4))
            for rank, row in enumerate(ranked, 1)
        ),
        ("rank", "layer", "head", "here", "usually", "clearest pattern"),
    )  # fmt: skip


def measures_table(result: AttentionResult, ranked: Sequence[RankedHead]) -> Frame:
    """Return what every head does, and all its measures in this text."""
    layer, head = np.array([row.place for row in ranked]).T
    measures = {
        each.name: getattr(result.statistics, each.key)[layer, head].round(4) for each in PLACES
    }
    return ranking_table(ranked).assign(**measures)


def head_note(result: AttentionResult, layer: int, head: int) -> str:
    """Summarise one head in a line of numbers."""
    every = result.statistics
    shares = {
        "itself": every.to_itself,
        "previous": every.to_previous,
        "next": every.to_next,
        "[CLS] and [SEP]": every.to_special,
    }
    parts = [f"{name} {whole_percent(values[layer, head])}" for name, values in shares.items()]
    return ", ".join([*parts, f"spread {float(every.entropy[layer, head]):.1f} bits"])


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
    """Explain how a small picture relates to the numbers, and what can be done with it."""
    rows, columns = grid.pictures.shape[2:]
    pixels = (
        f"Each has {rows} × {columns} blocks, summed over the tokens looked at and averaged over "
        "the tokens that look."
        if grid.averaged
        else "One pixel is one number of the model."
    )
    return hint(
        f"Every head as a small picture. {pixels} A click shows a head; Shift and a click combine "
        "it with those shown."
    )


def _strongest(result: AttentionResult, view: HeadView) -> tuple[int, int]:
    """Find the strongest link between two pieces, else between any two tokens.

    Many heads rest on [CLS], [SEP] or the piece itself when they have nothing to contribute.
    """
    telling = _between_pieces(result, view)
    pool = view.weights * telling if telling.any() else view.weights
    row, column = np.unravel_index(int(pool.argmax()), pool.shape)
    return int(row), int(column)


def _between_pieces(result: AttentionResult, view: HeadView) -> NDArray[np.bool_]:
    """Mark the cells between two different pieces of the text, without [CLS] and [SEP]."""
    words = [result.sides[at] is not None for at in view.rows]
    goals = [result.sides[at] is not None for at in view.columns]
    marked: NDArray[np.bool_] = np.outer(words, goals) & ~np.equal.outer(view.rows, view.columns)
    return marked


def headline(result: AttentionResult, view: HeadView) -> str:
    """Name the strongest link shown."""
    row, column = _strongest(result, view)
    source = f"“{visible(view.row_tokens[row])}” ({view.rows[row]})"
    goal = f"“{visible(view.column_tokens[column])}” ({view.columns[column]})"
    rest = _between_pieces(result, view).any()
    left_out = " ([CLS], [SEP] and each piece itself left out)" if rest else ""
    share = f"{float(view.weights[row, column]):.4f} of its attention"
    return f"Strongest link{left_out}: {source} gives {goal} {share}."


def short_headline(result: AttentionResult, view: HeadView) -> str:
    """Name the strongest link in the one line above the picture; “?” says what is left out."""
    row, column = _strongest(result, view)
    # Between isolating signs, pieces of a right-to-left script leave the order of the line alone.
    source = f"\u2068“{visible(view.row_tokens[row])}”\u2069 ({view.rows[row]})"
    goal = f"\u2068“{visible(view.column_tokens[column])}”\u2069 ({view.columns[column]})"
    among = " between pieces" if _between_pieces(result, view).any() else ""
    return f"Strongest{among}: {source} → {goal}, {float(view.weights[row, column]):.4f}"


def describe_view(result: AttentionResult, view: HeadView) -> str:
    """Describe the large picture in two sentences."""
    name = name_of(view.heads, result.heads)
    return f"{name}: {len(view.rows)} tokens look at {len(view.columns)}. {headline(result, view)}"


def selection_note(result: AttentionResult, view: HeadView) -> Html:
    """State what is not shown as the model computed it; empty if everything is."""
    chosen = view.selection
    notes = []
    if chosen.part != "all" or not chosen.special:
        hidden = (
            "[CLS] and [SEP] are hidden"
            if chosen.part == "all"
            else f"Only {PART_NAMES[chosen.part]} is shown"
        )
        share = f"what you see is {whole_percent(view.shown.mean())} of these rows' attention"
        notes.append(f"{hidden}: {share}, and rows add up to less than 1.")
    if chosen.floor > 0:
        shown = count(int(np.count_nonzero(view.weights)), "cell")
        notes.append(f"{shown} of {view.weights.size:,} shown: at least {chosen.floor:g}.")
    if result.by_word:
        notes.append(
            "Words: attention to their pieces is added up, attention from them is averaged."
        )
    return line(" ".join(notes)) if notes else join()


def matrix_table(result: AttentionResult, view: HeadView) -> Frame:
    """Return a short matrix as a table, or the strongest links of a long one."""
    rows, columns = _labelled(result, view)
    if max(view.weights.shape) <= SMALL:
        frame = listed(view.weights.astype(np.float64), columns=columns)
        frame.insert(0, "looks \\ looked at", rows)
        frame["at"] = [linked(result.units.pieces[at]) for at in view.rows]
        return frame
    row, column = _largest(view.weights, _LINKS)
    weights = view.weights[row, column].astype(np.float64)
    return listed(
        ((rows[a], columns[b], each) for a, b, each in zip(row, column, weights, strict=True)),
        ("looks", "looked at", "attention"),
    )


SMALL = 64
"""Longest side of a matrix that is drawn cell by cell in a file, and shown as a table."""


def _labelled(result: AttentionResult, view: HeadView) -> tuple[list[str], list[str]]:
    """Return the rows' and the columns' labels, numbered by the position of their first piece."""
    first = [pieces[0] for pieces in result.units.pieces]
    return (
        labels(view.row_tokens, [first[at] for at in view.rows]),
        labels(view.column_tokens, [first[at] for at in view.columns]),
    )


def _largest(weights: Floats, number: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the largest values, largest first, without a full sort."""
    flat = weights.reshape(-1)
    best = np.argpartition(flat, -number)[-number:] if flat.size > number else np.arange(flat.size)
    best = best[np.argsort(flat[best], kind="stable")[::-1]]
    row, column = np.unravel_index(best, weights.shape)
    return row, column


def matrix_csv(result: AttentionResult, view: HeadView) -> bytes:
    """Write the whole shown matrix as CSV, one row per token that looks."""
    rows, columns = _labelled(result, view)
    frame = listed(view.weights, columns=columns)
    frame.insert(0, name_of(view.heads, result.heads), rows)
    return csv(frame)


def file_name(view: HeadView) -> str:
    """Return the name, without extension, of a file with the shown matrix.

    It contains nothing from the text, which may be private.
    """
    (layer, head), *more = view.heads.places
    heads = f"mean-of-{len(more) + 1}" if more else f"layer{layer}-head{head}"
    return f"attention-{heads}"


def shares_table(shares: Mapping[str, Mapping[str, float]]) -> Frame:
    """Return the shares between the sentences as a table."""
    return listed(
        (
            (_GOALS[name], *(round(each, 4) for each in row.values()))
            for name, row in shares.items()
        ),
        ("from", *(f"to {_GOALS[name]}" for name in shares)),
    )


def shares_line(shares: Mapping[str, Mapping[str, float]]) -> Html:
    """Draw where each text looks, one short line per group."""
    items = [
        tag("li", f"{_LOOKS[source]} ", join(
            *(join(tag("strong", whole_percent(share)), f" at {_GOALS[name]}")
              for name, share in row.items()), by=", "))
        for source, row in shares.items()
    ]  # fmt: skip
    return join(
        line("Of the attention that these tokens give, on average:"),
        tag("ul", *items, class_="bx-att-shares", aria_label="Attention between the texts"),
    )


def links_table(result: AttentionResult, links: Links) -> Frame:
    """Return the strongest lines as a table, strongest first."""
    last = slice(None, -_LINKS - 1, -1)
    rows, columns = _labelled(result, links.view)
    each = (links.row[last], links.column[last], links.head[last], links.weight[last])
    return listed(
        (
            (rows[a], columns[b], short_name(links.places[head]), float(weight))
            for a, b, head, weight in zip(*each, strict=True)
        ),
        ("looks", "looked at", "head", "attention"),
    )


def describe_links(links: Links) -> str:
    """Describe which lines are drawn and which are not."""
    drawn = len(links.weight)
    left_out = "" if drawn == links.over else f", the strongest of {links.over:,}"
    return f"{count(len(links.places), 'head')}: {drawn:,} lines{left_out}."

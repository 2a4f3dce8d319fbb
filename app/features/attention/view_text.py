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
    Place,
    RankedHead,
)
from app.features.attention.result_views import goals
from app.words.blocks import Html, hint, join, line, pick, tag, visible
from app.words.format import count, percent
from app.words.notes import HEAD_NAMES
from app.words.pictures import Frame, csv, linked, listed

MEAN = -1
"""The option for the mean over a layer's heads."""

LIST = 6
"""Heads in the list beside the picture; the others are in the table."""

VIEW_NAMES = {"map": "Heat map", "lines": "Lines"}
WORDS = "Whole words"
WORDS_HELP = (
    "The rule: attention to the pieces of a word is added up; attention from its pieces is "
    "averaged. Rows still add up to 1."
)

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
    """Name a head, or the mean of a layer's.

    >>> name_of(Heads.one(2, 5), 12), name_of(Heads.layer(0, 12), 12)
    ('Layer 2, head 5', 'Layer 0, mean of its 12 heads')
    """
    (layer, head), *more = heads.places
    return f"Layer {layer}, mean of its {size} heads" if more else f"Layer {layer}, head {head}"


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
    return hint(f"Every head as a small picture. {pixels} A click shows a head.")


def _strongest(result: AttentionResult, view: HeadView) -> tuple[int, int, bool]:
    """Find the strongest link between two pieces of the text, else between any two tokens.

    Many heads rest on [CLS], [SEP] or the piece itself when they have nothing to contribute.

    Returns:
        Row and column in the view, and whether those three were left out.
    """
    words = [result.sides[at] is not None for at in view.at]
    telling = np.outer(words, words) & ~np.eye(len(words), dtype=bool)
    pool = view.weights * telling if telling.any() else view.weights
    row, column = np.unravel_index(int(pool.argmax()), pool.shape)
    return int(row), int(column), bool(telling.any())


def headline(result: AttentionResult, view: HeadView) -> str:
    """Name the strongest link shown."""
    row, column, left_out = _strongest(result, view)
    source, goal = (f"“{visible(view.tokens[at])}” ({view.at[at]})" for at in (row, column))
    without = " ([CLS], [SEP] and each piece itself left out)" if left_out else ""
    share = f"{float(view.weights[row, column]):.4f} of its attention"
    return f"Strongest link{without}: {source} gives {goal} {share}."


def short_headline(result: AttentionResult, view: HeadView) -> str:
    """Name the strongest link in the one line above the picture; “?” says what is left out."""
    row, column, left_out = _strongest(result, view)
    # Between isolating signs, pieces of a right-to-left script leave the order of the line alone.
    source, goal = (
        f"\u2068“{visible(view.tokens[at])}”\u2069 ({view.at[at]})" for at in (row, column)
    )
    among = " between pieces" if left_out else ""
    return f"Strongest{among}: {source} → {goal}, {float(view.weights[row, column]):.4f}"


def describe_view(result: AttentionResult, view: HeadView) -> str:
    """Describe the large picture in two sentences."""
    name = name_of(view.heads, result.heads)
    return f"{name}: {len(view.at)} tokens look at {len(view.at)}. {headline(result, view)}"


def selection_note(result: AttentionResult, view: HeadView) -> Html:
    """State what is not shown as the model computed it; empty if everything is."""
    notes = []
    if not view.special:
        notes.append(
            f"[CLS] and [SEP] are hidden: what you see is {whole_percent(view.shown.mean())} of "
            "these rows' attention, and rows add up to less than 1."
        )
    if result.by_word:
        notes.append(
            "Words: attention to their pieces is added up, attention from them is averaged."
        )
    return line(" ".join(notes)) if notes else join()


def matrix_table(result: AttentionResult, view: HeadView) -> Frame:
    """Return a short matrix as a table, or the strongest links of a long one."""
    names = _labelled(result, view)
    if len(names) <= SMALL:
        frame = listed(view.weights.astype(np.float64), columns=names)
        frame.insert(0, "looks \\ looked at", names)
        frame["at"] = [linked(result.units.pieces[at]) for at in view.at]
        return frame
    row, column = _largest(view.weights, _LINKS)
    weights = view.weights[row, column].astype(np.float64)
    return listed(
        ((names[a], names[b], each) for a, b, each in zip(row, column, weights, strict=True)),
        ("looks", "looked at", "attention"),
    )


SMALL = 64
"""Longest side of a matrix that is drawn cell by cell in a file, and shown as a table."""


def _labelled(result: AttentionResult, view: HeadView) -> list[str]:
    """Return the labels of what is shown, numbered by the position of their first piece."""
    return labels(view.tokens, [result.units.pieces[at][0] for at in view.at])


def _largest(weights: Floats, number: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the largest values, largest first, without a full sort."""
    flat = weights.reshape(-1)
    best = np.argpartition(flat, -number)[-number:] if flat.size > number else np.arange(flat.size)
    best = best[np.argsort(flat[best], kind="stable")[::-1]]
    row, column = np.unravel_index(best, weights.shape)
    return row, column


def matrix_csv(result: AttentionResult, view: HeadView) -> bytes:
    """Write the whole shown matrix as CSV, one row per token that looks."""
    names = _labelled(result, view)
    frame = listed(view.weights, columns=names)
    frame.insert(0, name_of(view.heads, result.heads), names)
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
    names, places = _labelled(result, links.view), links.view.heads.places
    each = (links.row[last], links.column[last], links.head[last], links.weight[last])
    return listed(
        (
            (names[a], names[b], short_name(places[head]), float(weight))
            for a, b, head, weight in zip(*each, strict=True)
        ),
        ("looks", "looked at", "head", "attention"),
    )


def describe_links(links: Links) -> str:
    """Describe which lines are drawn and which are not."""
    drawn = len(links.weight)
    left_out = "" if drawn == links.over else f", the strongest of {links.over:,}"
    return f"{count(len(links.view.heads.places), 'head')}: {drawn:,} lines{left_out}."

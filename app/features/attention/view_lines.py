"""Attention as lines between words: who looks, at the left, at whom, one colour for each head."""

from collections import Counter
from collections.abc import Sequence

from app.features.attention.result import AttentionResult, Links, Place
from app.features.attention.view_pictures import LETTER, paper, short, words
from app.features.attention.view_text import (
    describe_links,
    file_name,
    links_table,
    name_of,
    short_name,
)
from app.words.html import Html, tag, visible
from app.words.pictures import Picture, linked, picture

_LINE = 22  # height of a word beside the lines
_LINES = 144  # drawn at once; every word has at least one
_SAID = 3  # lines that a word names
_LONG = 50_000  # characters of lines that are drawn once for all widths

# fmt: off
HEAD_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a63d2", "#8f8f1f",
    "#a0522d", "#1b9aaa", "#b5396b", "#5a8f5a", "#c7a500", "#4b6fd4", "#9c6b9e", "#7a7a7a",
)
# fmt: on
"""One colour per head, of middle lightness so that both themes show them; the first six are
Okabe and Ito's. Where there are several, a head's number is beside its colour."""


def lines_picture(result: AttentionResult, links: Links) -> Picture:
    """Draw the lines of the viewed heads, the strongest on top.

    A word that is pointed at lights up its lines, and says which are the strongest.
    """
    view = links.view
    drawn, each = _few(links)
    return picture(
        f"{file_name(view)}-lines",
        lambda width: _lines(result, links, drawn, each, width),
        alt=f"{name_of(view.heads, result.heads)}: {describe_links(links)}",
        table=links_table(result, links),
        live=True,
    )


def _few(links: Links) -> tuple[list[int], int]:
    """Choose the lines that are drawn, weakest first; return how many of a word at most, or 0."""
    most = max(1, _LINES // len(links.view.at))
    seen: Counter[int] = Counter()
    kept = []
    for at in range(len(links.weight) - 1, -1, -1):
        row = int(links.row[at])
        if seen[row] < most:
            seen[row] += 1
            kept.append(at)
    return kept[::-1], most if len(kept) < len(links.weight) else 0


def _lines(result: AttentionResult, links: Links, drawn: list[int], each: int, width: int) -> Html:
    view = links.view
    names = [visible(token) for token in view.tokens]
    left = min(0.3 * width, LETTER * max(map(len, names)) + 12)
    right, middle = width - left, width / 2
    paths = []
    for at in drawn:
        row, column, head = int(links.row[at]), int(links.column[at]), int(links.head[at])
        weight = float(links.weight[at])
        a, b = (row + 0.5) * _LINE, (column + 0.5) * _LINE
        curve = f"M{left:.1f} {a:g}C{middle:.1f} {a:g} {middle:.1f} {b:g} {right:.1f} {b:g}"
        paths.append(
            tag("path", d=curve, stroke=head_colour(view.heads.places[head][1]),
                stroke_opacity=f"{0.1 + 0.9 * min(1.0, weight):.2f}",
                stroke_width=f"{0.5 + 4 * weight:.2f}", data_at=f"r{row} c{column}")
        )  # fmt: skip
    says = _strongest(links)
    sides = []
    for key, x, anchor in (("r", left - 6, "end"), ("c", right + 6, "start")):
        texts = [
            tag("text", short(name, 0.3 * width - 12), x=f"{x:.1f}", y=f"{(i + 0.5) * _LINE:g}",
                data_at=f"{linked(result.units.pieces[view.at[i]])} {key}{i}", role="img",
                tabindex=0 if key == "r" and not i else -1, data_say="", aria_label=says[key][i])
            for i, name in enumerate(names)
        ]  # fmt: skip
        sides.append(words(anchor, 17, *texts))
    below, end = _below(view.heads.places, each, width, _LINE * len(names) + 14)
    return paper(
        width, end, tag("g", *paths, fill="none"),
        tag("g", *sides, data_rove=len(names), class_="bx-att-words"), *below,
        role="group",
    )  # fmt: skip


def _strongest(links: Links) -> dict[str, list[str]]:
    """Say of each word, on both sides, at which others it looks most and which look at it."""
    places, names = links.view.heads.places, [visible(token) for token in links.view.tokens]
    named: dict[str, list[list[str]]] = {side: [[] for _ in names] for side in "rc"}
    for at in range(len(links.weight) - 1, -1, -1):
        more = f" (head {short_name(places[int(links.head[at])])})" if len(places) > 1 else ""
        row, column = int(links.row[at]), int(links.column[at])
        for own, goal in ((named["r"][row], column), (named["c"][column], row)):
            if len(own) < _SAID:
                own.append(f"{names[goal]} {float(links.weight[at]):.4f}{more}")
    verbs = {"r": "looks most at", "c": "is looked at most by"}
    return {
        side: [
            f"{name} {verbs[side]} {', '.join(own) or 'nothing among the lines'}"
            for name, own in zip(names, named[side], strict=True)
        ]
        for side in verbs
    }


def _below(places: Sequence[Place], each: int, width: int, y: float) -> tuple[list[Html], float]:
    """Name the colours of several heads, and say which lines are left out; return the end, too."""
    parts: list[Html] = []
    many = max(1, width // 70)
    for n, place in enumerate(places if len(places) > 1 else ()):
        x, at = 70 * (n % many), y + 20 * (n // many)
        parts += [tag("path", d=f"M{x} {at:g}h18", stroke=head_colour(place[1]), stroke_width=4),
                  tag("text", short_name(place), x=x + 22, y=f"{at:g}")]  # fmt: skip
    if parts:
        y += 20 * (1 + (len(places) - 1) // many)
    if each:
        says = f"{each} strongest lines" if each > 1 else "strongest line"
        parts.append(tag("text", f"Drawn: the {says} of each word.", x=0, y=f"{y:g}"))
        y += 20
    return [words("start", 17, *parts)] if parts else [], y - 6


def head_colour(number: int) -> str:
    """Return the colour of a head's lines, by its number."""
    return HEAD_COLOURS[number % len(HEAD_COLOURS)]


def lines_figure(drawn: Picture) -> Html:
    """Draw lines for the page, with what the word that is pointed at says above them."""
    sizes: tuple[tuple[str, Html], ...] = (("wide", drawn.wide), ("narrow", drawn.narrow))
    if len(drawn.narrow.markup) > _LONG:
        sizes = (("long", drawn.narrow),)  # is sent once
    return tag(
        "figure",
        tag("p", drawn.alt, class_="bx-att-said", data_readout="", aria_hidden="true"),
        tag("div", *(tag("div", each, class_=f"bx-{size}") for size, each in sizes),
            class_="bx-drawing bx-att-lines", role="group", aria_label=drawn.alt),
        class_="bx-picture", data_name=drawn.name,
    )  # fmt: skip

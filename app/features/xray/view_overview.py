"""One picture of the whole model: every piece in every layer, the threads, and the answer.

Rows are pieces, columns are layers. A cell has what the lens says there, deeper the surer the
final answer is in it, and two bars: how much attention (above) and feed-forward (below) added.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isnan
from typing import Annotated

import numpy as np
import pandas as pd

from app.features.xray.result import Candidate, Floats, Lens, XrayResult
from app.features.xray.view_words import (
    MEAN,
    READS,
    asked,
    candidate_words,
    column_name,
    column_words,
    headline,
    piece,
    thread_words,
)
from app.words.blocks import hint
from app.words.format import moment, percent
from app.words.html import Html, tag, visible
from app.words.lines import OTHER_BOLD, OTHER_FONT, fitting, printed_width
from app.words.pictures import NARROW, WIDE, Picture, linked, numbers

WORDS = 18
"""Up to so many pieces, 16 and two added ones, all cells have words."""

_HIGH = 418  # of the drawing
_TOP = 24
_ROW = (9.2, 40.0)
_ASKED = 24.0  # height of the row that is asked, of a long text: it has words all the same
_LETTER = 13.0
_MANY = 9  # columns
_SMALLEST = 9.0
_THREADS = 3  # for each piece that looks, of a short text
_FEW = 9  # pieces; of more, the threads are paler
_LEAST = 0.03
_BAR = 34  # height of one candidate
_DEPTH = 0.34  # opacity of a cell that agrees completely; the word on it must stay readable
_ROWS = 100  # of the table: it is written anew at every click
_USUAL = 90  # per cent of the bars that are shorter than the cell


Link = tuple[int, int, float]
"""The piece that looks, the piece it looks at, and the weight."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """What both drawings of a picture have, the wide and the narrow one."""

    says: Annotated[Sequence[Sequence[str]], "of each column, what each of its cells says"]
    threads: Annotated[
        Mapping[int, Sequence[Link]],
        "of each layer that attends; those of the piece that is asked come last, on top",
    ]
    head: Annotated[str, "number of the head whose threads they are, or `MEAN`"]
    most: Annotated[float, "value of a bar as long as a cell"]

    @classmethod
    def of(cls, result: XrayResult, head: str) -> "_Shared":
        asked_at = result.question.position
        off = {part.layer for part in result.parts_off if part.place == "attention"}
        added = np.stack([result.changes.by_attention, result.changes.by_feed_forward])
        return cls(
            says=[column_words(result, column) for column in range(result.layers + 1)],
            threads={
                layer: sorted(
                    links(of_heads(heads, head), asked_at), key=lambda x: x[0] == asked_at
                )
                for layer, heads in enumerate(result.attentions)
                if layer not in off
            },
            head=head,
            most=float(np.percentile(added, _USUAL)) or 1.0,  # [CLS] is often far above it
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where everything is in a drawing; thousands of marks ask for it."""

    width: Annotated[int, "of the drawing"]
    tokens: Annotated[int, "number of rows"]
    columns: Annotated[int, "number of columns"]
    left: Annotated[float, "width of the pieces' names"]
    right: Annotated[float, "width of the answers, or 0"]
    heights: Annotated[Sequence[float], "of the rows"]
    middles: Annotated[Sequence[float], "of the rows"]
    step: Annotated[float, "from one column to the next"]
    cell: Annotated[float, "width of a cell"]

    @classmethod
    def of(cls, result: XrayResult, width: int) -> "_Plan":
        wide = width == WIDE
        tokens, columns, asked_at = len(result.tokens), result.layers + 1, result.question.position
        longest = max(
            _stretch(result, at) * printed_width(piece(result, at), _LETTER) for at in range(tokens)
        )
        left, right = min(longest + 8, 100.0 if wide else 78.0), 132.0 if wide else 0.0
        heights = _heights(tokens, asked_at)
        # On a phone, words need the room between the columns.
        gap = 0.16 if not wide else 0.36 if columns < _MANY else 0.24  # as a share of a step
        step = (width - left - right - 2) / (columns - gap)
        return cls(
            width=width,
            tokens=tokens,
            columns=columns,
            left=left,
            right=right,
            heights=heights,
            middles=[
                top + high / 2
                for top, high in zip(accumulate(heights, initial=_TOP), heights, strict=False)
            ],
            step=step,
            cell=step - gap * step,
        )

    @property
    def long(self) -> bool:
        """Whether only the row that is asked has words."""
        return self.tokens > WORDS

    @property
    def height(self) -> float:
        return self.middles[-1] + self.heights[-1] / 2 + 2

    def letter(self, at: int) -> float:
        """Size of the letters in a row."""
        most = _LETTER if self.columns < _MANY else _LETTER - 1.5
        return min(most, max(_SMALLEST, 0.82 * self.heights[at]))

    def x(self, column: int) -> float:
        """Left edge of a column's cells."""
        return self.left + column * self.step


def _stretch(result: XrayResult, at: int) -> float:
    """Return by how much the name of a piece may be wider in another font."""
    return OTHER_BOLD if at == result.question.position else OTHER_FONT


def _heights(tokens: int, asked_at: int) -> list[float]:
    """Return the heights of the rows; in a long text the one that is asked is higher."""
    low, high = _ROW
    if tokens <= WORDS:
        return [min(high, (_HIGH - _TOP) / tokens)] * tokens
    usual = max(low, (_HIGH - _TOP - _ASKED) / (tokens - 1))
    return [max(_ASKED, usual) if at == asked_at else usual for at in range(tokens)]


def overview(result: XrayResult, head: str = MEAN) -> Picture:
    """Draw the whole model for paper; what is pointed at explains itself.

    Args:
        result: the text in the model.
        head: number of the head whose threads are drawn in every layer, or `MEAN`.
    """
    shared = _Shared.of(result, head)
    return Picture(
        name="xray",
        wide=_drawing(result, shared, _Plan.of(result, WIDE), live=False),
        narrow=_drawing(result, shared, _Plan.of(result, NARROW), live=False),
        alt=describe(result),
        rows=table(result),
    )


def live(result: XrayResult, head: str = MEAN) -> Html:
    """Draw the same for the page: every cell can be focused and opened."""
    shared = _Shared.of(result, head)
    drawings = (
        tag(
            "div",
            _drawing(result, shared, _Plan.of(result, width), live=True),
            class_=f"bx-{size}",
        )
        for size, width in (("wide", WIDE), ("narrow", NARROW))
    )
    return tag(
        "figure",
        explanation(result.readings.lens),
        tag("p", headline(result), class_="bx-xr-say", data_readout="", role="status"),
        tag("div", *drawings, role="group", aria_label=describe(result), class_="bx-drawing"),
        numbers(table(result), "xray", pictures=True, title="Numbers and files"),
        class_="bx-picture bx-xr",
        data_name="xray",
    )


def describe(result: XrayResult) -> str:
    """Say what the picture shows."""
    steps = ", ".join(
        f"{moment(column)} {visible(each.answer)} {percent(each.followed, finest=3)}"
        for column, each in enumerate(result.path)
    )
    return (
        f"{len(result.tokens)} pieces (rows) on their way through {result.layers} layers "
        f"(columns). {headline(result)} The {result.readings.lens} lens at this place, and the "
        f"probability of {visible(result.followed)}: {steps}."
    )


def table(result: XrayResult) -> pd.DataFrame:
    """Return the numbers of the asked piece in every layer; of short texts those of all pieces."""
    few = len(result.tokens) * (result.layers + 1) <= _ROWS
    pieces = range(len(result.tokens)) if few else [result.question.position]
    rows = [(at, column) for at in pieces for column in range(result.layers + 1)]
    read, changes = result.readings, result.changes
    return pd.DataFrame(
        {
            "piece": [result.tokens[at] for at, _ in rows],
            "after": [column_name(column) for _, column in rows],
            "lens": [read.names[column][at] for at, column in rows],
            "its probability": [float(read.shares[column, at]) for at, column in rows],
            "final answer here": [float(read.agreement[column, at]) for at, column in rows],
            "turned (1 - cosine)": [_of(changes.turned, column, at) for at, column in rows],
            "attention added": [_of(changes.by_attention, column, at) for at, column in rows],
            "feed-forward added": [_of(changes.by_feed_forward, column, at) for at, column in rows],
            "at": [linked([at]) for at, _ in rows],
        }
    )


def _of(values: Floats, column: int, at: int) -> float:
    return float(values[column - 1, at]) if column else 0.0


def _drawing(result: XrayResult, shared: _Shared, plan: _Plan, *, live: bool) -> Html:
    parts = [
        *_threads(result, shared, plan, live),
        *_heads(result, plan, live),
        *_pieces(result, plan, live),
    ]
    for column in range(plan.columns):
        parts += [_column(result, plan, column, live)]
        parts += [_cell(result, shared, plan, (column, at), live) for at in range(plan.tokens)]
    height = plan.height
    if plan.right:
        answers, low = _answers(result, plan, live)
        parts += answers
        height = max(height, low)
    return tag(
        "svg", *parts, view_box=f"0 0 {plan.width} {height:g}", class_="bx-svg bx-xr-svg",
        xmlns="http://www.w3.org/2000/svg", aria_hidden=None if live else "true",
        data_rove=str(plan.tokens + 1) if live else None,
    )  # fmt: skip


def _title(words: str, live: bool) -> list[Html]:
    """Return what the browser shows beside the pointer on paper; the page has its own line."""
    return [] if live else [tag("title", words)]


def _said(words: str, live: bool, first: bool = False) -> dict[str, str | int | None]:
    """Return what makes an element of the page a stop of the keyboard that explains itself."""
    if not live:
        return {}
    return {"data_say": "", "aria_label": words, "tabindex": 0 if first else -1, "role": "button"}


def _heads(result: XrayResult, plan: _Plan, live: bool) -> list[Html]:
    """Draw the head of the column of pieces, so that all columns have as many stops."""
    says = "The pieces that the model reads. Choose one to ask at this piece."
    return [
        tag("text", "piece", x=f"{plan.left - 6:.1f}", y=11,
            class_="bx-svg-name bx-xr-quiet", **_said(says, live))
    ]  # fmt: skip


def _pieces(result: XrayResult, plan: _Plan, live: bool) -> list[Html]:
    """Draw the pieces at the left."""
    asked_at = result.question.position
    found = []
    for at in range(plan.tokens):
        name, room = piece(result, at), (plan.left - 8) / _stretch(result, at)
        says = f"Piece {at}, {name}." + (" Asked here." if at == asked_at else "")
        found.append(
            tag("text", fitting(name, room + 0.01, plan.letter(at)), x=f"{plan.left - 6:.1f}",
                y=f"{plan.middles[at]:.1f}", style=f"font-size:{plan.letter(at):.3g}px",
                class_="bx-svg-name" + (" bx-svg-strong" if at == asked_at else ""),
                data_at=linked([at]), data_pick="piece" if live else None,
                data_value=at if live else None, **_said(says, live))
        )  # fmt: skip
    return found


def _column(result: XrayResult, plan: _Plan, column: int, live: bool) -> Html:
    """Draw the name of a column, and how many of its parts are off."""
    off = [part for part in result.parts_off if part.layer == column - 1]
    name = column_name(column) if column < 2 else str(column - 1)
    says = f"{column_name(column).capitalize()}: open its heads." if column else (
        "The input: words, positions and segments, before the first layer."
    )  # fmt: skip
    if off:
        says += f" {len(off)} of its parts off: {', '.join(part.name for part in off)}."
    return tag(
        "text", name + (f" ✕{len(off)}" if off else ""), x=f"{plan.x(column) + plan.cell / 2:.1f}",
        y=11, class_="bx-svg-middle bx-xr-quiet" + (" bx-svg-strong" if off else ""),
        data_pick="layer" if live and column else None,
        data_value=column - 1 if live and column else None, **_said(says, live),
    )  # fmt: skip


def _cell(
    result: XrayResult, shared: _Shared, plan: _Plan, place: tuple[int, int], live: bool
) -> Html:
    """Draw one piece after one layer."""
    column, at = place
    x, y = plan.x(column), plan.middles[at]
    inset = min(1.5, plan.heights[at] * 0.08)
    high = plan.heights[at] - 2 * inset
    agreement = float(result.readings.agreement[column, at])
    asked_here = at == result.question.position
    own = result.readings.names[column][at] == result.tokens[at]
    parts = [
        tag("rect", x=f"{x:.1f}", y=f"{y - high / 2:.1f}", width=f"{plan.cell:.1f}",
            height=f"{high:.1f}", rx=2, class_="bx-svg-cell bx-xr-cell",
            fill_opacity=f"{0.0 if isnan(agreement) else _DEPTH * agreement:.3f}")
    ]  # fmt: skip
    if not plan.long or asked_here:
        word, letter = _fitted(_word(result, column, at), plan.cell - 3, plan.letter(at))
        parts.append(
            tag("text", word, x=f"{x + plan.cell / 2:.1f}",
                y=f"{y - 2.5:.1f}", style=f"font-size:{letter:.3g}px",
                class_="bx-svg-middle" + (" bx-svg-strong" if asked_here else "")
                + (" bx-xr-own" if own else ""))
        )  # fmt: skip
    if column:
        parts += _bars(result, shared.most, plan, column - 1, at)
    says = shared.says[column][at]
    return tag(
        "g", *parts, *_title(says, live),
        class_="bx-xr-node" + (" bx-xr-asked" if asked_here else ""),
        data_at=f"{linked([at], text=column)} {linked([at])}" if column else linked([at]),
        data_pick="layer" if live and column else None,
        data_value=column - 1 if live and column else None,
        **_said(says, live, first=column == 1 and asked_here),
    )  # fmt: skip


def _word(result: XrayResult, column: int, at: int) -> str:
    """Return what is written in a cell."""
    if result.question.kind in ("start", "end"):
        share = float(result.readings.shares[column, at])
        return percent(share, 0) if share >= 0.005 else ""
    return visible(result.readings.names[column][at])


def _bars(result: XrayResult, most: float, plan: _Plan, layer: int, at: int) -> Iterator[Html]:
    """Draw how much attention and feed-forward added, on one scale for the whole picture."""
    changes, row = result.changes, plan.heights[at]
    thick = min(2.2, 0.11 * row)
    bottom = plan.middles[at] + row / 2 - min(1.5, row * 0.08)
    for number, (values, kind) in enumerate(
        ((changes.by_attention, "attention"), (changes.by_feed_forward, "forward"))
    ):
        share = min(1.0, float(values[layer, at]) / most)
        yield tag(
            "rect", x=f"{plan.x(layer + 1) + 1:.1f}",
            y=f"{bottom - (2 - number) * thick - 0.6:.1f}",
            width=f"{share * (plan.cell - 2):.1f}", height=f"{thick:.2f}",
            class_=f"bx-xr-{kind}",
        )  # fmt: skip


def links(attention: Floats, asked_at: int) -> list[Link]:
    """Return the threads of one layer that are drawn.

    The strongest three of each piece of a short text, two of a longer one; twice as many of the
    piece that is asked.

    Args:
        attention: (T, T).
        asked_at: the piece that is asked.
    """
    usual = _THREADS - (len(attention) > WORDS)
    strongest = np.argsort(-attention, kind="stable")[:, : 2 * usual].tolist()
    return [
        (at, to, weight)
        for at, looked in enumerate(strongest)
        for to in looked[: 2 * usual if at == asked_at else usual]
        if (weight := float(attention[at, to])) >= _LEAST
    ]


def of_heads(layer: Floats, head: str) -> Floats:
    """Return the attention (T, T) of one head of a layer (H, T, T), or the mean of all."""
    found: Floats = layer.mean(axis=0) if head == MEAN else layer[int(head)]
    return found


def _threads(result: XrayResult, shared: _Shared, plan: _Plan, live: bool) -> Iterator[Html]:
    """Draw attention as threads from the pieces looked at to the pieces that look."""
    asked_at = result.question.position
    pale = min(1.0, (_FEW / plan.tokens) ** 0.5)
    for layer, drawn in shared.threads.items():
        start, end = plan.x(layer) + plan.cell, plan.x(layer + 1)
        middle = f"{(start + end) / 2:.0f}"
        for link in drawn:
            at, to, weight = link
            strong = at == asked_at
            if not strong and plan.width == NARROW:
                continue
            shade = 0.4 + 0.6 * weight if strong else pale * (0.1 + 0.25 * weight)
            says = thread_words(result, layer, link, shared.head)
            low, high = f"{plan.middles[to]:.1f}", f"{plan.middles[at]:.1f}"
            yield tag(
                "path",
                *_title(says, live),
                d=f"M{start:.0f} {low}C{middle} {low} {middle} {high} {end:.0f} {high}",
                class_="bx-xr-thread" + (" bx-xr-strong" if strong else ""),
                stroke_width=f"{0.6 + (6 if strong else 3) * weight:.2f}",
                stroke_opacity=f"{shade:.2f}",
                data_at=linked([at], text=layer + 1),
                data_say=says if live else None,
            )


def _answers(result: XrayResult, plan: _Plan, live: bool) -> tuple[list[Html], float]:
    """Draw the possible answers at the right; return them and the lower edge."""
    count = len(result.candidates)
    height = max(plan.height, _TOP + count * _BAR)
    top = plan.middles[result.question.position] - count * _BAR / 2
    top = max(float(_TOP), min(height - count * _BAR, top))
    start = plan.x(plan.columns - 1) + plan.cell
    x = plan.width - plan.right + 22
    room = plan.width - x
    y = plan.middles[result.question.position]
    parts = [
        tag("text", "answer", x=f"{x:.1f}", y=11, class_="bx-xr-quiet",
            **_said(f"{asked(result)} …", live))
    ]  # fmt: skip
    for number, each in enumerate(result.candidates):
        middle = top + (number + 0.5) * _BAR
        bend = (x - 4 - start) / 2
        parts.append(
            tag("path", d=f"M{start:.1f} {y:.1f}C{start + bend:.1f} {y:.1f} {x - 4 - bend:.1f} "
                f"{middle:.1f} {x - 4:.1f} {middle:.1f}", class_="bx-xr-thread bx-xr-strong",
                stroke_width=f"{0.6 + 6 * each.probability:.2f}",
                stroke_opacity=f"{0.3 + 0.6 * each.probability:.2f}")
        )  # fmt: skip
        parts.append(_candidate(result, each, number, (x, middle, room), live))
    return parts, top + count * _BAR + 2


def _candidate(
    result: XrayResult,
    each: Candidate,
    number: int,
    place: tuple[float, float, float],
    live: bool,
) -> Html:
    """Draw one possible answer: its name, its probability as a bar, and a mark for before."""
    x, middle, room = place
    says = candidate_words(result, each)
    share = percent(each.probability, 0 if each.probability >= 0.1 else 1)
    letters = room - printed_width(share, _LETTER) - 6
    parts = [
        tag("text", fitting(visible(each.name), letters, _LETTER), x=f"{x:.1f}",
            y=f"{middle - 7:.1f}", style=f"font-size:{_LETTER:g}px",
            class_="bx-svg-strong" if each.rank == 1 else None),
        tag("text", share, x=f"{x + room:.1f}", y=f"{middle - 7:.1f}", class_="bx-svg-name",
            style=f"font-size:{_LETTER:g}px"),
        tag("rect", x=f"{x:.1f}", y=f"{middle + 2:.1f}", width=f"{room:.1f}", height=8,
            class_="bx-svg-track"),
        tag("rect", x=f"{x:.1f}", y=f"{middle + 2:.1f}", height=8, class_="bx-svg-bar bx-xr-bar",
            width=f"{max(1.0, room * each.probability):.1f}",
            style=f"--bx-from:{room * each.before:.1f}px" if live and result.off else None),
    ]  # fmt: skip
    if result.off:
        here = x + room * each.before
        parts.append(
            tag("line", x1=f"{here:.1f}", x2=f"{here:.1f}", y1=f"{middle:.1f}",
                y2=f"{middle + 12:.1f}", class_="bx-xr-before")
        )  # fmt: skip
    if each.followed:
        parts.append(tag("text", "▸", x=f"{x - 12:.1f}", y=f"{middle - 7:.1f}",
                         style=f"font-size:{_LETTER:g}px"))  # fmt: skip
    return tag(
        "g", *parts, *_title(says, live), class_="bx-xr-node",
        data_pick="follow" if live else None, data_value=number if live else None,
        **_said(says, live),
    )  # fmt: skip


def _fitted(word: str, room: float, letter: float) -> tuple[str, float]:
    """Write a word smaller where that makes it fit, and only then shorten it."""
    wide = printed_width(word, letter)
    least = min(letter, _SMALLEST)
    smaller = max(least, letter * min(1.0, room / wide)) if wide else letter
    return fitting(word, room + 0.01, smaller), smaller  # what was made to fit may be rounded up


def explanation(lens: Lens) -> Html:
    """Say how the picture is read, and what its cells are."""
    return hint(
        "Each row is a piece of the text, each column a layer. A cell shows the answer that the "
        f"output head gives for the vector of the piece after this layer. {READS[lens]} The deeper "
        "the colour of a cell, the more probable is already what the whole model answers there at "
        "the end. Threads show which pieces a piece looks at: thicker for more attention, coloured "
        "for the piece that is asked. The two bars in a cell show how much the attention block "
        "(above) and the feed-forward block (below) added to the vector. Point at anything for its "
        "numbers; choose a layer to open its heads, a piece to ask there, or an answer to follow "
        "it through the layers."
    )

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
from app.words.blocks import Html, hint, line, tag, visible
from app.words.format import moment, percent
from app.words.lines import OTHER_BOLD, OTHER_FONT, fitting, printed_width
from app.words.pictures import NARROW, WIDE, Frame, Picture, linked, listed, numbers

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
        at = result.question.position
        off = {part.layer for part in result.parts_off if part.place == "attention"}
        added = np.stack([result.changes.by_attention, result.changes.by_feed_forward])
        return cls(
            says=[column_words(result, column) for column in range(result.layers + 1)],
            threads={
                layer: sorted(links(of_heads(heads, head), at), key=lambda link: link[0] == at)
                for layer, heads in enumerate(result.attentions)
                if layer not in off
            },
            head=head,
            most=float(np.percentile(added, _USUAL)) or 1.0,  # [CLS] is often far above it
        )


def overview(result: XrayResult, head: str = MEAN) -> Picture:
    """Draw the whole model for paper; what is pointed at explains itself."""
    shared = _Shared.of(result, head)
    wide, narrow = (_Drawing(result, shared, width).drawn() for width in (WIDE, NARROW))
    return Picture("xray", wide, narrow, describe(result), table(result))


def live(result: XrayResult, head: str = MEAN) -> Html:
    """Draw the same for the page: every cell can be focused and opened."""
    shared = _Shared.of(result, head)
    drawings = (
        tag("div", _Drawing(result, shared, width, live=True).drawn(), class_=f"bx-{size}")
        for size, width in (("wide", WIDE), ("narrow", NARROW))
    )
    return tag(
        "figure",
        explanation(result.readings.lens),
        tag("p", headline(result), class_="bx-xr-say", data_readout="", role="status"),
        tag("div", *drawings, role="group", aria_label=describe(result), class_="bx-drawing"),
        key(),
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


def table(result: XrayResult) -> Frame:
    """Return the numbers of the asked piece in every layer; of short texts those of all pieces."""
    few = len(result.tokens) * (result.layers + 1) <= _ROWS
    pieces = range(len(result.tokens)) if few else [result.question.position]
    read, changes = result.readings, result.changes

    def added(values: Floats, column: int, at: int) -> float:
        return float(values[column - 1, at]) if column else 0.0

    return listed(
        {
            "piece": result.tokens[at],
            "after": column_name(column),
            "lens": read.names[column][at],
            "its probability": float(read.shares[column, at]),
            "final answer here": float(read.agreement[column, at]),
            "turned (1 - cosine)": added(changes.turned, column, at),
            "attention added": added(changes.by_attention, column, at),
            "feed-forward added": added(changes.by_feed_forward, column, at),
            "at": linked([at]),
        }
        for at in pieces
        for column in range(result.layers + 1)
    )


def links(attention: Floats, asked_at: int) -> list[Link]:
    """Return the threads of one layer (T, T) that are drawn.

    The strongest three of each piece of a short text, two of a longer one; twice as many of the
    piece that is asked.
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


class _Drawing:
    """One drawing, wide or narrow: where everything is, and what it says; thousands of marks."""

    def __init__(
        self, result: XrayResult, shared: _Shared, width: int, *, live: bool = False
    ) -> None:
        self.result, self.shared, self.width, self.live = result, shared, width, live
        self.asked, self.tokens = result.question.position, len(result.tokens)
        self.columns, wide = result.layers + 1, width == WIDE
        longest = max(
            self._stretch(at) * printed_width(piece(result, at), _LETTER)
            for at in range(self.tokens)
        )
        self.left, self.right = min(longest + 8, 100.0 if wide else 78.0), 132.0 if wide else 0.0
        self.heights = _heights(self.tokens, self.asked)
        tops = accumulate(self.heights, initial=_TOP)
        self.middles = [top + high / 2 for top, high in zip(tops, self.heights, strict=False)]
        # On a phone, words need the room between the columns.
        gap = 0.16 if not wide else 0.36 if self.columns < _MANY else 0.24  # as a share of a step
        self.step = (width - self.left - self.right - 2) / (self.columns - gap)
        self.cell = self.step - gap * self.step

    def drawn(self) -> Html:
        """Draw everything; the first part is at the back."""
        parts = [*self._threads(), *self._pieces()]
        for column in range(self.columns):
            parts.append(self._column(column))
            parts += [self._cell(column, at) for at in range(self.tokens)]
        height = self.middles[-1] + self.heights[-1] / 2 + 2
        if self.right:
            answers, low = self._answers(height)
            parts += answers
            height = max(height, low)
        return tag(
            "svg", *parts, view_box=f"0 0 {self.width} {height:g}", class_="bx-svg bx-xr-svg",
            xmlns="http://www.w3.org/2000/svg", aria_hidden=None if self.live else "true",
            data_rove=str(self.tokens + 1) if self.live else None,
        )  # fmt: skip

    def _stretch(self, at: int) -> float:
        """Return by how much the name of a piece may be wider in another font."""
        return OTHER_BOLD if at == self.asked else OTHER_FONT

    def _letter(self, at: int) -> float:
        most = _LETTER if self.columns < _MANY else _LETTER - 1.5
        return min(most, max(_SMALLEST, 0.82 * self.heights[at]))

    def _x(self, column: int) -> float:
        return self.left + column * self.step

    def _title(self, words: str) -> list[Html]:
        """Return what the browser shows beside the pointer on paper; the page has its own line."""
        return [] if self.live else [tag("title", words)]

    def _stop(
        self, words: str, pick: str = "", value: int = 0, *, first: bool = False
    ) -> dict[str, str | int | None]:
        """Return what makes a mark of the page a stop of the keyboard, and what it picks."""
        if not self.live:
            return {}
        return {"data_say": "", "aria_label": words, "tabindex": 0 if first else -1,
                "role": "button", "data_pick": pick or None,
                "data_value": value if pick else None}  # fmt: skip

    def _pieces(self) -> Iterator[Html]:
        x = f"{self.left - 6:.1f}"
        says = "The pieces that the model reads. Choose one to ask at this piece."
        yield tag("text", "piece", x=x, y=11, class_="bx-svg-name bx-xr-quiet", **self._stop(says))
        for at in range(self.tokens):
            name, room = piece(self.result, at), (self.left - 8) / self._stretch(at)
            says = f"Piece {at}, {name}." + (" Asked here." if at == self.asked else "")
            yield tag(
                "text", fitting(name, room + 0.01, self._letter(at)), x=x,
                y=f"{self.middles[at]:.1f}", style=f"font-size:{self._letter(at):.3g}px",
                class_="bx-svg-name" + (" bx-svg-strong" if at == self.asked else ""),
                data_at=linked([at]), **self._stop(says, "piece", at),
            )  # fmt: skip

    def _column(self, column: int) -> Html:
        off = [part for part in self.result.parts_off if part.layer == column - 1]
        name = column_name(column) if column < 2 else str(column - 1)
        says = f"{column_name(column).capitalize()}: open its heads." if column else (
            "The input: words, positions and segments, before the first layer."
        )  # fmt: skip
        if off:
            says += f" {len(off)} of its parts off: {', '.join(part.name for part in off)}."
        return tag(
            "text", name + (f" ✕{len(off)}" if off else ""),
            x=f"{self._x(column) + self.cell / 2:.1f}", y=11,
            class_="bx-svg-middle bx-xr-quiet" + (" bx-svg-strong" if off else ""),
            **self._stop(says, "layer" if column else "", column - 1),
        )  # fmt: skip

    def _cell(self, column: int, at: int) -> Html:
        read, x, y = self.result.readings, self._x(column), self.middles[at]
        high = self.heights[at] - 2 * min(1.5, self.heights[at] * 0.08)
        agreement = float(read.agreement[column, at])
        asked_here = at == self.asked
        parts = [
            tag("rect", x=f"{x:.1f}", y=f"{y - high / 2:.1f}", width=f"{self.cell:.1f}",
                height=f"{high:.1f}", rx=2, class_="bx-svg-cell bx-xr-cell",
                fill_opacity=f"{0.0 if isnan(agreement) else _DEPTH * agreement:.3f}")
        ]  # fmt: skip
        if self.tokens <= WORDS or asked_here:
            word, letter = _fitted(self._word(column, at), self.cell - 3, self._letter(at))
            own = read.names[column][at] == self.result.tokens[at]
            parts.append(
                tag("text", word, x=f"{x + self.cell / 2:.1f}", y=f"{y - 2.5:.1f}",
                    style=f"font-size:{letter:.3g}px",
                    class_="bx-svg-middle" + (" bx-svg-strong" if asked_here else "")
                    + (" bx-xr-own" if own else ""))
            )  # fmt: skip
        if column:
            parts += self._bars(column - 1, at)
        says = self.shared.says[column][at]
        return tag(
            "g", *parts, *self._title(says),
            class_="bx-xr-node" + (" bx-xr-asked" if asked_here else ""),
            data_at=f"{linked([at], text=column)} {linked([at])}" if column else linked([at]),
            **self._stop(says, "layer" if column else "", column - 1,
                         first=column == 1 and asked_here),
        )  # fmt: skip

    def _word(self, column: int, at: int) -> str:
        if self.result.question.kind in ("start", "end"):
            share = float(self.result.readings.shares[column, at])
            return percent(share, 0) if share >= 0.005 else ""
        return visible(self.result.readings.names[column][at])

    def _bars(self, layer: int, at: int) -> Iterator[Html]:
        """Draw how much attention and feed-forward added, on one scale for the whole picture."""
        changes, row = self.result.changes, self.heights[at]
        thick = min(2.2, 0.11 * row)
        bottom = self.middles[at] + row / 2 - min(1.5, row * 0.08)
        kinds = (changes.by_attention, "attention"), (changes.by_feed_forward, "forward")
        for number, (values, kind) in enumerate(kinds):
            share = min(1.0, float(values[layer, at]) / self.shared.most)
            yield tag(
                "rect", x=f"{self._x(layer + 1) + 1:.1f}",
                y=f"{bottom - (2 - number) * thick - 0.6:.1f}",
                width=f"{share * (self.cell - 2):.1f}", height=f"{thick:.2f}",
                class_=f"bx-xr-{kind}",
            )  # fmt: skip

    def _threads(self) -> Iterator[Html]:
        """Draw attention as threads from the pieces looked at to the pieces that look."""
        pale = min(1.0, (_FEW / self.tokens) ** 0.5)
        for layer, drawn in self.shared.threads.items():
            start, end = self._x(layer) + self.cell, self._x(layer + 1)
            middle = f"{(start + end) / 2:.0f}"
            for link in drawn:
                at, to, weight = link
                strong = at == self.asked
                if not strong and self.width == NARROW:
                    continue
                shade = 0.4 + 0.6 * weight if strong else pale * (0.1 + 0.25 * weight)
                says = thread_words(self.result, layer, link, self.shared.head)
                low, high = f"{self.middles[to]:.1f}", f"{self.middles[at]:.1f}"
                yield tag(
                    "path", *self._title(says),
                    d=f"M{start:.0f} {low}C{middle} {low} {middle} {high} {end:.0f} {high}",
                    class_="bx-xr-thread" + (" bx-xr-strong" if strong else ""),
                    stroke_width=f"{0.6 + (6 if strong else 3) * weight:.2f}",
                    stroke_opacity=f"{shade:.2f}", data_at=linked([at], text=layer + 1),
                    data_say=says if self.live else None,
                )  # fmt: skip

    def _answers(self, height: float) -> tuple[list[Html], float]:
        """Draw the possible answers at the right; return them and the lower edge."""
        candidates, y = self.result.candidates, self.middles[self.asked]
        room = len(candidates) * _BAR
        height = max(height, _TOP + room)
        top = max(float(_TOP), min(height - room, y - room / 2))
        start, x = self._x(self.columns - 1) + self.cell, self.width - self.right + 22
        bend = (x - 4 - start) / 2
        parts = [tag("text", "answer", x=f"{x:.1f}", y=11, class_="bx-xr-quiet",
                     **self._stop(f"{asked(self.result)} …"))]  # fmt: skip
        for number, each in enumerate(candidates):
            middle = top + (number + 0.5) * _BAR
            parts += [
                tag("path", d=f"M{start:.1f} {y:.1f}C{start + bend:.1f} {y:.1f} "
                    f"{x - 4 - bend:.1f} {middle:.1f} {x - 4:.1f} {middle:.1f}",
                    class_="bx-xr-thread bx-xr-strong",
                    stroke_width=f"{0.6 + 6 * each.probability:.2f}",
                    stroke_opacity=f"{0.3 + 0.6 * each.probability:.2f}"),
                self._candidate(each, number, x, middle),
            ]  # fmt: skip
        return parts, top + room + 2

    def _candidate(self, each: Candidate, number: int, x: float, middle: float) -> Html:
        says, room = candidate_words(self.result, each), self.width - x
        share = percent(each.probability, 0 if each.probability >= 0.1 else 1)
        letters, before = room - printed_width(share, _LETTER) - 6, room * each.before
        size, off = f"font-size:{_LETTER:g}px", bool(self.result.off)
        parts = [
            tag("text", fitting(visible(each.name), letters, _LETTER), x=f"{x:.1f}",
                y=f"{middle - 7:.1f}", style=size,
                class_="bx-svg-strong" if each.rank == 1 else None),
            tag("text", share, x=f"{x + room:.1f}", y=f"{middle - 7:.1f}", class_="bx-svg-name",
                style=size),
            tag("rect", x=f"{x:.1f}", y=f"{middle + 2:.1f}", width=f"{room:.1f}", height=8,
                class_="bx-svg-track"),
            tag("rect", x=f"{x:.1f}", y=f"{middle + 2:.1f}", height=8,
                class_="bx-svg-bar bx-xr-bar", width=f"{max(1.0, room * each.probability):.1f}",
                style=f"--bx-from:{before:.1f}px" if self.live and off else None),
        ]  # fmt: skip
        if off:
            here = f"{x + before:.1f}"
            parts.append(tag("line", x1=here, x2=here, y1=f"{middle:.1f}", y2=f"{middle + 12:.1f}",
                             class_="bx-xr-before"))  # fmt: skip
        if each.followed:
            parts.append(tag("text", "▸", x=f"{x - 12:.1f}", y=f"{middle - 7:.1f}", style=size))
        return tag("g", *parts, *self._title(says), class_="bx-xr-node",
                   **self._stop(says, "follow", number))  # fmt: skip


def _heights(tokens: int, asked_at: int) -> list[float]:
    """Return the heights of the rows; in a long text the one that is asked is higher."""
    low, high = _ROW
    if tokens <= WORDS:
        return [min(high, (_HIGH - _TOP) / tokens)] * tokens
    usual = max(low, (_HIGH - _TOP - _ASKED) / (tokens - 1))
    return [max(_ASKED, usual) if at == asked_at else usual for at in range(tokens)]


def _fitted(word: str, room: float, letter: float) -> tuple[str, float]:
    """Write a word smaller where that makes it fit, and only then shorten it."""
    wide = printed_width(word, letter)
    least = min(letter, _SMALLEST)
    smaller = max(least, letter * min(1.0, room / wide)) if wide else letter
    return fitting(word, room + 0.01, smaller), smaller  # what was made to fit may be rounded up


def key() -> Html:
    """Say what the two bars of a cell are, by their place and by their colour."""
    sign = {
        kind: tag("i", class_=f"bx-xr-key bx-xr-{kind}", aria_hidden="true")
        for kind in ("attention", "forward")
    }
    return line("Added to the vector. Upper bar ", sign["attention"], ": attention; lower bar ",
                sign["forward"], ": feed-forward.")  # fmt: skip


def explanation(lens: Lens) -> Html:
    """Say how the picture is read, and what its cells are."""
    return hint(
        "Each row is a piece of the text, each column a layer. A cell shows what the output head "
        f"would answer from the piece’s vector after that layer. {READS[lens]} The darker a cell, "
        "the higher the probability there of the final answer. Threads show which pieces a piece "
        "looks at: the thicker, the more attention; those of the asked piece are coloured. The "
        "bars at the bottom of a cell show how much attention (upper bar) and feed-forward (lower "
        "bar) added to the vector. Point at anything for its numbers. Click a layer to open its "
        "heads, a piece to ask about it, or an answer to follow it through the layers."
    )

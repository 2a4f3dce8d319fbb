"""The vectors of the input: picture, arithmetic and numbers."""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from app.features.input.result import InputResult, Vectors
from app.records.fields import Field
from app.words.blocks import Html, hint, join, line, pick, sideways, tag, visible
from app.words.format import count
from app.words.lines import fitting
from app.words.notes import no_gaps_note
from app.words.panel import Panel
from app.words.pictures import NARROW, Picture, data_table, linked, picture, svg
from app.words.pixels import STEPS, pixels
from app.words.screen import Screen
from bert_core.reading.gaps import read_signs

_NAME, _SMALL = "bx-in-name bx-svg-middle", "bx-in-small bx-svg-middle"

SHOWN = 12  # most pieces in the picture; with more, their vectors could not be told apart

FIRST = 8  # numbers of each vector in the table

_LETTER = 15.0  # of a name, as in style.css
_PATCH = 32  # height of one vector in the picture
_PARTS = ("word", "position", "segment", "sum", "LayerNorm")
_LABELS = ("word", "+ position", "+ segment", "= sum", "LayerNorm")
_MOST = 0.99  # share of the numbers that are within the scale: a few are ten times larger


def _parts(result: InputResult) -> tuple[Vectors, ...]:
    return result.word, result.position, result.segment, result.sum, result.normalised


def pieces(result: InputResult, at: int) -> Html:
    """Draw all pieces as buttons; a click chooses one."""
    buttons = (
        tag("span", visible(token), data_at=linked([number]),
            aria_pressed=str(number == at).lower(),
            class_="bx-in-piece" + ("" if result.attention_mask[number] else " bx-in-pad"),
            **pick("piece", number, stop=number == at))
        for number, token in enumerate(result.tokens)
    )  # fmt: skip
    row = tag("div", *buttons, class_="bx-in-pieces", data_rove="pieces", role="group",
              aria_label="Choose a piece")  # fmt: skip
    return tag("div", _explained(result), row, class_="bx-in-top")


def _explained(result: InputResult) -> Html:
    words, positions, segments = result.rows
    return hint(
        f"Each patch is one vector: {result.width} numbers, one square each. The number below it "
        f"is its row in a table: {words:,} word vectors, {positions:,} positions, {segments:,} "
        "segments, all learned in training. Each number is added to those at the same place in "
        "the other patches. One number in a hundred is beyond the full colour. The mask is 0 for "
        "padding: no layer looks at such a position, though it has a vector like any other."
    )


def shown(result: InputResult, at: int) -> range:
    """Return the pieces in the picture: at most `SHOWN`, with the chosen one among them."""
    first = max(0, min(at - SHOWN // 2, len(result) - SHOWN))
    return range(first, min(len(result), first + SHOWN))


def scales(result: InputResult) -> tuple[float, float]:
    """Return the numbers of the full colour: of the four rows above LayerNorm, and of LayerNorm."""
    *added, normalised = _parts(result)
    before, after = (float(np.quantile(np.abs(each), _MOST)) for each in (added, normalised))
    return before or 1.0, after or 1.0


def sums(result: InputResult, at: int) -> Picture:
    """Draw the vectors of the pieces: word + position + segment = sum, then LayerNorm."""
    here = shown(result, at)
    full = scales(result)
    named = ", ".join(result.tokens[piece] for piece in here)
    norms = [np.linalg.norm(vector, axis=1) for vector in _parts(result)]
    return picture(
        "input",
        lambda width: _sums(result, here, at, width, full),
        alt=f"For {count(len(here), 'piece')} ({named}), {result.width} numbers each: word vector, "
        "position vector, segment vector, their sum, and the sum after LayerNorm. Chosen: "
        f"{result.tokens[at]} at position {at}.",
        table=[
            (result.tokens[p], result.input_ids[p], p, result.token_type_ids[p],
             result.attention_mask[p], *(float(norm[p]) for norm in norms), linked([p]))
            for p in here
        ],
        columns=("piece", "id", "at position", "segment id", "mask", *_PARTS, "at"),
    )  # fmt: skip


def _sums(result: InputResult, here: range, at: int, width: int, full: tuple[float, float]) -> Html:
    each = 5 if width == NARROW else SHOWN
    left = 100
    column = min(96.0, (width - left) / min(each, len(here)))
    bands = [here[first : first + each] for first in range(0, len(here), each)]
    high = 24 + 5 * (_PATCH + 6) + 3 * 18 + 24
    drawn: list[Html] = []
    for number, band in enumerate(bands):
        columns = [
            _column(result, piece, left + place * column, column, full, chosen=piece == at)
            for place, piece in enumerate(band)
        ]
        labels = (
            tag("text", label, x=left - 8, y=_row(row) + _PATCH / 2, class_="bx-svg-name")
            for row, label in enumerate(_LABELS)
        )
        mask = tag("text", "mask", x=left - 8, y=high - 14, class_="bx-svg-name")
        moved = f"translate(0 {number * (high + 14)})"
        drawn.append(tag("g", *labels, mask, *columns, transform=moved))
    bottom = len(bands) * (high + 14)
    return svg(width, bottom + 24, *drawn, _legend(bottom, full, narrow=width == NARROW))


def _row(row: int) -> float:
    """Return the upper edge of a row of the picture; the first three have a line below them."""
    return 24 + row * (_PATCH + 6) + min(row, 3) * 18


def _column(
    result: InputResult, piece: int, x: float, width: float, full: tuple[float, float],
    *, chosen: bool,
) -> Html:  # fmt: skip
    room, middle = width - 6, x + (width - 6) / 2
    panel = Panel.of_units(width, 1)
    name = fitting(result.tokens[piece], room, _LETTER)
    panel.text(middle, 11, name, class_=_NAME)
    for row, vector in enumerate(_parts(result)):
        grid, y = patch(vector[piece]) / full[row == len(_PARTS) - 1], _row(row)
        panel.span((x, x + room), (y, y + _PATCH), class_="bx-svg-frame")
        panel.drawn.append(pixels(grid, x=round(x, 1), y=y, width=room, height=_PATCH))
    numbers = (result.input_ids[piece], piece, result.token_type_ids[piece])
    for row, number in enumerate(numbers):
        panel.text(middle, _row(row) + _PATCH + 10, str(number), class_=_SMALL)
    bottom = _row(4) + _PATCH + 17
    panel.text(middle, bottom, str(result.attention_mask[piece]), class_=_NAME)
    if chosen:
        panel.span((x - 2, x + room + 2), (0, bottom + 12), class_="bx-in-chosen")
    kind = "bx-in-column" + ("" if result.attention_mask[piece] else " bx-in-pad")
    return tag("g", *panel.drawn, class_=kind, data_pick="piece", data_value=piece,
               data_at=linked([piece]))  # fmt: skip


def patch(vector: Vectors) -> NDArray[np.float32]:
    """Arrange a vector (D,) as a grid, row by row; what remains of the last row is 0.

    >>> patch(np.arange(6, dtype=np.float32)).tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    size = len(vector)
    least = math.isqrt(size - 1) + 1
    exact = (columns for columns in range(least, 2 * least) if size % columns == 0)
    columns = next(exact, least)
    rows = -(-size // columns)
    grid = np.zeros(rows * columns, np.float32)
    grid[:size] = vector
    return grid.reshape(rows, columns)


def _legend(y: float, full: tuple[float, float], *, narrow: bool) -> Html:
    ramp = np.linspace(-1, 1, 2 * STEPS + 1, dtype=np.float32)[None]
    before, after = full
    limits = f"±{before:.2g}, LayerNorm ±{after:.2g}"
    return tag(
        "g",
        tag("text", "−", x=4, y=y + 11, class_="bx-in-small"),
        pixels(ramp, x=16, y=y + 3, width=70 if narrow else 120, height=16),
        tag("text", f"+   full colour: {limits}", x=92 if narrow else 142, y=y + 11,
            class_="bx-in-small"),
    )  # fmt: skip


def part_shown(result: InputResult, at: int) -> Html:
    """Say which pieces are in the picture; empty if all are."""
    here = shown(result, at)
    if len(here) == len(result):
        return join()
    return line(f"Pieces {here[0]} to {here[-1]}; the text has 0 to {len(result) - 1:,}.")


def arithmetic(result: InputResult, at: int, value: int) -> Html:
    """Write out one number of the chosen piece: the sum, then LayerNorm."""
    mean, variance = float(result.mean[at]), float(result.variance[at])
    total, after = float(result.sum[at, value]), float(result.normalised[at, value])
    word, position, segment = (
        _term(float(part[at, value]), name)
        for part, name in zip(_parts(result)[:3], _PARTS, strict=False)
    )
    added: list[Html | str] = [word, "+", position, "+", segment, "=", _term(total, "sum")]
    normed: list[Html | str] = [
        "(", _term(total, "sum"), "−", _term(mean, "mean"), ") ÷ √(",
        _term(variance, "variance"), f"+ {result.epsilon:.0e}) ×",
        _term(float(result.scale[value]), "gamma"), "+", _term(float(result.shift[value]), "beta"),
        "=", _term(after, "LayerNorm"),
    ]  # fmt: skip
    return tag(
        "div",
        tag("h2", tag("bdi", visible(result.tokens[at])), f", number {value} of its vectors"),
        tag("p", *added, class_="bx-in-sum"),
        tag("p", *normed, class_="bx-in-sum"),
        class_="bx-in-arithmetic",
    )


def _term(value: float, name: str) -> Html:
    """Draw a number with its name below it; one below 0 is in brackets."""
    shown = number(value) if value >= 0 else f"({number(value)})"
    return tag("span", tag("b", shown), tag("small", name), class_="bx-in-term")


def number(value: float) -> str:
    """Print a number with four digits after the point.

    >>> number(-0.25)
    '−0.2500'
    """
    return f"{value:.4f}".replace("-", "−")


def first_values(result: InputResult, at: int) -> dict[str, Sequence[float]]:
    """List the first numbers of the piece's vectors, with each step of LayerNorm."""
    centred = result.sum[at] - result.mean[at]
    columns = {
        "word": result.word[at],
        "+ position": result.position[at],
        "+ segment": result.segment[at],
        "= sum": result.sum[at],
        "− mean": centred,
        "÷ deviation": centred / np.sqrt(result.variance[at] + result.epsilon),
        "× gamma": result.scale,
        "+ beta": result.shift,
        "= LayerNorm": result.normalised[at],
    }
    first = {name: values[:FIRST].tolist() for name, values in columns.items()}
    return {"number": range(min(FIRST, result.width)), **first}


def screen(
    result: InputResult,
    *,
    at: Annotated[int | None, Field("Piece", key="place", start=2, most="last_position")] = None,
    value: Annotated[int, Field("Number", most="last_number")] = 0,
) -> Screen:
    """Say what is shown.

    Args:
        result: the input.
        at: the piece; None for the one that was asked for, or the first of the text.
        value: which of its numbers is worked out.
    """
    at = (result.piece if result.piece is not None else 1) if at is None else at
    at = min(at, len(result) - 1)
    return Screen(
        f"The model receives {count(len(result), 'piece')}, each as {result.width:,} numbers: the "
        "vectors of its word, its position and its segment, added and normalised.",
        (
            sums(result, at),
            part_shown(result, at),
            arithmetic(result, at, value),
            sideways(data_table(first_values(result, at), "input-values"), "The first numbers"),
            line(f"The first {FIRST} of {result.width} numbers, from left to right."),
        ),
        first=(no_gaps_note(read_signs(f"{result.text} {result.text_pair}")[1]),),
        answer=pieces(result, at),
        clicks={"piece": lambda clicked: {"place": clicked} if 0 <= clicked < len(result) else {}},
    )


def snippet(result: InputResult, model: str, at: int) -> str:
    """Write the same computation in Python; `at` is the piece."""
    second = f", {result.text_pair!r}" if result.text_pair else ""
    return f"""import torch
from bert_core import BertModel, load_tokenizer
from bert_core.analysis.input_parts import input_parts

tokenizer = load_tokenizer({model!r})
model = BertModel.from_pretrained({model!r})
encoding = tokenizer.encode({result.text!r}{second})
with torch.inference_mode():
    parts = input_parts(
        model, torch.tensor(encoding.input_ids), torch.tensor(encoding.token_type_ids)
    )
at = {min(at, result.real - 1)}
print(encoding.tokens[at])
for name in ("word", "position", "segment", "sum", "normalised"):
    print(name, getattr(parts, name)[at, :4])  # each (T, D)
"""

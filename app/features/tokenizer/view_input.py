"""What the model receives: ids, segment ids and attention mask, and how much room they take."""

from collections.abc import Sequence
from itertools import accumulate, groupby

import pandas as pd

from app.features.tokenizer.result import Piece, Received, TokenizerResult
from app.words.blocks import hint, line, note
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.pictures import NARROW, WIDE, Picture, linked, picture, svg

DRAWN = 120
"""Most tokens that are drawn, and listed below the drawing; a longer input has its own table."""

COLOURS = 6
"""How many colours the style sheet has for pieces, `bx-c0` to `bx-c5`."""

ROWS = ("piece", "id", "segment", "mask")
_LETTER = 9.8  # units: the width of a letter of the monospaced font at 16 units
_MOST_LETTERS = 24  # of a piece; a longer one is shortened in the drawing
_LINE = 24  # height of one row of a block
_BLOCK = 4 * _LINE + 16
_LEFT = {WIDE: 76, NARROW: 62}  # width of the names of the rows
_EXPLAINED = (
    "The model gets three rows of numbers. input_ids says which piece is at each position. "
    "token_type_ids, the segment, says whether a piece belongs to the first text (0) or the second "
    "(1); models without segments have 0 everywhere. attention_mask says which positions to look "
    "at: 1 for a piece, 0 for padding. Texts of one batch are padded to the same length with {}; "
    "the model ignores it."
)


def received(result: TokenizerResult, given: Received) -> Picture:
    """Draw the rows of the input, piece by piece, in as many lines as they need."""
    read, padding, second = sum(given.mask), given.mask.count(0), sum(given.segments)
    shown = f"; the first {DRAWN} are drawn" if len(given.tokens) > DRAWN else ""
    return picture(
        "model-input",
        lambda width: _rows(result, given, width),
        alt=f"The input has {count(len(given.tokens), 'position')}: {read - second:,} in segment "
        f"0, {second:,} in segment 1, {padding:,} of padding{shown}.",
        table=input_table(result, given, DRAWN),
    )


def explained(result: TokenizerResult, given: Received) -> Html:
    """Say how much of the input is padding or not drawn; what the rows mean is behind a hint."""
    rest = len(given.tokens) - DRAWN
    more = f" The first {DRAWN} are drawn; the table has them all." if rest > 0 else ""
    padding = given.mask.count(0)
    padded = f", {padding:,} of them padding" if padding else ""
    framed = tag("bdi", f"{result.frame}: ")
    told = line(framed, f"{count(len(given.tokens), 'position')}{padded}.{more}")
    return join(hint(_EXPLAINED.format(result.padding)), told)


def input_table(result: TokenizerResult, given: Received, limit: int | None = None) -> pd.DataFrame:
    """List the first positions of the input; `at` links a row to its piece."""
    pieces = [None if place is None else result.piece(place) for place in given.places[:limit]]
    return pd.DataFrame(
        {
            "position": range(len(pieces)),
            "piece": given.tokens[:limit],
            "input_ids": given.ids[:limit],
            "token_type_ids": given.segments[:limit],
            "attention_mask": given.mask[:limit],
            "characters": ["" if piece is None else piece.source for piece in pieces],
            "start": ["" if p is None or p.added else str(p.start) for p in pieces],
            "end": ["" if p is None or p.added else str(p.end) for p in pieces],
            "word": ["" if p is None or p.word is None else str(p.word) for p in pieces],
            "at": [None if place is None else linked([place]) for place in given.places[:limit]],
        }
    )


def _rows(result: TokenizerResult, given: Received, width: int) -> Html:
    """Draw blocks of four rows; a block holds as many positions as fit into the width."""
    left = _LEFT[width]
    blocks = _blocks(result, given, width - left)
    drawn: list[Html] = []
    for number, block in enumerate(blocks):
        top = number * _BLOCK
        drawn += [
            tag("text", name, x=0, y=top + row * _LINE + _LINE / 2 - 1, class_="bx-tok-row")
            for row, name in enumerate(ROWS)
        ]
        edges = list(
            accumulate((_cell_width(result, given, at) for at in block), initial=float(left))
        )
        cells = zip(block, edges, edges[1:], strict=False)
        drawn += [_column(result, given, at, (x, end), top) for at, x, end in cells]
        for row, name, values in ((2, "seg", given.segments), (3, "mask", given.mask)):
            drawn += _runs(name, [values[at] for at in block], edges, top + row * _LINE)
    return svg(width, len(blocks) * _BLOCK - (_BLOCK - 4 * _LINE), *drawn)


def _blocks(result: TokenizerResult, given: Received, room: float) -> list[list[int]]:
    """Divide the positions among lines; pieces that touch in the text stay on one line."""
    blocks: list[list[int]] = [[]]
    used = 0.0
    for group in _groups(result, given):
        wide = sum(_cell_width(result, given, at) for at in group)
        if blocks[-1] and used + wide > room and wide <= room:
            blocks.append([])
            used = 0.0
        for at in group:
            if blocks[-1] and used + _cell_width(result, given, at) > room:
                blocks.append([])
                used = 0.0
            blocks[-1].append(at)
            used += _cell_width(result, given, at)
    return blocks


def _groups(result: TokenizerResult, given: Received) -> list[list[int]]:
    """Group the drawn positions: a word with the marks that follow it without a space."""
    groups: list[list[int]] = []
    before: Piece | None = None
    for at, place in enumerate(given.places[:DRAWN]):
        piece = None if place is None else result.piece(place)
        if piece is not None and before is not None and _touches(before, piece):
            groups[-1].append(at)
        else:
            groups.append([at])
        before = piece
    return groups


def _touches(before: Piece, piece: Piece) -> bool:
    """Return whether a line may not break between two pieces: inside a word, before a mark."""
    if before.added or piece.added or before.side != piece.side:
        return False
    mark = not any(map(str.isalnum, piece.source))
    return piece.continues or (mark and piece.start == before.end)


def _cell_width(result: TokenizerResult, given: Received, at: int) -> float:
    name = visible(result.readable(given.tokens[at]))
    letters = max(min(len(name), _MOST_LETTERS), len(str(given.ids[at])))
    return round(letters * _LETTER + 12, 1)


def _look(result: TokenizerResult, place: int | None) -> str:
    """Return the style classes of a piece's cell: its colour is that of the text above."""
    if place is None:
        return "bx-tok-pad"
    own = result.columns.sides[place] is not None
    return f"bx-tok-name bx-c{place % COLOURS}" if own else "bx-tok-pad"


def _column(
    result: TokenizerResult, given: Received, at: int, ends: tuple[float, float], top: float
) -> Html:
    """Draw the piece and the id at one position."""
    token = visible(result.readable(given.tokens[at]))
    short = token if len(token) <= _MOST_LETTERS else f"{token[: _MOST_LETTERS - 1]}…"
    place = given.places[at]
    looks = (_look(result, place), "bx-tok-pad" if place is None else "bx-tok-id")
    cells = [
        part
        for row, text in enumerate((short, str(given.ids[at])))
        for part in _cell(text, ends, top + row * _LINE, looks[row])
    ]
    return tag("g", *cells, data_at=None if place is None else linked([place]))


def _runs(name: str, values: Sequence[int], edges: Sequence[float], top: float) -> list[Html]:
    """Draw equal neighbours in a row as one stretch with their number in its middle."""
    drawn: list[Html] = []
    at = 0
    for value, run in groupby(values):
        end = at + len(list(run))
        drawn += _cell(str(value), (edges[at], edges[end]), top, f"bx-tok-{name}{value}")
        at = end
    return drawn


def _cell(text: str, ends: tuple[float, float], top: float, look: str) -> tuple[Html, Html]:
    """Draw a rectangle between two places, with its text in the middle."""
    x, end = ends
    return (
        tag("rect", x=f"{x:.1f}", y=top, width=f"{end - x - 2:.1f}", height=_LINE - 2,
            class_=f"bx-tok-cell {look}"),
        tag("text", text, x=f"{(x + end) / 2 - 1:.1f}", y=top + _LINE / 2 - 1,
            class_="bx-tok-in"),
    )  # fmt: skip


def length_meter(result: TokenizerResult) -> Html:
    """Draw how much of the model's maximum length the input uses."""
    found, limit = result.cut.found, result.max_length
    share = min(1.0, found / limit)
    return tag(
        "div",
        tag("div", class_="bx-meter-fill", style=f"width:{share:.1%}"),
        class_=f"bx-meter{' bx-meter-over' if found > limit else ''}",
        role="meter",
        aria_label="Length of the input in tokens",
        aria_valuemin=0,
        aria_valuemax=limit,
        aria_valuenow=min(found, limit),
        aria_valuetext=f"{found} of {limit} tokens",
    )


def too_long(result: TokenizerResult) -> Html:
    """State what truncation at the model's maximum length removes, and where it starts."""
    lines: list[Html] = []
    for side, text in enumerate(result.texts):
        first = result.first_lost(side)
        if first is None:
            continue
        lost = result.cut.lengths[side] - result.cut.kept[side]
        name = "the text" if len(result.texts) == 1 else f"text {'AB'[side]}"
        lines.append(
            note(
                tag("strong", f"Too long by {lost:,} tokens. "),
                f"The model does not get {name} from character {first.start:,} on: ",
                tag("bdi", f"“{visible(text[first.start : first.start + 60])}…”"),
                caution=True,
            )
        )
    return join(*lines)

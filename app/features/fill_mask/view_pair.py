"""One word swapped: what changes in every gap, and which text the model expects more."""

from collections.abc import Sequence

from app.features.fill_mask.result import Contrast, PairResult
from app.features.fill_mask.view import explained, letters_wide, piece_name, quoted
from app.words.format import shortened, signed
from app.words.html import Html, join, tag, visible
from app.words.panel import Panel
from app.words.pictures import Picture, picture, svg
from app.words.screen import Part, Screen

TITLE = "Swap"

_BAR, _GAP = 24, 10
_COMPARED = (
    "The five best pieces of both sentences are compared: bars to the left are more probable with "
    "the first word, bars to the right with the second. The difference comes from the texts the "
    "model was trained on. It says nothing about people."
)
_NATS = (
    "Every piece is hidden in turn, and the natural logarithms of the probabilities that the model "
    "gives these pieces are added up: the pseudo-log-likelihood (Salazar et al. 2020), in nats. "
    "One nat less is 2.7 times less probable. A longer text has a lower sum, and gaps do not count."
)


def screen(result: PairResult, *, titles: Sequence[Html] = ()) -> Screen:
    """Say what is shown; `titles` are those of the gaps, if there are several."""
    parts: list[Part] = [pair_line(result)]
    if result.slots:
        parts.append(
            explained("Difference of the probabilities, in percentage points.", more=_COMPARED)
        )
    for number, title in enumerate(titles or [join()] * len(result.slots)):
        parts += [title, _pair_picture(result, number)]
    return Screen(f"{_most(result)} {_expected(result)}".strip(), tuple(parts))


def _most(result: PairResult) -> str:
    """Say which word of the gaps changes most; "" without a gap."""
    if not result.slots:
        return ""
    gap, row = max(
        ((gap, row) for gap, rows in enumerate(result.slots, 1) for row in rows),
        key=lambda each: abs(each[1].difference),
    )
    word = visible(result.words[row.difference < 0])
    where = f" in gap {gap}" if len(result.slots) > 1 else ""
    return (
        f"With “{word}”, {quoted(row.token)}{where} is more probable by "
        f"{100 * abs(row.difference):.1f} percentage points; no word changes more."
    )


def _expected(result: PairResult) -> str:
    """Say which of the texts the model expects more; "" if they were not scored."""
    if not result.scores:
        return ""
    first, second = (signed(score, 1) for score in result.scores)
    if first == second:
        return f"The model expects both texts equally: {first} nats."
    more = visible(result.words[result.scores[0] < result.scores[1]])
    return (
        f"The model expects the text with “{more}” more: {first} nats with "
        f"“{visible(result.words[0])}”, {second} with “{visible(result.words[1])}”."
    )


def pair_line(result: PairResult) -> Html:
    """Show the two texts, and which the model expects more."""
    rows = [
        tag("li", tag("b", tag("bdi", visible(word))), " ", tag("bdi", visible(text)))
        for word, text in zip(result.words, result.texts, strict=True)
    ]
    listed = tag("ul", *rows, class_="bx-pair")
    more = _expected(result)
    return join(listed, explained(more, more=_NATS)) if more else listed


def _pair_picture(result: PairResult, number: int) -> Picture:
    rows = result.slots[number]
    changes = ", ".join(f"{row.token} {points(row.difference)}" for row in rows)
    return picture(
        f"fill-mask-pair-{number + 1}",
        lambda width: differences(rows, result.words, width, scale=result.slots),
        alt=f"Gap {number + 1}: probability with {result.words[0]} minus probability with "
        f"{result.words[1]}, in percentage points: {changes}.",
        table=[(row.token, row.first, row.second, row.difference) for row in rows],
        columns=("piece", *(f"with {visible(word)}" for word in result.words), "difference"),
    )


def differences(
    rows: Sequence[Contrast],
    words: tuple[str, str],
    width: int,
    *,
    scale: Sequence[Sequence[Contrast]],
) -> Html:
    """Draw differences as bars from a line in the middle, to the left for the first word."""
    every = [row for mask in scale for row in mask]
    left = max(letters_wide(_shortened(row.token)) for row in every) + 24
    half = (width - left) / 2
    zero, room, rise = left + half, half - 84, _BAR + _GAP
    top = max(abs(row.difference) for row in every) or 1.0
    down = (29, 29 + rise * len(rows))  # more with the first word is left
    panel = Panel((zero - room, zero + room), down, (top, -top), (len(rows), 0))
    heads = [_shortened(word) for word in words]
    panel.text(0, 0, f"← more with {heads[0]}", -8, -17, class_="bx-svg-name")
    panel.text(0, 0, f"with {heads[1]} →", 8, -17, class_=None)
    for at, row in enumerate(rows):
        first, y = row.difference > 0, at + 0.5
        kind = "bx-svg-bar" if first else "bx-svg-mark"
        panel.text(0, y, _shortened(row.token), left - 12 - zero, class_="bx-svg-name")
        panel.span((0, row.difference), (y, y), inset=-_BAR / 2, class_=kind)
        panel.text(row.difference, y, points(abs(row.difference)), -6 if first else 6,
                   class_="bx-svg-name" if first else None)  # fmt: skip
    panel.post(0, class_="bx-svg-base")
    return svg(width, rise * (len(rows) + 1), *panel.drawn)


def points(difference: float) -> str:
    """Format a difference of probabilities in percentage points.

    >>> points(0.1234), points(-0.00001)
    ('+12.3', '−0.0')
    """
    return signed(100 * difference, 1)


def _shortened(word: str) -> str:
    return shortened(piece_name(word), 14)

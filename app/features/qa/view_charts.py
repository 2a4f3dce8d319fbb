"""Drawings of the question-answering page.

In order: the answers as bars; where the answer starts and ends as two curves, with an overview of a
long passage; start against end as a map; the windows that a long passage was read in.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

from app.features.qa import view_text as view
from app.features.qa.result import Coverage, Floats, QaResult
from app.words.blocks import line
from app.words.format import percent, shortened, signed
from app.words.html import Html, join, tag, visible
from app.words.matrix import Matrix, shaded
from app.words.pictures import NARROW, WIDE, Picture, bar_length, linked, picture, svg

Kind = Literal["curves", "logits"]

KINDS: dict[Kind, str] = {"curves": "Probabilities", "logits": "Raw logits"}
"""What the curves may show, and what that is called on the screen."""

Scale = Literal["own", "common"]

SCALES: dict[Scale, str] = {"own": "own peak", "common": "100 %"}
"""What the darkest colour of the map may mean, and what that is called on the screen."""

_STEPS = (0.05, 0.1, 0.2, 0.5, 1.0)  # upper limits of the probability axis
_WORDS = {WIDE: 44, NARROW: 16}  # on the axis of the curves
_CELLS = {WIDE: 16, NARROW: 8}  # of the map, in a row
_LETTERS = 16  # of one word on an axis
_WRITTEN = 0.01  # probability from which a cell of the map shows its number
_LISTED = 0.001  # probability from which a pair is listed in the table
_BINS = 60  # bars of the overview
_ROWS = 200  # of a table in the page
_NAMED_WINDOWS = 12  # drawn each in its own row, with its number


# -- answers --------------------------------------------------------------------------------------


def answers(result: QaResult) -> Picture:
    """Draw the answers and "no answer" as bars, and below them what was rejected."""
    return picture(
        "qa-answers",
        lambda width: _answer_bars(result, width),
        alt=describe_answers(result),
        table=answers_table(result).head(_ROWS),
    )


def describe_answers(result: QaResult) -> str:
    """Describe the answers and their probabilities in one sentence."""
    named = ", ".join(
        f"{visible(answer.text)[:60]} {percent(answer.probability)}" for answer in result.answers
    )
    more = f"; {len(result.rejected)} rejected spans score higher" if result.rejected else ""
    return f"Answers, best first: {named}; no answer {percent(result.null_probability)}{more}."


def answers_table(result: QaResult) -> pd.DataFrame:
    """List the answers with their places, "no answer" (number 0) and rejected spans (-1)."""
    rows: list[tuple[object, ...]] = []
    for number, answer in enumerate(result.answers, start=1):
        for place in answer.places:
            text, keys = result.passage[place.start : place.end], (place.start, place.end)
            rows.append((number, visible(text), *keys, place.score, place.probability, "", keys))
    rows.append((0, "(no answer)", 0, 0, result.null_score, result.null_probability, "", None))
    for bad in result.rejected:
        text, rule = f"{bad.first} … {bad.last}", view.reason(bad, result.longest)
        start, end = bad.place or (0, 0)
        rows.append((-1, visible(text), start, end, bad.score, 0.0, rule, bad.place))
    columns = ["answer", "text", "start", "end", "score", "probability", "rejected because", "at"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(at=[place and view.at(result, place) for place in table["at"]])


def _answer_bars(result: QaResult, width: int) -> Html:
    """Draw one row per answer: its words beside the bar, above it on a narrow screen."""
    narrow = width < WIDE
    left, top, height = (4, 24, 56) if narrow else (330, 0, 34)
    letters = width // 10 if narrow else left // 10
    room, shares = width - left - 84, [answer.probability for answer in result.answers]
    rows: list[Html] = []

    def row(name: str, *drawn: Html, keys: str | None, strong: bool = False) -> None:
        y = len(rows) * height
        label = tag(
            "text", visible(shortened(" ".join(name.split()), letters)),
            x=4 if narrow else left - 12, y=11 if narrow else 12,
            class_=None if narrow else "bx-svg-name",
            font_weight="600" if strong else None,
        )  # fmt: skip
        rows.append(tag("g", label, *drawn, transform=f"translate(0 {y})", data_at=keys))

    def bar(share: float, kind: str) -> tuple[Html, Html]:
        length = bar_length(share / longest, room)
        return (
            tag("rect", x=left, y=top, width=f"{length:.2f}", height=24, class_=kind),
            tag("text", percent(share), x=f"{left + length + 8:.2f}", y=top + 12),
        )

    longest = next(step for step in _STEPS if max(*shares, result.null_probability) <= step)
    for number, each in enumerate(result.answers, start=1):
        keys = view.at(result, (each.best.start, each.best.end))
        kind = "bx-svg-mark" if number == 1 else "bx-svg-bar"
        drawn = bar(each.probability, kind)
        row(f"{number}. {each.text}", *drawn, keys=keys, strong=number == 1)
    row("no answer", *bar(result.null_probability, "bx-qa-null"), keys=None)
    for bad in result.rejected:
        rule = shortened(f"✕ {view.reason(bad, result.longest)}", (width - left) // 8)
        said = tag("text", rule, x=left, y=top + 12, class_="bx-qa-rule")
        place = view.at(result, bad.place) if bad.place else None
        row(f"{bad.first} … {bad.last}", said, keys=place)
    return svg(width, len(rows) * height, *rows)


# -- start and end --------------------------------------------------------------------------------


def curves(result: QaResult, kind: Kind, middle: int | None = None) -> Picture:
    """Draw start and end over the words around one word, or around the answer."""
    return picture(
        f"qa-{kind}",
        lambda width: _curves(result, kind, result.words.nearby(_WORDS[width], middle), width),
        alt=describe_curves(result, kind),
        table=curves_table(result, kind, middle),
    )


def describe_curves(result: QaResult, kind: Kind) -> str:
    """Describe the curves in one sentence."""
    named = []
    for name, values in zip(("start", "end"), _values(result, kind), strict=True):
        top = int(values.argmax())
        text = _word(result, top)[:40]
        named.append(f"{name} highest at “{text}” with {_number(float(values[top]), kind)}")
    return f"Two curves over the words of the passage: {', '.join(named)}."


def curves_note(result: QaResult, kind: Kind, middle: int | None = None) -> Html:
    """Explain the curves and which part of the passage they show."""
    shown, words = result.words.nearby(_WORDS[WIDE], middle), len(result.words)
    part = f"Words {shown.start:,} to {shown.stop - 1:,} of {words:,}, counted from 0. "
    said = {
        "curves": "A point is the probability that the answer starts, or ends, in this word: the "
        "sum over all spans that do. What is missing from 100 % is “no answer”.",
        "logits": "A point is the head’s own logit for this word, the highest of its pieces. Only "
        "differences between logits have a meaning.",
    }[kind]
    narrow = "A narrow screen shows fewer words; the table has them."
    return view.noted(part if len(shown) < words else "What is a point?", f"{said} {narrow}")


def curves_table(result: QaResult, kind: Kind, middle: int | None = None) -> pd.DataFrame:
    """Return the numbers of the curves: of all words, or of the part drawn of a long passage."""
    whole = words_table(result)
    if len(whole) <= _ROWS:
        return whole
    shown = result.words.nearby(_WORDS[WIDE], middle)
    return whole.iloc[shown.start : shown.stop]


def words_table(result: QaResult) -> pd.DataFrame:
    """Return every word of the passage with its probabilities and logits."""
    words = result.words
    return pd.DataFrame(
        {
            "word": [_word(result, number) for number in range(len(words))],
            "first character": words.starts,
            "starts here": words.start_probability,
            "ends here": words.end_probability,
            "start logit": words.start_logit,
            "end logit": words.end_logit,
            "at": [_keys(result, number) for number in range(len(words))],
        }
    )


def is_long(result: QaResult) -> bool:
    """Return whether the passage has more words than the curves show."""
    return len(result.words) > _WORDS[WIDE]


def is_cut(table: pd.DataFrame) -> bool:
    """Return whether a table has more rows than the one below a picture."""
    return len(table) > _ROWS


def overview(result: QaResult, middle: int | None = None) -> Html:
    """Draw a long passage as small bars; a click on one shows its words in the curves."""
    words, shown = result.words, result.words.nearby(_WORDS[WIDE], middle)
    highest = np.maximum(words.start_probability, words.end_probability)
    edges = np.linspace(0, len(words), min(_BINS, len(words)) + 1).astype(int).tolist()
    bars = []
    for first, last in pairwise(edges):
        share = float(highest[first:last].max())
        height = tag("span", style=f"height:{100 * share / highest.max():.1f}%")
        inside = first < shown.stop and shown.start < last
        here = first <= (shown.start + shown.stop) // 2 < last
        bars.append(
            tag("button", height, type="button", class_="bx-qa-bin", data_pick="around",
                data_value=(first + last) // 2, tabindex=0 if here else -1,
                aria_label=f"Words {first} to {last - 1}: at most {percent(share)}",
                aria_current="true" if inside else None)
        )  # fmt: skip
    return join(
        line("The whole passage; click a part to see it below."),
        tag("div", *bars, class_="bx-qa-overview", data_rove="overview", role="group",
            aria_label="Overview of the passage"),
    )  # fmt: skip


def _curves(result: QaResult, kind: Kind, shown: range, width: int) -> Html:
    """Draw the two curves over some words."""
    left, top, height = 64, 40, 190
    step = (width - left - 8) / len(shown)
    start, end = (values[shown.start : shown.stop] for values in _values(result, kind))
    low, high = _limits(np.concatenate([start, end]), kind)

    def x(number: float) -> float:
        return left + (number + 0.5) * step

    def y(value: float) -> float:
        return top + height * (1 - (value - low) / (high - low))

    base = top + height
    parts = [_band(result, shown, x, (top, base))]
    for value in (low, (low + high) / 2, high):
        printed = _percent(value) if kind == "curves" else signed(value, 1)
        parts += [
            tag("line", x1=left, x2=width - 8, y1=f"{y(value):.1f}", y2=f"{y(value):.1f}",
                class_="bx-svg-grid"),
            tag("text", printed, x=left - 8, y=f"{y(value):.1f}",
                class_="bx-svg-name bx-svg-small"),
        ]  # fmt: skip
    for name, values in (("start", start), ("end", end)):
        points = [(x(number), y(float(value))) for number, value in enumerate(values)]
        drawn = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(tag("polyline", points=drawn, class_=f"bx-qa-{name}"))
        parts += [_point(name, *point) for point in points]
    for number in shown:
        at = x(number - shown.start)
        word = shortened(_word(result, number), _LETTERS)
        parts.append(
            tag(
                "g",
                tag("rect", x=f"{at - step / 2:.1f}", y=top, width=f"{step:.1f}",
                    height=height + 14, class_="bx-qa-hit"),
                tag("text", word, x=f"{at:.1f}", y=base + 14, class_="bx-svg-name bx-svg-small",
                    transform=f"rotate(-55 {at:.1f} {base + 14})"),
                data_at=_keys(result, number),
            )
        )  # fmt: skip
    letters = max(min(len(_word(result, number)), _LETTERS) for number in shown)
    return svg(width, base + 32 + 7 * letters, *parts, *_legend(kind, width))


def _band(
    result: QaResult, shown: range, x: Callable[[float], float], ends: tuple[int, int]
) -> Html:
    """Draw the band behind the words of the best span; empty if they are not shown."""
    first, last = result.words.answer
    first, last = max(first, shown.start), min(last, shown.stop - 1)
    if first > last:
        return join()
    left, right = x(first - shown.start - 0.5), x(last - shown.start + 0.5)
    return tag("rect", x=f"{left:.1f}", y=ends[0], width=f"{right - left:.1f}",
               height=ends[1] - ends[0], class_="bx-qa-band")  # fmt: skip


def _point(name: str, x: float, y: float) -> Html:
    """Draw a round point of the start, an edged one of the end."""
    if name == "start":
        return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, class_="bx-qa-start-point")
    corners = f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
    return tag("path", d=corners, class_="bx-qa-end-point")


def _legend(kind: Kind, width: int) -> list[Html]:
    """Name the lines, and what their height is."""
    unit = "share of all probability" if kind == "curves" else "logit"
    parts = [tag("text", unit, x=4, y=14, class_="bx-svg-small")] if width >= WIDE else []
    for x, name, said in ((width - 344, "start", "starts here"), (width - 210, "end", "ends here")):
        parts += [
            tag("line", x1=x, x2=x + 34, y1=14, y2=14, class_=f"bx-qa-{name}"),
            _point(name, x + 17, 14),
            tag("text", said, x=x + 42, y=14, class_="bx-svg-small"),
        ]
    return [
        *parts,
        tag("rect", x=width - 88, y=5, width=18, height=18, class_="bx-qa-band"),
        tag("text", "answer", x=width - 64, y=14, class_="bx-svg-small"),
    ]


def _percent(value: float) -> str:
    """Print a mark of an axis, without decimals that are 0."""
    return percent(value, 1 if round(1000 * value) % 10 else 0, counted=True)


def _limits(values: Floats, kind: Kind) -> tuple[float, float]:
    """Return the ends of the vertical axis."""
    highest = float(values.max())
    if kind == "curves":
        return 0.0, next((step for step in _STEPS if highest <= step), 1.0)
    low = float(np.floor(values.min()))
    return low, max(low + 1.0, float(np.ceil(highest)))


# -- start and end together -----------------------------------------------------------------------


def pairs(result: QaResult, scale: Scale = "own") -> Picture:
    """Draw the probability of every pair of a start word and an end word near the answer.

    Args:
        result: the result.
        scale: what the darkest colour means: the highest probability in the map, or 100 %.
    """
    return picture(
        "qa-pairs",
        lambda width: _pairs(result, scale, width),
        alt=describe_pairs(result),
        table=pairs_table(result),
    )


def describe_pairs(result: QaResult) -> str:
    """Describe the map in one sentence."""
    best = result.answers[0]
    return (
        "Heat map of start words (down) against end words (across) near the answer; the marked "
        f"cell is “{visible(best.text)[:80]}”, "
        f"whose exact span has {percent(best.best.probability)}."
    )


def pairs_note(result: QaResult) -> Html:
    """Explain the map and which part of the passage it shows."""
    whole = len(result.grid.rows) == len(result.grid.columns) == len(result.words)
    part = "" if whole else "Shown are the words around the start and the end of the best span. "
    return view.noted(
        part or "What is a cell?",
        (
            "A cell is the probability of an answer that starts in the word on its left and ends "
            "in the word above it. Cells without a frame cannot be answers: the end would come "
            "before the start, or the answer would be too long or break a rule in Settings."
        ),
    )


def pairs_table(result: QaResult) -> pd.DataFrame:
    """List the likelier pairs of words with their probabilities, the likeliest first."""
    rows, columns = np.nonzero(result.grid.probability >= _LISTED)
    first = [result.grid.rows[row] for row in rows]
    last = [result.grid.columns[column] for column in columns]
    table = pd.DataFrame(
        {
            "start word": [_word(result, number) for number in first],
            "end word": [_word(result, number) for number in last],
            "probability": result.grid.probability[rows, columns],
            "at": [
                f"{_keys(result, a)} {_keys(result, b)}" for a, b in zip(first, last, strict=True)
            ],
        }
    )
    return table.sort_values("probability", ascending=False, ignore_index=True).head(_ROWS)


def _pairs(result: QaResult, scale: Scale, width: int) -> Html:
    """Draw the cells of the words that fit, with the words at the left and above."""
    pairs, most = result.grid, _CELLS[width]
    rows = _around(pairs.rows, result.words.answer[0], most)
    columns = _around(pairs.columns, result.words.answer[1], most)
    left = 150 if width >= WIDE else 110
    top = 22 + 6 * max(min(len(_word(result, number)), _LETTERS) for number in columns)
    peak = float(pairs.probability.max()) if scale == "own" else 1.0
    grid = Matrix(left, top, (width - left - 40) / max(len(columns), 6), 26)
    parts = [
        *grid.columns(_names(result, columns, _LETTERS), slanted=True),
        *grid.rows(_names(result, rows, left // 9)),
    ]
    for row, word in enumerate(rows):
        for column, other in enumerate(columns):
            place = word - pairs.rows.start, other - pairs.columns.start
            if pairs.allowed[place]:
                share = float(pairs.probability[place])
                cell = grid.cell(row, column, min(1.0, share / peak), _written(share))
                keys = f"{_keys(result, word)} {_keys(result, other)}"
                parts.append(tag("g", *cell, data_at=keys))
    first, last = result.words.answer
    frame = grid.place(first - rows.start, last - columns.start)
    parts.append(tag("rect", **frame, class_="bx-qa-frame"))
    bottom = top + len(rows) * grid.height
    return svg(width, bottom + 40, *parts, *_key(peak, left if width >= WIDE else 4, bottom + 12))


def _names(result: QaResult, numbers: range, letters: int) -> list[tuple[str, str]]:
    """Return words, shortened, with the keys of their pieces."""
    return [(shortened(_word(result, n), letters), _keys(result, n)) for n in numbers]


def _written(share: float) -> str:
    """Print the probability of a cell in per cent; small ones are left out."""
    if share < _WRITTEN:
        return ""
    return f"{100 * share:.0f}" if share < 0.995 else ">99"


def _key(peak: float, left: float, y: float) -> list[Html]:
    """Draw the scale of the colours."""
    steps = [
        shaded(step / 4, x=f"{left + 22 * step:g}", y=f"{y:g}", width="22", height="18")
        for step in range(5)
    ]
    said = f"0 to {percent(peak, counted=True)} of all probability"
    return [*steps, tag("text", said, x=left + 120, y=y + 9, class_="bx-svg-small")]


def _around(numbers: range, middle: int, most: int) -> range:
    """Return at most so many of consecutive numbers, centred on one of them."""
    first = max(numbers.start, min(middle - most // 2, numbers.stop - most))
    return range(first, min(numbers.stop, first + most))


# -- windows --------------------------------------------------------------------------------------


def coverage(result: QaResult) -> Picture:
    """Draw which window sees and which one reads each part of the passage."""
    read = result.coverage
    shown = _around(range(len(read.windows)), read.answer_window, _ROWS)
    return picture(
        "qa-windows",
        lambda width: _coverage(read, shown, width, result.words.pieces[0, 0]),
        alt=f"{len(read.windows):,} overlapping windows along the {read.pieces:,} pieces of the "
        f"passage; the answer is read in window {read.answer_window + 1:,}.",
        table=windows_table(result).iloc[shown.start : shown.stop],
    )


def windows_table(result: QaResult) -> pd.DataFrame:
    """List the windows with the pieces, counted from 0, that each sees and reads."""
    read = result.coverage
    rows = [
        (number, sees[0], sees[1] - 1, reads[0], reads[1] - 1)
        for number, (sees, reads) in enumerate(zip(read.windows, read.reads, strict=True), start=1)
    ]
    columns = ["window", "sees from", "sees to", "reads from", "reads to"]
    return pd.DataFrame(rows, columns=columns)


def _coverage(read: Coverage, shown: range, width: int, offset: int) -> Html:
    """Draw the windows below each other along the passage, and the place of the answer."""
    left, row, named = 44, 22, len(shown) <= _NAMED_WINDOWS
    first, behind = read.windows[shown[0]][0], read.windows[shown[-1]][1]
    unit = (width - left - 8) / (behind - first)

    def x(piece: int) -> float:
        return left + (piece - first) * unit

    parts: list[Html] = []
    for number in shown:
        y = (number - shown.start) * row if named else (number - shown.start) % 3 * row
        bars = [
            tag("rect", x=f"{x(a):.1f}", y=y + 2, width=f"{(b - a) * unit:.1f}", height=row - 6,
                class_=kind)
            for (a, b), kind in (
                (read.windows[number], "bx-qa-sees"), (read.reads[number], "bx-qa-reads"))
        ]  # fmt: skip
        name = tag("text", str(number + 1), x=left - 10, y=y + row / 2, class_="bx-svg-name")
        keys = linked([piece + offset for piece in range(*read.reads[number])]) if named else None
        parts.append(tag("g", *bars, *([name] if named else []), data_at=keys))
    bottom = (len(shown) if named else 3) * row
    start, end = x(read.answer[0]), x(read.answer[1] + 1)
    parts.append(
        tag("rect", x=f"{start:.1f}", y=0, width=f"{max(3.0, end - start):.1f}", height=bottom,
            class_="bx-qa-here")
    )  # fmt: skip
    middle = min(max(start, left + 30), width - 40)
    parts += [
        tag("text", f"{first:,}", x=left, y=bottom + 14, class_="bx-svg-small"),
        tag("text", f"piece {behind - 1:,}", x=width - 8, y=bottom + 14,
            class_="bx-svg-name bx-svg-small"),
        tag("text", "answer", x=f"{middle:.1f}", y=bottom + 32,
            class_="bx-svg-middle bx-svg-small"),
    ]  # fmt: skip
    return svg(width, bottom + 44, *parts)


# -- words ----------------------------------------------------------------------------------------


def _values(result: QaResult, kind: Kind) -> tuple[Floats, Floats]:
    words = result.words
    if kind == "logits":
        return words.start_logit, words.end_logit
    return words.start_probability, words.end_probability


def _word(result: QaResult, number: int) -> str:
    start, end = result.words.starts[number], result.words.ends[number]
    return visible(result.passage[start:end])


def _keys(result: QaResult, number: int) -> str:
    return linked(range(*result.words.pieces[number].tolist()))


def _number(value: float, kind: Kind) -> str:
    return view.number(value) if kind == "logits" else percent(value)

"""Drawings of the question-answering page.

In order: the answers as bars; where the answer starts and ends as two curves, with an overview of a
long passage; start against end as a map.
"""

from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

from app.features.qa import view_text as view
from app.features.qa.result import Floats, QaResult
from app.words.blocks import line
from app.words.format import percent, shortened, signed
from app.words.html import Html, join, tag, visible
from app.words.lines import OTHER_BOLD, OTHER_FONT, fitting_ends
from app.words.matrix import Matrix, shaded
from app.words.panel import NAME, Panel
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
_LETTER = 17.0  # of the site's drawings
_LETTERS = 16  # of one word on an axis
_WRITTEN = 0.01  # probability from which a cell of the map shows its number
_LISTED = 0.001  # probability from which a pair is listed in the table
_BINS = 60  # bars of the overview
_ROWS = 200  # of a table in the page


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
    left, top, height = (4, 24, 56) if narrow else (384, 0, 34)
    beside = width - 8 if narrow else left - 14
    room, shares = width - left - 84, [answer.probability for answer in result.answers]
    rows: list[Html] = []

    def row(name: str, *drawn: Html, keys: str | None, strong: bool = False) -> None:
        y = len(rows) * height
        most = beside / (OTHER_BOLD if strong else OTHER_FONT)
        label = tag(
            "text", fitting_ends(visible(" ".join(name.split())), most, _LETTER),
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
    """Draw the two curves over some words, and what they are above them."""
    letters = max(min(len(_word(result, number)), _LETTERS) for number in shown)
    start, end = (values[shown.start : shown.stop] for values in _values(result, kind))
    low, high = _limits(np.concatenate([start, end]), kind)
    ends = shown.start - 0.5, shown.stop - 0.5
    panel = Panel((64, width - 8), (40, 230), ends, (low, high))
    first, last = result.words.answer
    first, last = max(first, shown.start), min(last, shown.stop - 1)
    if first <= last:  # the answer is in this part of the passage
        panel.span((first - 0.5, last + 0.5), class_="bx-qa-band")
    says = _percent if kind == "curves" else lambda value: signed(value, 1)
    panel.levels((value, says(value)) for value in (low, (low + high) / 2, high))
    for name, values in (("start", start), ("end", end)):
        points = list(zip(shown, values.tolist(), strict=True))
        panel.line(points, class_=f"bx-qa-{name}")
        for point in points:
            _point(panel, name, *point)
    for number in shown:
        place = f"rotate(-55 {panel.x(number):.1f} 244)"
        with panel.group(data_at=_keys(result, number)):
            panel.span((number - 0.5, number + 0.5), class_="bx-qa-hit", below=14)
            word = shortened(_word(result, number), _LETTERS)
            panel.text(number, low, word, dy=14, class_=NAME, transform=place)
    return svg(width, 262 + 7 * letters, *panel.drawn, *_legend(kind, width))


def _point(panel: Panel, name: str, x: float, y: float) -> None:
    """Draw a round point of the start, an edged one of the end."""
    if name == "start":
        panel.dot(x, y, 4, class_="bx-qa-start-point")
    else:
        panel.diamond(x, y, 5, 5, class_="bx-qa-end-point")


def _legend(kind: Kind, width: int) -> list[Html]:
    """Name the lines, and what their height is."""
    key = Panel.of_units(width, 28)
    if width >= WIDE:
        key.text(4, 14, "share of all probability" if kind == "curves" else "logit")
    for x, name, said in ((width - 344, "start", "starts here"), (width - 210, "end", "ends here")):
        key.sample(x, 14, said, 34, class_=f"bx-qa-{name}")
        _point(key, name, x + 17, 14)
    key.span((width - 88, width - 70), (5, 23), class_="bx-qa-band")
    key.text(width - 64, 14, "answer")
    return key.drawn


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
    best = result.answers[0]
    return picture(
        "qa-pairs",
        lambda width: _pairs(result, scale, width),
        alt="Heat map of start words (down) against end words (across) near the answer; the marked "
        f"cell is “{visible(best.text)[:80]}”, "
        f"whose exact span has {percent(best.best.probability)}.",
        table=_likelier(result),
        columns=("start word", "end word", "probability", "at"),
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


def _likelier(result: QaResult) -> list[tuple[object, ...]]:
    """List the likelier pairs of words with their probabilities, the likeliest first."""
    shares, grid = result.grid.probability, result.grid
    places = np.argwhere(shares >= _LISTED)
    best = places[np.argsort(-shares[tuple(places.T)], kind="stable")][:_ROWS].tolist()
    return [
        (
            _word(result, a),
            _word(result, b),
            shares[place],
            f"{_keys(result, a)} {_keys(result, b)}",
        )
        for place in map(tuple, best)
        for a, b in [(grid.rows[place[0]], grid.columns[place[1]])]
    ]


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

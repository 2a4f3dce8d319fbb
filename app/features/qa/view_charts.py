"""Charts for the question-answering page: the two curves, and start against end."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from app.features.qa.result import Floats, QaResult
from app.words.blocks import line
from app.words.charts import BLUE, ORANGE, VERMILION
from app.words.format import percent, shortened
from app.words.html import Html, chart_text, visible

Picture = Literal["curves", "logits", "pairs"]

PICTURES: dict[Picture, str] = {
    "curves": "Two curves",
    "logits": "Raw logits",
    "pairs": "Map of pairs",
}
"""What may be drawn, and what it is called on the screen and in the address."""

_START, _END = BLUE, VERMILION  # the end is also dashed, with diamonds
_SCALES = (0.05, 0.1, 0.2, 0.5, 1.0)  # upper limits of the probability axis
_SHOWN = 40  # words on the axis
_LETTERS = 16  # letters of one word on the axis
_WRITTEN = 0.05  # probability at which a cell of the map shows its number
_LISTED = 0.001  # probability at which a pair is listed in the table
_JOINER = "\u2060"  # zero width: keeps equal words distinct, which a category axis would merge


def draw(result: QaResult, picture: Picture) -> go.Figure:
    """Draw one of the pictures."""
    return _pairs(result) if picture == "pairs" else _curves(result, picture)


def describe(result: QaResult, picture: Picture) -> str:
    """Describe a picture in one sentence."""
    if picture == "pairs":
        best = result.answers[0]
        return (
            "Heat map of start words (down) against end words (across) near the answer; the "
            f"marked cell is “{visible(best.text)[:80]}”, "
            f"whose exact span has {percent(best.best.probability)}."
        )
    named = []
    for name, values in (
        ("start", _values(result, picture)[0]),
        ("end", _values(result, picture)[1]),
    ):
        top = int(values.argmax())
        text = _word(result, top)[:40]
        named.append(f"{name} highest at “{text}” with {_number(float(values[top]), picture)}")
    return f"Two curves over the words near the answer: {', '.join(named)}."


def note(result: QaResult, picture: Picture) -> Html:
    """Explain how to read a picture and which part of the passage it shows."""
    said = {
        "pairs": "Each cell is the probability of an answer that starts in the word on its left "
        "and ends in the word below it. Empty cells cannot be answers: the end would stand before "
        "the start, or the answer would be too long or break a rule chosen above. The frame marks "
        "the best span.",
        "curves": "Probability that the answer starts, or ends, in each word: the sum over all "
        "spans that do. What is missing from 100 % is “no answer”.",
        "logits": "What the head itself gives to each word, the highest of its pieces: plain "
        "numbers, of which only differences have a meaning.",
    }[picture]
    return line(f"{said} {_part(result, picture)}")


def _part(result: QaResult, picture: Picture) -> str:
    """State which words of the passage a picture shows."""
    words = len(result.words)
    if picture == "pairs":
        all_shown = len(result.grid.rows) == len(result.grid.columns) == words
        some = "Shown are the words around the start and around the end of the best span."
    else:
        shown = result.words.nearby(_SHOWN)
        all_shown = len(shown) == words
        some = (
            f"Shown are words {shown.start + 1:,} to {shown.stop:,} of {words:,}, around the best "
            "span; the table has them all."
        )
    return "Shown are all words of the passage." if all_shown else some


def table(result: QaResult, picture: Picture) -> pd.DataFrame:
    """Return a picture's numbers as a table; for the curves it covers the whole passage."""
    words = result.words
    if picture == "pairs":
        rows, columns = np.nonzero(result.grid.probability >= _LISTED)
        first = [_word(result, result.grid.rows[row]) for row in rows]
        last = [_word(result, result.grid.columns[column]) for column in columns]
        pairs = pd.DataFrame(
            {
                "start word": first,
                "end word": last,
                "probability": result.grid.probability[rows, columns],
            }
        )
        return pairs.sort_values("probability", ascending=False, ignore_index=True)
    return pd.DataFrame(
        {
            "word": [_word(result, number) for number in range(len(words))],
            "first character": words.starts,
            "starts here": words.start_probability,
            "ends here": words.end_probability,
            "start logit": words.start_logit,
            "end logit": words.end_logit,
        }
    )


def _values(result: QaResult, picture: Picture) -> tuple[Floats, Floats]:
    words = result.words
    if picture == "logits":
        return words.start_logit, words.end_logit
    return words.start_probability, words.end_probability


def _word(result: QaResult, number: int) -> str:
    start, end = result.words.starts[number], result.words.ends[number]
    return visible(result.passage[start:end])


def _number(value: float, picture: Picture) -> str:
    return f"{value:.2f}" if picture == "logits" else percent(value)


def _labels(result: QaResult, shown: range) -> list[str]:
    """Return distinct axis labels for the words, as typed but shortened."""
    seen: Counter[str] = Counter()
    labels = []
    for number in shown:
        text = result.passage[result.words.starts[number] : result.words.ends[number]]
        name = chart_text(shortened(text, _LETTERS))
        labels.append(name + _JOINER * seen[name])
        seen[name] += 1
    return labels


def _curves(result: QaResult, picture: Picture) -> go.Figure:
    """Draw start and end over the words near the answer."""
    shown = result.words.nearby(_SHOWN)
    labels = _labels(result, shown)
    start, end = (values[shown.start : shown.stop] for values in _values(result, picture))
    fig = go.Figure(
        [
            _line("start", labels, start, picture, colour=_START, dash="solid", symbol="circle"),
            _line("end", labels, end, picture, colour=_END, dash="dash", symbol="diamond"),
        ]
    )
    first, last = (number - shown.start for number in result.words.answer)
    fig.add_vrect(
        x0=first - 0.5,
        x1=last + 0.5,
        fillcolor=ORANGE,
        opacity=0.18,
        line={"width": 1, "color": ORANGE},
        annotation={"text": "best span", "font": {"size": 14}},
        annotation_position="top left",
    )
    fig.update_xaxes(type="category", tickangle=-60, tickfont={"size": 14}, fixedrange=True)
    fig.update_yaxes(tickfont={"size": 14}, fixedrange=True, zeroline=False)
    if picture == "curves":
        highest = max(start.max(), end.max())
        scale = next((step for step in _SCALES if highest <= step), 1.0)
        fig.update_yaxes(range=[-0.02 * scale, 1.08 * scale], tickformat=".0%")
    fig.update_layout(
        height=380,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.12, "font": {"size": 15}},
        hovermode="x unified",
    )
    return fig


def _line(
    name: str,
    labels: Sequence[str],
    values: Floats,
    picture: Picture,
    **look: str,
) -> go.Scatter:
    return go.Scatter(
        x=list(labels),
        y=values.tolist(),
        name=name,
        mode="lines+markers",
        line={"color": look["colour"], "dash": look["dash"], "width": 2},
        marker={"symbol": look["symbol"], "size": 8},
        hovertemplate="%{y:.2f}" if picture == "logits" else "%{y:.2%}",
    )


def _pairs(result: QaResult) -> go.Figure:
    """Draw the probability of every pair of a start word and an end word near the answer."""
    grid = result.grid
    rows, columns = _labels(result, grid.rows), _labels(result, grid.columns)
    shares = np.where(grid.allowed, grid.probability, np.nan)
    fig = go.Figure(
        go.Heatmap(
            z=[[None if np.isnan(v) else float(v) for v in row] for row in shares],
            x=columns,
            y=rows,
            zmin=0,
            zmax=max(float(np.nanmax(shares)), _WRITTEN),
            colorscale=[[0, "rgba(0,114,178,0.06)"], [1, "rgba(0,114,178,0.9)"]],
            colorbar={"tickformat": ".0%", "thickness": 12},
            xgap=1,
            ygap=1,
            text=[[percent(v) if v >= _WRITTEN else "" for v in row] for row in grid.probability],
            texttemplate="%{text}",
            hovertemplate="from %{y} to %{x}: %{z:.2%}",
            hoverongaps=False,
            name="",  # otherwise a box next to the pointer names the trace
        )
    )
    first = result.words.answer[0] - grid.rows.start
    last = result.words.answer[1] - grid.columns.start
    fig.add_shape(
        type="rect",
        x0=last - 0.5,
        x1=last + 0.5,
        y0=first - 0.5,
        y1=first + 0.5,
        line={"color": ORANGE, "width": 3},
    )
    fig.update_xaxes(type="category", title="ends in", tickangle=-60, fixedrange=True)
    fig.update_yaxes(type="category", title="starts in", autorange="reversed", fixedrange=True)
    fig.update_layout(height=520, margin={"l": 8, "r": 8, "t": 8, "b": 8})
    return fig

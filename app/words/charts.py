"""What the plotly figures of several pages share: colours, bars, tables.

Colours are Okabe and Ito's, which remain distinct without red-green vision; wherever colour
distinguishes things, a shape, a pattern or a dash does so too. Zooming is off, so that a slip of
the finger cannot lose the figure.
"""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from app.words.html import chart_text

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#888888"

_ROW = 34  # pixels of one bar, enough for 16-pixel letters


def bars(
    names: Sequence[str],
    values: Sequence[float],
    printed: Sequence[str],
    *,
    marked: Sequence[bool] = (),
) -> go.Figure:
    """Draw numbers as horizontal bars, the first on top, each followed by its number.

    Args:
        names: names of the bars; escaped here.
        values: their lengths.
        printed: the values as text.
        marked: bars to highlight with another colour and hatching; none if empty.
    """
    marks = marked or [False] * len(values)
    fig = go.Figure(
        go.Bar(
            x=list(values),
            y=list(range(len(values))),
            orientation="h",
            marker={
                "color": [ORANGE if mark else BLUE for mark in marks],
                "pattern": {"shape": ["/" if mark else "" for mark in marks],
                            "fillmode": "overlay"},
            },
            text=list(printed),
            textposition="outside",
            cliponaxis=False,
            textfont={"size": 16},
            hoverinfo="skip",  # everything it could say is printed
        )
    )  # fmt: skip
    fig.update_yaxes(
        tickvals=list(range(len(values))),
        ticktext=[chart_text(name) for name in names],
        autorange="reversed",
        tickfont={"size": 17},
        fixedrange=True,
    )
    fig.update_xaxes(tickfont={"size": 15}, fixedrange=True)
    fig.update_layout(
        height=_ROW * len(values) + 50,
        margin={"l": 8, "r": 8, "t": 4, "b": 32},
        bargap=0.28,
        showlegend=False,
    )
    return fig


def csv(table: pd.DataFrame) -> bytes:
    """Write a table as CSV; a mark at the start tells spreadsheets that it is UTF-8."""
    return table.to_csv(index=False, float_format="%.8g").encode("utf-8-sig")

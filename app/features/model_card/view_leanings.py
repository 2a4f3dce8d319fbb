"""Bias as numbers and a chart: which of two words a model leans towards, by occupation."""

import math

import pandas as pd
import plotly.graph_objects as go

from app.words.blocks import line
from app.words.charts import BLUE, GREY, LEGEND_ABOVE, VERMILION, add_dots
from app.words.html import Html, chart_text, tag, visible
from bert_core.bundled.leanings import Bias, Leaning

_ROW = 22  # pixels of one occupation
_MOST = 120


def times(log_odds: float) -> str:
    """Express log-odds as a factor that is easy to picture.

    >>> times(2.302585), times(-0.693147), times(0.0)
    ('10 times', '2.0 times', '1.0 times')
    """
    factor = math.exp(min(abs(log_odds), 30.0))
    return f"{factor:,.0f} times" if factor >= 9.95 else f"{factor:.1f} times"


def summary(found: Bias) -> Html:
    """State how one-sided the model is, and which occupations lean towards which word."""
    first, second = (visible(word) for word in found.words)
    ranked = ordered(found)
    sides = [
        f"In a sentence about an occupation it takes one of “{first}” and “{second}” to be "
        f"{times(found.skew.value)} as likely as the other, on average over occupations "
        f"(log-odds {found.skew.value:.2f} nats, 95 % interval {found.skew.low:.2f} to "
        f"{found.skew.high:.2f}; 0 would be even)."
    ]
    if ranked:
        sides.append(f" {_end(ranked[0], first, leans=ranked[0].log_odds.value > 0)}")
        sides.append(f" {_end(ranked[-1], second, leans=ranked[-1].log_odds.value < 0)}")
    neutral = first if found.neutral > 0 else second
    sides.append(
        f" For a person of no named occupation it prefers “{neutral}”, {times(found.neutral)}."
    )
    return tag("p", "".join(sides))


def _end(lean: Leaning, word: str, *, leans: bool) -> str:
    """Name the occupation at one end, even if it does not lean to that side."""
    if leans:
        return f"Furthest towards “{word}”: {_named(lean)}."
    return f"None leans to “{word}”; nearest to it: {_named(lean)}."


def _named(lean: Leaning) -> str:
    return f"{visible(lean.occupation)} ({lean.log_odds.value:+.2f})"


def note(found: Bias) -> Html:
    """Explain how the bias was measured and where the numbers come from."""
    first, second = (visible(word) for word in found.words)
    return line(
        f"Source: bias.json, which lies beside the weights. {len(found.leanings):,} occupations "
        f"in {len(found.templates):,} kinds of sentences, once with the occupation named and "
        f"“{first}” or “{second}” left open, once the other way round. Log-odds in nats: "
        f"above 0 “{first}” is likelier, below it “{second}”; 0.7 is twice, 2.3 ten times as "
        "likely. Only two words are compared, and other sentences would give other numbers; a "
        "small one here is no proof of fairness."
    )


def ordered(found: Bias) -> list[Leaning]:
    """List the occupations, starting with those that lean most towards the first word."""
    return sorted(found.leanings, key=lambda lean: -lean.log_odds.value)


def _side(lean: Leaning) -> str:
    """Name the side that an occupation leans to, as far as its interval tells."""
    return "first" if lean.log_odds.low > 0 else "second" if lean.log_odds.high < 0 else "neither"


def chart(found: Bias) -> go.Figure:
    """Draw every occupation as a dot on its interval."""
    rows = ordered(found)[:_MOST]
    first, second = (chart_text(word) for word in found.words)
    looks = {
        "first": (f"leans to “{first}”", BLUE, "circle"),
        "second": (f"leans to “{second}”", VERMILION, "diamond"),
        "neither": ("cannot be told", GREY, "circle-open"),
    }
    fig = go.Figure()
    for side, (name, colour, symbol) in looks.items():
        shown = [(at, lean) for at, lean in enumerate(rows) if _side(lean) == side]
        if shown:
            add_dots(
                fig,
                [at for at, _ in shown],
                [(lean.log_odds.low, lean.log_odds.value, lean.log_odds.high) for _, lean in shown],
                [f"{lean.occupation}: {lean.log_odds.value:+.2f}" for _, lean in shown],
                name=name,
                marker={"symbol": symbol, "color": colour, "size": 9},
            )
    fig.add_vline(x=0, line={"color": GREY, "width": 1})
    fig.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[chart_text(lean.occupation[:24]) for lean in rows],
        range=[len(rows) - 0.5, -0.5],
        fixedrange=True,
        showgrid=False,
    )
    fig.update_xaxes(
        title=f"log-odds in nats: left of 0 “{second}”, right of it “{first}”", fixedrange=True
    )
    fig.update_layout(
        height=_ROW * len(rows) + 110,
        margin={"l": 8, "r": 8, "t": 8, "b": 40},
        legend=LEGEND_ABOVE,
    )
    return fig


def describe(found: Bias) -> str:
    """Describe the chart in one sentence."""
    first, second = (visible(word) for word in found.words)
    sides = [_side(lean) for lean in found.leanings]
    return (
        f"{len(sides)} occupations as dots with their 95 % intervals: {sides.count('first')} lean "
        f"to “{first}”, {sides.count('second')} to “{second}”, for {sides.count('neither')} it "
        "cannot be told."
    )


def table(found: Bias) -> pd.DataFrame:
    """Return every occupation as a table, with log-odds in nats."""
    rows = ordered(found)
    return pd.DataFrame(
        {
            "occupation": [visible(lean.occupation) for lean in rows],
            "log-odds (nats)": [lean.log_odds.value for lean in rows],
            "95 % from": [lean.log_odds.low for lean in rows],
            "95 % to": [lean.log_odds.high for lean in rows],
        }
    ).round(3)

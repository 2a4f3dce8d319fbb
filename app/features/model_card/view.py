"""Text, tables and charts of the model card: figures compared with their targets."""

import textwrap
from collections.abc import Sequence
from itertools import accumulate

import pandas as pd
import plotly.graph_objects as go

from app.features.model_card.result import ModelCardResult, Reached, reached
from app.words.blocks import line, record_table, ticked
from app.words.charts import BLUE, GREEN, GREY, LEGEND_ABOVE, VERMILION, add_dots
from app.words.format import percent
from app.words.html import Html, chart_lines, join, tag, visible
from bert_core.bundled.figures import Figure

AS_TABLE = "The same as a table"
COLUMNS = ("asked", "result", "95 % interval", "cases", "floor", "goal", "reached")

_SIGNS = {Reached.GOAL: True, Reached.FLOOR: True, Reached.NOTHING: False, Reached.NO_AIM: None}
_WORDS = {
    Reached.GOAL: "goal reached",
    Reached.FLOOR: "floor reached, goal not",
    Reached.NOTHING: "floor not reached",
    Reached.NO_AIM: "nothing was set",
}
_DOTS = {
    Reached.GOAL: ("star", GREEN, 14),
    Reached.FLOOR: ("circle", BLUE, 11),
    Reached.NOTHING: ("x", VERMILION, 11),
    Reached.NO_AIM: ("circle-open", GREY, 11),
}
_LINE = 48  # characters per line of the label above a dot, as many as fit on a phone
_WORD_LINE = 19  # pixels per line of the label
_DOT_LINE = 30  # pixels of the row below the label, with the dot in its middle


def _share(share: float | None) -> str:
    """Format a figure so that number and sign stay on one line of a narrow table."""
    return percent(share, counted=True).replace(" ", "\u00a0")


def interval(figure: Figure) -> str:
    """Format the 95 % interval of a figure."""
    return f"{100 * figure.low:.1f}–{_share(figure.high)}"


def words_of(figure: Figure) -> str:
    """Describe in words what a figure has reached."""
    no_goal = figure.goal is None and reached(figure) is Reached.FLOOR
    no_floor = figure.floor is None and reached(figure) is Reached.NOTHING
    return (
        "floor reached" if no_goal else "goal not reached" if no_floor else _WORDS[reached(figure)]
    )


def _aim(figure: Figure, aim: float | None) -> str:
    """Format a floor or a goal, with "at most" if less is better."""
    if aim is None:
        return "–"
    before = "at most " if figure.lower_is_better else ""
    behind = " (chance)" if aim == figure.chance else ""
    return f"{before}{_share(aim)}{behind}"


def no_figures(result: ModelCardResult) -> Html:
    """State that nothing was measured."""
    if result.figures:
        return join()
    return tag(
        "p",
        "No figures lie beside these weights: how well this model does is not known here. What its "
        "makers say of it may stand in the card below.",
    )


def figures_table(figures: Sequence[Figure]) -> Html:
    """Draw the table of figures with their floors and goals."""
    rows = [
        (
            join(
                tag("strong", visible(each.task)),
                tag("br"),
                tag("small", visible(each.measured_on)),
            ),
            tag("strong", _share(each.share)),
            interval(each),
            f"{each.cases:,}",
            _aim(each, each.floor),
            _aim(each, each.goal),
            ticked(_SIGNS[reached(each)], words_of(each)),
        )
        for each in figures
    ]
    return record_table("What was measured, beside floor and goal", COLUMNS, rows, compact=True)


def figures_note(result: ModelCardResult) -> Html:
    """Explain where the figures come from, how to read them and what is left out."""
    more = f" {result.left_out:,} more figures are not shown." if result.left_out else ""
    guess = " Chance is the share of a blind guess." if _has_chance(result.figures) else ""
    errors = " Where it says “at most”, less is better." if _has_errors(result.figures) else ""
    return line(
        "Source: figures.json, which lies beside the weights. Every result is a share of its "
        "cases. The floor was to be reached at least, the goal was hoped for. Of a hundred such "
        "intervals about 95 hold the share that endlessly many cases of the kind would give."
        f"{guess}{errors}{more}"
    )


def _has_chance(figures: Sequence[Figure]) -> bool:
    return any(each.chance is not None for each in figures)


def _has_errors(figures: Sequence[Figure]) -> bool:
    return any(each.lower_is_better for each in figures)


def meanings(figures: Sequence[Figure]) -> Html:
    """List what each share is a share of."""
    items = [
        tag("li", tag("strong", f"{visible(each.task)}: "), visible(each.meaning))
        for each in {each.task: each for each in figures}.values()
        if each.meaning
    ]
    if not items:
        return join()
    return tag(
        "details",
        tag("summary", "What each result is a share of"),
        tag("ul", *items),
        class_="bx-card-meanings",
    )


def describe(figures: Sequence[Figure]) -> str:
    """Describe the chart of the figures in one sentence."""
    count = {kind: sum(reached(each) is kind for each in figures) for kind in Reached}
    said = ", ".join(
        f"{number} {'has' if number == 1 else 'have'} {words}"
        for number, words in (
            (count[Reached.GOAL], "reached the goal"),
            (count[Reached.FLOOR], "reached the floor only"),
            (count[Reached.NOTHING], "not reached what was set"),
            (count[Reached.NO_AIM], "nothing to reach"),
        )
        if number
    )
    return f"{len(figures)} figures as dots with their 95 % intervals: {said}."


def frame(figures: Sequence[Figure]) -> pd.DataFrame:
    """Return the figures as a table of plain numbers; shares run from 0 to 1."""
    return pd.DataFrame(
        {
            "task": [visible(each.task) for each in figures],
            "measured on": [visible(each.measured_on) for each in figures],
            "share": [each.share for each in figures],
            "95 % from": [each.low for each in figures],
            "95 % to": [each.high for each in figures],
            "cases": [each.cases for each in figures],
            "floor": [each.floor for each in figures],
            "goal": [each.goal for each in figures],
            "chance": [each.chance for each in figures],
            "less is better": [each.lower_is_better for each in figures],
            "reached": [words_of(each) for each in figures],
            "meaning": [visible(each.meaning) for each in figures],
        }
    ).round(4)


def figures_chart(figures: Sequence[Figure]) -> go.Figure:
    """Draw every figure as a dot on its interval, with marks for floor and goal."""
    fig = go.Figure()
    names = [f"{each.task}, {each.measured_on}: {_share(each.share)}" for each in figures]
    labels = [textwrap.wrap(name, _LINE) for name in names]  # fits a phone
    tops = [0, *accumulate(_WORD_LINE * len(lines) + _DOT_LINE for lines in labels)]
    dots = [top - _DOT_LINE // 2 for top in tops[1:]]
    for kind, (symbol, colour, size) in _DOTS.items():
        rows = [at for at, each in enumerate(figures) if reached(each) is kind]
        shown = [figures[at] for at in rows]
        if not shown:
            continue
        add_dots(
            fig,
            [dots[at] for at in rows],
            [(each.low, each.share, each.high) for each in shown],
            [f"{_share(each.share)} ({interval(each)}), {words_of(each)}" for each in shown],
            name=_WORDS[kind],
            marker={"symbol": symbol, "color": colour, "size": size, "line": {"color": colour}},
        )
    _add_marks(fig, figures, dots, "floor", "line-ns-open")
    _add_marks(fig, figures, dots, "goal", "diamond-tall-open")
    for top, lines in zip(tops, labels, strict=False):  # the last top ends the last figure
        fig.add_annotation(
            x=0, xref="paper", y=top, text=chart_lines(lines), showarrow=False,
            xanchor="left", yanchor="top", align="left", font={"size": 14},
        )  # fmt: skip
    _lay_out(fig, tops[-1])
    return fig


def _add_marks(
    fig: go.Figure, figures: Sequence[Figure], dots: Sequence[int], aim: str, symbol: str
) -> None:
    """Add the marks for one kind of target, floor or goal."""
    values = [(getattr(each, aim), dot) for each, dot in zip(figures, dots, strict=True)]
    found = [(value, dot) for value, dot in values if value is not None]
    if found:
        fig.add_scatter(
            x=[value for value, _ in found],
            y=[dot for _, dot in found],
            mode="markers",
            name=aim,
            marker={"symbol": symbol, "color": GREY, "size": 13, "line": {"width": 2}},
            hovertext=[f"{aim} {_share(value)}" for value, _ in found],
            hoverinfo="text",
        )


def _lay_out(fig: go.Figure, pixels: int) -> None:
    fig.update_yaxes(
        visible=False, range=[pixels, 0], fixedrange=True, showgrid=False, zeroline=False
    )
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", fixedrange=True, dtick=0.2)
    fig.update_layout(
        height=pixels + 100,
        margin={"l": 8, "r": 8, "t": 8, "b": 32},
        legend=LEGEND_ABOVE,
        hovermode="closest",
    )


def trouble(result: ModelCardResult) -> Html:
    """List the files in the model's folder that could not be read."""
    if not result.problems:
        return join()
    items = [tag("li", visible(each)) for each in result.problems]
    says = tag("p", tag("strong", "Not everything beside the weights could be read."))
    return tag("div", says, tag("ul", *items), class_="bx-note bx-caution", role="alert")


def card_note(result: ModelCardResult) -> Html:
    """State where the card comes from, or that there is none."""
    if not result.text.strip():
        return tag(
            "p",
            "No card lies beside these weights (a file README.md): what the model was made from, "
            "under which licence, and where its limits are, is not known here.",
        )
    shown = ""
    if not result.whole:
        shown = f" It has {result.text_bytes:,} bytes, of which only the beginning is shown."
    return line(
        "What follows is the file README.md that lies beside the weights, as its makers wrote it. "
        f"Pictures and addresses in it are shown as words: nothing is fetched.{shown}"
    )

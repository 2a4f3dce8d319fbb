"""Pictures of the duel: the curves of one method against chance, and all methods in a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from app.features.why.result import LEAST, Curve, Duel, Many, WhyResult
from app.words.html import Html
from app.words.panel import NAME, Ends, Panel
from app.words.pictures import NARROW, Picture, beside, picture, svg

NAMES = {
    "integrated_gradients": "Integrated gradients",
    "occlusion": "Occlusion",
    "shapley": "Shapley values",
    "attention": "Attention, all layers",
    "attention_last": "Attention, last layer",
    "rollout": "Attention rollout",
    "norms": "Attention × vectors",
    "gradient": "Gradient length",
    "gradient_x_input": "Gradient × input",
    "random": "random order",
}
"""Method -> its name on the screen."""

SHORT = {
    "integrated_gradients": "IG",
    "occlusion": "Occlusion",
    "shapley": "Shapley",
    "attention": "Attention",
    "attention_last": "Last layer",
    "rollout": "Rollout",
    "norms": "Vectors",
    "gradient": "Gradient",
    "gradient_x_input": "Grad × in",
}
"""Method -> its name above a column."""

_STEPS = range(0, 101, 10)  # % of the pieces
_HIGH = 230  # of a panel of curves
_ROW = 28


def minus(value: float) -> str:
    """Print a number with two digits, and with a minus as wide as a plus.

    >>> minus(-0.123)
    '−0.12'
    """
    return f"{value:.2f}".replace("-", "−")


# -- curves ----------------------------------------------------------------------------------------


def curves(result: WhyResult, duel: Duel) -> Picture:
    """Draw deletion and insertion of the shown method against the band of random orders."""
    name = NAMES[result.method]
    shown = duel.curves[result.shown]
    return picture(
        "why-curves",
        lambda width: _panels(result, duel, width),
        alt=f"{name}: without the most important half of the pieces the probability is "
        f"{shown.deletion[5]:.2f}, in random order {duel.mean.deletion[5]:.2f}; with only that "
        f"half {shown.insertion[5]:.2f}, in random order {duel.mean.insertion[5]:.2f}.",
        table={"% of pieces": list(_STEPS)}
        | {
            f"{kind}{name}": getattr(each, kind)
            for kind in ("deletion", "insertion")
            for name, each in (
                ("", shown),
                (", random", duel.mean),
                (", random 5 %", duel.low),
                (", random 95 %", duel.high),
            )
        },
    )


def _panels(result: WhyResult, duel: Duel, width: int) -> Html:
    every = (*duel.curves, duel.low, duel.high)
    values = [value for each in every for value in (*each.deletion, *each.insertion)]
    ends = (min(0.0, *values), max(max(values), min(values) + 1e-9))
    kinds = {"deletion": "strongest hidden first", "insertion": "strongest shown first"}
    plots = [partial(_panel, result, duel, ends, *each) for each in kinds.items()]
    return beside(width, _HIGH, plots, gap=24)


def _panel(
    result: WhyResult, duel: Duel, ends: Ends, kind: str, says: str, width: float
) -> list[Html]:
    """Draw one panel: the band, its mean, the other methods thin, the shown one thick."""

    def points(curve: Curve) -> list[tuple[float, float]]:
        return list(zip(_STEPS, getattr(curve, kind), strict=True))

    panel = Panel((44, width - 8), (34, _HIGH - 44), (0, 100), ends)
    low, high = ends
    panel.text(0, low, says, dy=34)
    panel.text(0, high, kind.capitalize(), dy=-20, class_="bx-svg-strong")
    panel.levels((value, f"{value:.2f}") for value in (low, (low + high) / 2, high))
    panel.ticks([(0, "0 %"), (50, "50 %")], 15)
    panel.ticks([(100, "100 %")], 15, class_=NAME)
    panel.line([*points(duel.high), *points(duel.low)[::-1]], class_="bx-why-band")
    for number, each in enumerate(duel.curves):
        if number != result.shown:
            panel.line(points(each), class_="bx-why-other")
    panel.line(points(duel.mean), class_="bx-why-mean")
    panel.line(points(duel.curves[result.shown]), class_="bx-why-shown")
    for point in points(duel.curves[result.shown]):
        panel.dot(*point, 3.5, class_="bx-why-dot")
    return panel.drawn


def gauge(duel: Duel, number: int) -> Html:
    """Draw the fall of the probability in the order of one method beside that in random orders."""
    shown, mean = duel.curves[number].comprehensiveness, duel.mean.comprehensiveness
    low, high = duel.low.comprehensiveness, duel.high.comprehensiveness
    panel = Panel((6, 174), (4, 22), (min(0.0, low, shown), max(high, shown, LEAST)))
    panel.level(0.5)
    panel.span((low, high), class_="bx-why-band")
    panel.post(mean, class_="bx-why-mean")
    panel.dot(shown, 0.5, 6, class_="bx-why-dot")
    return svg(180, 26, *panel.drawn)


# -- all methods -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """A method in the row of all: its two numbers, and their intervals."""

    method: str
    comp: float
    suff: float
    around: tuple[float, float] = (0.0, 0.0)


def ranking(result: WhyResult, duel: Duel) -> Picture:
    """Draw comprehensiveness and sufficiency of all methods on this text, best first."""
    rows = [
        _Row(story.method, each.comprehensiveness, each.sufficiency)
        for story, each in zip(result.stories, duel.curves, strict=True)
    ]
    rows.sort(key=lambda row: -row.comp)
    rows.append(_Row("random", duel.mean.comprehensiveness, duel.mean.sufficiency))
    bands = tuple(
        (getattr(duel.low, name), getattr(duel.high, name))
        for name in ("comprehensiveness", "sufficiency")
    )
    best = ", ".join(f"{NAMES[row.method]} {row.comp:.2f}" for row in rows[:3])
    return picture(
        "why-duel",
        lambda width: _dots(rows, width, bands=bands, marked=result.method),
        alt=f"Fall of the probability without the most important pieces: {best}; random order "
        f"{rows[-1].comp:.2f}, 5 to 95 % {bands[0][0]:.2f} to {bands[0][1]:.2f}.",
        table=_compared(result, duel),
        columns=("method", "comprehensiveness", "sufficiency", "better than 95 % of random orders"),
    )


def _compared(result: WhyResult, duel: Duel) -> list[tuple[str, float, float, str]]:
    """List the numbers of all methods on this text, and of random orders, best first."""
    says = {True: "yes", False: "no", None: "–"}
    methods = [
        (NAMES[story.method], says[duel.survives(n)]) for n, story in enumerate(result.stories)
    ]
    edges = [(name, "–") for name in ("random order", "random, 5 %", "random, 95 %")]
    every = (*duel.curves, duel.mean, duel.low, duel.high)
    rows = [
        (name, each.comprehensiveness, each.sufficiency, better)
        for (name, better), each in zip([*methods, *edges], every, strict=True)
    ]
    return sorted(rows, key=lambda row: -row[1])


def figures(many: Many, name: str, marked: str = "") -> Picture:
    """Draw means over texts with their 95 % intervals."""
    rows = [
        _Row(each.method, each.comprehensiveness, each.sufficiency, each.spread)
        for each in many.figures
    ]
    best = ", ".join(f"{NAMES[row.method]} {row.comp:.2f} ± {row.around[0]:.2f}" for row in rows)
    return picture(
        name,
        lambda width: _dots(rows, width, marked=marked),
        alt=f"Mean fall of the probability without the most important pieces: {best}.",
        table=_means(many),
    )


def _means(many: Many) -> dict[str, object]:
    """List means over texts, and on how many a method is better than chance, if that is known."""
    found = many.figures
    table: dict[str, object] = {
        "method": [NAMES[each.method] for each in found],
        "comprehensiveness": [each.comprehensiveness for each in found],
        "± (95 %)": [each.spread[0] for each in found],
        "sufficiency": [each.sufficiency for each in found],
        "± (95 %) ": [each.spread[1] for each in found],
    }
    if any(each.better >= 0 for each in found):
        better = [str(each.better) if each.better >= 0 else "–" for each in found]
        table[f"better than chance, of {many.texts} texts"] = better
    return table


def _dots(
    rows: Sequence[_Row],
    width: int,
    *,
    bands: Sequence[tuple[float, float]] = (),
    marked: str = "",
) -> Html:
    """Draw two panels with a dot for each row: higher is better at the left, lower at the right."""
    names, gap = (186, 28) if width > NARROW else (124, 14)
    size = "" if width > NARROW else " bx-why-tight"
    wide, down = (width - names - 2 * gap) / 2, (46, 46 + len(rows) * _ROW)
    key = Panel((0, names), down, ys=(len(rows), 0))
    for number, row in enumerate(rows):
        kind = "bx-svg-strong" if row.method == marked else ""
        key.text(0, number + 0.5, NAMES[row.method], class_=f"{kind}{size}".strip() or None)
    panels = (
        ("Without them", "higher is better", [(row.comp, row.around[0]) for row in rows]),
        ("With only them", "lower is better", [(row.suff, row.around[1]) for row in rows]),
    )
    drawn = key.drawn
    for number, (title, says, values) in enumerate(panels):
        band = bands[number] if bands else (0.0, 0.0)
        ends = [value + sign * around for value, around in values for sign in (-1, 1)]
        ends += [*band, 0.0]
        left = names + number * (wide + gap) + gap / 2
        panel = Panel((left, left + wide - 46), down, (min(ends), max(ends)), (len(rows), 0))
        panel.text(min(ends), 0, title, dy=-36, class_=f"bx-svg-strong{size}")
        panel.text(min(ends), 0, says, dy=-15)
        if bands:
            panel.span(band, least=1, class_="bx-why-band")
        panel.post(0)
        for at, (row, (value, around)) in enumerate(zip(rows, values, strict=True)):
            _mean(panel, row.method, (value, around), at + 0.5, marked=row.method == marked)
        drawn += panel.drawn
    return svg(width, down[1] + 6, *drawn)


def _mean(panel: Panel, method: str, mean: tuple[float, float], y: float, *, marked: bool) -> None:
    """Draw a number as a dot on its interval, and print it at the right."""
    value, around = mean
    if around:
        panel.level(y, (value - around, value + around), class_="bx-why-around")
    kind = "random" if method == "random" else "dot"
    panel.dot(value, y, 7 if marked else 5, class_=f"bx-why-{kind}")
    panel.text(panel.xs[1], y, minus(value), 46, class_=NAME)

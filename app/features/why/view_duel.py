"""Pictures of the duel: the curves of one method against chance, and all methods in a row."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from app.features.why.result import LEAST, Curve, Duel, Many, WhyResult
from app.words.html import Html, tag
from app.words.lines import units
from app.words.pictures import NARROW, WIDE, Picture, picture, svg

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


@dataclass(frozen=True, slots=True)
class _Frame:
    """The place of a panel in a drawing, and the numbers at its ends."""

    left: float
    right: float
    top: float
    bottom: float
    low: float
    high: float

    def across(self, share: float) -> float:
        return self.left + (self.right - self.left) * share

    def up(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * (value - self.low) / (self.high - self.low)

    def line(self, values: Sequence[float]) -> str:
        """Return the points of a curve over 0 to 100 %."""
        last = len(values) - 1
        return " ".join(
            f"{units(self.across(n / last))},{units(self.up(value))}"
            for n, value in enumerate(values)
        )


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
        table=curves_table(result, duel),
    )


def curves_table(result: WhyResult, duel: Duel) -> pd.DataFrame:
    """List both curves of the shown method, and those of random orders."""
    shown = duel.curves[result.shown]
    columns: dict[str, Sequence[float]] = {"% of pieces": list(_STEPS)}
    for kind in ("deletion", "insertion"):
        columns[kind] = getattr(shown, kind)
        for edge, words in (("mean", "random"), ("low", "random 5 %"), ("high", "random 95 %")):
            columns[f"{kind}, {words}"] = getattr(getattr(duel, edge), kind)
    return pd.DataFrame(columns)


def _panels(result: WhyResult, duel: Duel, width: int) -> Html:
    every = (*duel.curves, duel.low, duel.high)
    values = [value for each in every for value in (*each.deletion, *each.insertion)]
    ends = (min(0.0, *values), max(max(values), min(values) + 1e-9))
    beside = width == WIDE
    wide = (width - 24) / 2 if beside else width
    drawn: list[Html] = []
    for number, (kind, says) in enumerate(
        (("deletion", "strongest hidden first"), ("insertion", "strongest shown first"))
    ):
        left = number * (wide + 24) if beside else 0
        top = 0 if beside else number * (_HIGH + 14)
        place = _Frame(left + 44, left + wide - 8, top + 34, top + _HIGH - 44, *ends)
        drawn += _panel(result, duel, kind, says, place)
    return svg(width, _HIGH if beside else 2 * _HIGH + 14, *drawn)


def _panel(result: WhyResult, duel: Duel, kind: str, says: str, at: _Frame) -> list[Html]:
    """Draw one panel: the band, its mean, the other methods thin, the shown one thick."""
    drawn = [
        tag("text", kind.capitalize(), x=units(at.left), y=units(at.top - 20),
            class_="bx-svg-strong"),
    ]  # fmt: skip
    for value in (at.low, (at.low + at.high) / 2, at.high):
        y = units(at.up(value))
        drawn += [
            tag("line", x1=units(at.left), x2=units(at.right), y1=y, y2=y, class_="bx-svg-grid"),
            tag("text", f"{value:.2f}", x=units(at.left - 6), y=y,
                class_="bx-svg-name bx-svg-small"),
        ]  # fmt: skip
    for share in (0, 0.5, 1):
        drawn.append(
            tag("text", f"{share:.0%}".replace("%", " %"), x=units(at.across(share)),
                y=units(at.bottom + 15), class_="bx-svg-small",
                text_anchor="end" if share == 1 else "middle")
        )  # fmt: skip
    drawn.append(
        tag("text", says, x=units(at.left), y=units(at.bottom + 34), class_="bx-svg-small")
    )
    low, high = getattr(duel.low, kind), getattr(duel.high, kind)
    back = " ".join(reversed(at.line(low).split()))
    drawn.append(
        tag("path", d=f"M{at.line(high).replace(' ', 'L')}L{back.replace(' ', 'L')}Z",
            class_="bx-why-band")
    )  # fmt: skip
    others = (each for n, each in enumerate(duel.curves) if n != result.shown)
    drawn += [
        tag("polyline", points=at.line(getattr(each, kind)), class_="bx-why-other")
        for each in others
    ]
    shown = getattr(duel.curves[result.shown], kind)
    drawn += [
        tag("polyline", points=at.line(getattr(duel.mean, kind)), class_="bx-why-mean"),
        tag("polyline", points=at.line(shown), class_="bx-why-shown"),
        *(
            tag("circle", cx=x, cy=y, r=3.5, class_="bx-why-dot")
            for x, _, y in (point.partition(",") for point in at.line(shown).split())
        ),
    ]
    return drawn


def gauge(duel: Duel, number: int) -> Html:
    """Draw the fall of the probability in the order of one method beside that in random orders."""
    shown, mean = duel.curves[number].comprehensiveness, duel.mean.comprehensiveness
    low, high = duel.low.comprehensiveness, duel.high.comprehensiveness
    ends = (min(0.0, low, shown), max(high, shown, LEAST))
    at = _Frame(6, 174, 4, 22, *ends)

    def across(value: float) -> float:
        return at.across((value - ends[0]) / (ends[1] - ends[0]))

    x = units(across(mean))
    return svg(
        180, 26,
        tag("line", x1=6, x2=174, y1=13, y2=13, class_="bx-svg-grid"),
        tag("rect", x=units(across(low)), y=4, width=units(across(high) - across(low)), height=18,
            class_="bx-why-band"),
        tag("line", x1=x, x2=x, y1=4, y2=22, class_="bx-why-mean"),
        tag("circle", cx=units(across(shown)), cy=13, r=6, class_="bx-why-dot"),
    )  # fmt: skip


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
        table=ranking_table(result, duel),
    )


def ranking_table(result: WhyResult, duel: Duel) -> pd.DataFrame:
    """List the numbers of all methods on this text."""
    methods = [NAMES[story.method] for story in result.stories]
    says = {True: "yes", False: "no", None: "–"}
    better = [says[duel.survives(n)] for n in range(len(methods))]
    edges = {"random order": duel.mean, "random, 5 %": duel.low, "random, 95 %": duel.high}
    every: list[Curve] = [*duel.curves, *edges.values()]
    table = pd.DataFrame(
        {
            "method": [*methods, *edges],
            "comprehensiveness": [each.comprehensiveness for each in every],
            "sufficiency": [each.sufficiency for each in every],
            "better than 95 % of random orders": [*better, *["–"] * len(edges)],
        }
    )
    return table.sort_values("comprehensiveness", ascending=False, kind="stable")


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
        table=figures_table(many),
    )


def figures_table(many: Many) -> pd.DataFrame:
    """List means over texts."""
    table = pd.DataFrame(
        {
            "method": [NAMES[each.method] for each in many.figures],
            "comprehensiveness": [each.comprehensiveness for each in many.figures],
            "± (95 %)": [each.spread[0] for each in many.figures],
            "sufficiency": [each.sufficiency for each in many.figures],
            "± (95 %) ": [each.spread[1] for each in many.figures],
        }
    )
    better = [each.better for each in many.figures]
    if max(better, default=-1) >= 0:
        table[f"better than chance, of {many.texts} texts"] = [
            str(each) if each >= 0 else "–" for each in better
        ]
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
    wide = (width - names - 2 * gap) / 2
    top = 46.0
    drawn: list[Html] = []
    for number, row in enumerate(rows):
        kind = "bx-svg-strong" if row.method == marked else None
        drawn.append(
            tag("text", NAMES[row.method], x=0, y=units(top + (number + 0.5) * _ROW),
                class_=f"{kind or ''}{size}".strip() or None)
        )  # fmt: skip
    panels = (
        ("Without them", "higher is better", [(row.comp, row.around[0]) for row in rows]),
        ("With only them", "lower is better", [(row.suff, row.around[1]) for row in rows]),
    )
    for number, (title, says, values) in enumerate(panels):
        left = names + number * (wide + gap) + gap / 2
        band = bands[number] if bands else None
        drawn += _dot_panel(rows, values, (left, wide), (title, says, size), band, marked)
    return svg(width, top + len(rows) * _ROW + 6, *drawn)


def _dot_panel(
    rows: Sequence[_Row],
    values: Sequence[tuple[float, float]],
    place: tuple[float, float],
    titles: tuple[str, str, str],
    band: tuple[float, float] | None,
    marked: str,
) -> list[Html]:
    """Draw one panel of dots, each with its number."""
    (left, wide), (title, says, size) = place, titles
    ends = [value + sign * around for value, around in values for sign in (-1, 1)]
    ends += [*(band or ()), 0.0]
    low, high = min(ends), max(ends)
    top, bottom = 46.0, 46.0 + len(rows) * _ROW
    room = wide - 46  # numbers are at the right

    def across(value: float) -> float:
        return left + room * (value - low) / ((high - low) or 1.0)

    drawn = [
        tag("text", title, x=units(left), y=10, class_=f"bx-svg-strong{size}"),
        tag("text", says, x=units(left), y=31, class_="bx-svg-small"),
    ]
    if band is not None:
        drawn.append(
            tag("rect", x=units(across(band[0])), y=top, height=units(bottom - top),
                width=units(max(1.0, across(band[1]) - across(band[0]))), class_="bx-why-band")
        )  # fmt: skip
    zero = units(across(0.0))
    drawn.append(tag("line", x1=zero, x2=zero, y1=top, y2=units(bottom), class_="bx-svg-grid"))
    for number, (row, (value, around)) in enumerate(zip(rows, values, strict=True)):
        y = units(top + (number + 0.5) * _ROW)
        if around:
            drawn.append(
                tag("line", x1=units(across(value - around)), x2=units(across(value + around)),
                    y1=y, y2=y, class_="bx-why-around")
            )  # fmt: skip
        kind = "random" if row.method == "random" else "dot"
        drawn += [
            tag("circle", cx=units(across(value)), cy=y, r=7 if row.method == marked else 5,
                class_=f"bx-why-{kind}"),
            tag("text", minus(value), x=units(left + wide), y=y,
                class_="bx-svg-name bx-svg-small"),
        ]  # fmt: skip
    return drawn

"""The test of an explanation: its verdict, and the curves as pieces are hidden step by step."""

from functools import partial

from app.features.why.result import Check, Curve, Method, WhyResult
from app.words.blocks import Html, hint, line, tag, ticked
from app.words.panel import NAME, Ends, Panel
from app.words.pictures import Picture, beside, picture

NAMES: dict[Method, str] = {
    "integrated_gradients": "Integrated gradients",
    "occlusion": "Occlusion",
    "shapley": "Shapley values",
    "attention": "Attention",
}
_VERDICTS = {
    True: "Survives deletion:",
    False: "Does not survive deletion:",
    None: "Nothing to compare:",
}
_STEPS = range(0, 101, 10)  # % of the pieces
_HIGH = 230  # of a panel of curves


def minus(value: float) -> str:
    """Print a number with two digits, and with a minus as wide as a plus.

    >>> minus(-0.123)
    '−0.12'
    """
    return f"{value:.2f}".replace("-", "−")


def verdict(check: Check) -> Html:
    """Say in one line whether the scores survive deletion."""
    shown, chance = check.shown.comprehensiveness, check.mean.comprehensiveness
    low, high = check.low.comprehensiveness, check.high.comprehensiveness
    numbers = (
        f"hiding its strongest words lowers the probability by {minus(shown)}, random ones by "
        f"{minus(chance)} (5 to 95 %: {minus(low)} to {minus(high)})"
    )
    survives = check.survives
    return tag(
        "div",
        tag("p", tag("strong", ticked(survives, _VERDICTS[survives])), " ", numbers, "."),
        class_="bx-why-verdict",
    )


def explanation(check: Check) -> Html:
    """Explain what the curves show."""
    more = hint(
        "Pieces are replaced by [MASK] step by step, those with the highest score first. If the "
        "scores are true to the model, the probability must fall fast (deletion), and the few "
        "strongest pieces alone must bring it back (insertion). The verdict compares the mean fall "
        "of the probability when the strongest 10 to 50 % of the pieces are hidden "
        "(comprehensiveness; DeYoung et al. 2020)."
    )
    return tag("div", more, line("Grey band: 20 random orders, without the outer 5 %."))


def curves(result: WhyResult, check: Check) -> Picture:
    """Draw deletion and insertion against the band of random orders."""
    shown, mean = check.shown, check.mean
    return picture(
        "why-curves",
        lambda width: _panels(check, width),
        alt=f"{NAMES[result.story.method]}: without the most important half of the pieces the "
        f"probability is {shown.deletion[5]:.2f}, in random order {mean.deletion[5]:.2f}; with "
        f"only that half {shown.insertion[5]:.2f}, in random order {mean.insertion[5]:.2f}.",
        table={"% of pieces": list(_STEPS)}
        | {
            f"{kind}{name}": getattr(each, kind)
            for kind in ("deletion", "insertion")
            for name, each in (
                ("", shown),
                (", random", mean),
                (", random 5 %", check.low),
                (", random 95 %", check.high),
            )
        },
    )


def _panels(check: Check, width: int) -> Html:
    every = (check.shown, check.low, check.high)
    values = [value for each in every for value in (*each.deletion, *each.insertion)]
    ends = (min(0.0, *values), max(max(values), min(values) + 1e-9))
    kinds = {"deletion": "strongest hidden first", "insertion": "strongest shown first"}
    plots = [partial(_panel, check, ends, *each) for each in kinds.items()]
    return beside(width, _HIGH, plots, gap=24)


def _panel(check: Check, ends: Ends, kind: str, says: str, width: float) -> list[Html]:
    """Draw one panel: the band of random orders, its mean, and the order of the scores."""

    def points(curve: Curve) -> list[tuple[float, float]]:
        return list(zip(_STEPS, getattr(curve, kind), strict=True))

    panel = Panel((44, width - 8), (34, _HIGH - 44), (0, 100), ends)
    low, high = ends
    panel.text(0, low, says, dy=34)
    panel.text(0, high, kind.capitalize(), dy=-20, class_="bx-svg-strong")
    panel.levels((value, f"{value:.2f}") for value in (low, (low + high) / 2, high))
    panel.ticks([(0, "0 %"), (50, "50 %")], 15)
    panel.ticks([(100, "100 %")], 15, class_=NAME)
    panel.line([*points(check.high), *points(check.low)[::-1]], class_="bx-why-band")
    panel.line(points(check.mean), class_="bx-why-mean")
    panel.line(points(check.shown), class_="bx-why-shown")
    for point in points(check.shown):
        panel.dot(*point, 3.5, class_="bx-why-dot")
    return panel.drawn

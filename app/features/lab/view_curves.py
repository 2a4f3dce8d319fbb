"""What a run has learned so far: losses over the steps, and accuracy for each phenomenon."""

import math
from collections.abc import Sequence

import pandas as pd

from app.features.lab.result import LabResult, Point
from app.features.lab.result_corpus import Phenomenon
from app.words.format import percent
from app.words.html import Html, tag
from app.words.pictures import WIDE, Picture, picture, svg

_DRAWN = 150  # most points of a line
_ROWS = 60  # of a table
_LEFT, _TOP, _PLOT = 30, 14, 150
_ROW, _SPARK = 30, 25  # height of a phenomenon, and of its curve
_LINES = (("held_out", "new sentences"), ("loss", "training sentences"))


def losses(runs: Sequence[LabResult], names: Sequence[str] = (), at: int | None = None) -> Picture:
    """Draw the losses of one or two runs, with the losses of two guessers.

    Args:
        runs: one or two, which may have different lengths.
        names: of the runs, if there are two.
        at: a step to mark.
    """
    said = "; ".join(
        f"{name} after step {run.points[-1].step:,}: new sentences "
        f"{run.points[-1].held_out:.2f}, training sentences {run.points[-1].loss:.2f}"
        for run, name in _named(runs, names)
    )
    start = runs[0].start
    return picture(
        "lab-loss",
        lambda width: _losses(runs, names, at, width),
        alt=f"Loss over the steps: {said.strip()}. A guess among all pieces has {start.log_v:.2f}, "
        f"a guess by frequency {start.unigram:.2f}.",
        table=_loss_table(runs, names),
    )


def accuracies(
    runs: Sequence[LabResult], names: Sequence[str] = (), at: int | None = None
) -> Picture:
    """Draw the share of right first guesses over the steps, one curve for each phenomenon."""
    steps = [run.points[-1].step if at is None else at for run in runs]
    said = "; ".join(
        f"{each.name} "
        + " and ".join(
            percent(right(run, run.at(step), each.name), 0, counted=True)
            for run, step in zip(runs, steps, strict=True)
        )
        + _best(each)
        for each in runs[0].start.phenomena
    )
    return picture(
        "lab-accuracy",
        lambda width: _accuracies(runs, names, at, width),
        alt=f"Right first guesses in new sentences: {said}.",
        table=_accuracy_table(runs, names),
    )


def _losses(runs: Sequence[LabResult], names: Sequence[str], at: int | None, width: int) -> Html:
    right, bottom = width - 8, _TOP + _PLOT
    last = max(run.start.settings.steps for run in runs)
    first = max(max(run.start.log_v, run.points[0].held_out) for run in runs)
    top = 2 * math.ceil(first / 2)

    def place(step: float, loss: float) -> str:
        x = _LEFT + (right - _LEFT) * across(step, last)
        return f"{x:.1f},{bottom - _PLOT * min(loss, top) / top:.1f}"

    drawn: list[Html] = []
    for tick in range(0, top + 1, 2):
        y = place(0, tick).partition(",")[2]
        drawn += [
            tag("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="bx-svg-grid"),
            tag("text", str(tick), x=_LEFT - 8, y=y, class_="bx-svg-name bx-svg-small"),
        ]
    for part, anchor in ((0, "start"), (0.25, "middle"), (1, "end")):
        says = f"{last * part:,.0f}" if part else "step 0"
        x = f"{_LEFT + (right - _LEFT) * across(part, 1):.1f}"
        drawn.append(
            tag("text", says, x=x, y=bottom + 16,
                text_anchor=anchor, class_="bx-svg-small")
        )  # fmt: skip
    start = runs[0].start
    for loss, says in ((start.log_v, "blind guess, log V"), (start.unigram, "guess by frequency")):
        level = float(place(0, loss).partition(",")[2])
        drawn += [
            tag("line", x1=_LEFT, x2=right, y1=level, y2=level, class_="bx-lab-guess"),
            tag("text", f"{says} {loss:.2f}", x=right, y=f"{level + 11:.1f}",
                class_="bx-svg-name bx-svg-small bx-lab-says"),
        ]  # fmt: skip
    if at is not None:
        x = place(at, 0).partition(",")[0]
        drawn.append(tag("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="bx-svg-here"))
    for number, run in enumerate(runs):
        for field, _ in reversed(_LINES):
            points = [place(each.step, getattr(each, field)) for each in thin(run.points, _DRAWN)]
            drawn.append(_line(points, number, field))
    legend = [
        _sample(10, bottom + 40, 0, "held_out", "loss of new sentences"),
        _sample(width / 2 + 10, bottom + 40, 0, "loss", "training"),
    ]
    if len(runs) == 2:
        legend += [
            _sample(10, bottom + 62 + 22 * number, number, "held_out", name)
            for number, name in enumerate(names)
        ]
    return svg(width, bottom + (96 if len(runs) == 2 else 52), *drawn, *legend)


def _line(points: Sequence[str], run: int, field: str) -> Html:
    return tag(
        "polyline", points=" ".join(points), class_=f"bx-lab-line bx-lab-run{run} bx-lab-{field}"
    )


def _sample(x: float, y: float, run: int, field: str, name: str) -> Html:
    """Draw a piece of a line with its name."""
    return tag(
        "g",
        _line([f"{x},{y}", f"{x + 24},{y}"], run, field),
        tag("text", name, x=f"{x + 31:g}", y=y, class_="bx-svg-small"),
    )


def _accuracies(
    runs: Sequence[LabResult], names: Sequence[str], at: int | None, width: int
) -> Html:
    several = len(runs) == 2
    spare = 30 if width == WIDE else 0  # on paper, letters may be wider than those of the site
    left, end = 172 + spare, width - (124 if several else 94) - spare
    last = max(run.start.settings.steps for run in runs)
    drawn: list[Html] = []
    for row, each in enumerate(runs[0].start.phenomena):
        low = _TOP + row * _ROW + _SPARK - 8

        def up(share: float, low: float = low) -> str:
            return f"{low - _SPARK * share:.1f}"

        middle = low - _SPARK / 2
        drawn.append(tag("text", each.name, x=0, y=f"{middle:g}", class_="bx-svg-small"))
        drawn.append(
            tag("rect", x=left, y=up(1), width=f"{end - left:g}", height=_SPARK,
                class_="bx-svg-track")
        )  # fmt: skip
        for share, kind in ((each.floor, "floor"), (each.ceiling, "ceiling")):
            if share is not None:
                drawn.append(
                    tag("line", x1=left, x2=end, y1=up(share), y2=up(share),
                        class_=f"bx-lab-{kind}")
                )  # fmt: skip
        for number, run in enumerate(runs):
            points = [
                f"{left + (end - left) * across(p.step, last):.1f},{up(share)}"
                for p in thin(run.points, _DRAWN)
                if (share := right(run, p, each.name)) is not None
            ]
            drawn.append(_line(points, number, "held_out"))
        if at is not None:
            x = f"{left + (end - left) * across(at, last):.1f}"
            drawn.append(tag("line", x1=x, x2=x, y1=up(1), y2=up(0), class_="bx-svg-here"))
        shares = [right(run, _at(run, at), each.name) for run in runs]
        best = "" if each.ceiling is None else f" of {100 * each.ceiling:.0f}"
        said = " | ".join("–" if share is None else f"{100 * share:.0f}" for share in shares)
        drawn.append(
            tag("text", tag("tspan", said, class_="bx-svg-strong"), f"{best} %",
                x=f"{end + 8:g}", y=f"{middle:g}", class_="bx-svg-small")
        )  # fmt: skip
    y = _TOP + len(runs[0].start.phenomena) * _ROW + 8
    drawn += [
        tag("line", x1=0, x2=24, y1=y, y2=y, class_="bx-lab-ceiling"),
        tag("text", "best possible", x=31, y=y, class_="bx-svg-small"),
        tag("line", x1=width / 2 - 40, x2=width / 2 - 16, y1=y, y2=y, class_="bx-lab-floor"),
        tag("text", "always the same word", x=width / 2 - 9, y=y, class_="bx-svg-small"),
    ]
    return svg(width, y + 12, *drawn)


def across(step: float, last: int) -> float:
    """Return the place of a step on its axis, 0 to 1: by its square root, as most is learned early.

    >>> across(500, 2_000)
    0.5
    """
    return math.sqrt(step / last)


def right(run: LabResult, point: Point, name: str) -> float | None:
    """Return the accuracy of a phenomenon by its name; None if this run does not measure it.

    A very small vocabulary cannot spell the answers of every phenomenon.
    """
    for each, share in zip(run.start.phenomena, point.accuracy, strict=True):
        if each.name == name:
            return share
    return None


def thin(points: Sequence[Point], most: int) -> Sequence[Point]:
    """Return at most so many points, evenly chosen; the last is among them."""
    step = -(-len(points) // most)
    return points if step < 2 else [*points[:-1:step], points[-1]]


def _at(run: LabResult, step: int | None) -> Point:
    return run.points[-1] if step is None else run.at(step)


def _best(phenomenon: Phenomenon) -> str:
    if phenomenon.ceiling is None:
        return ""
    return f" (best possible {percent(phenomenon.ceiling, 0, counted=True)})"


def _named(runs: Sequence[LabResult], names: Sequence[str]) -> list[tuple[LabResult, str]]:
    return [(run, names[n] if len(runs) == 2 else "") for n, run in enumerate(runs)]


def _loss_table(runs: Sequence[LabResult], names: Sequence[str]) -> pd.DataFrame:
    rows = [
        {
            **({"run": name} if name else {}),
            "step": each.step,
            **{says: getattr(each, field) for field, says in _LINES},
            "learning rate": each.learning_rate,
        }
        for run, name in _named(runs, names)
        for each in thin(run.points, _ROWS)
    ]
    return pd.DataFrame(rows)


def _accuracy_table(runs: Sequence[LabResult], names: Sequence[str]) -> pd.DataFrame:
    rows = [
        {
            **({"run": name} if name else {}),
            "step": point.step,
            **{
                each.name: share
                for each, share in zip(run.start.phenomena, point.accuracy, strict=True)
            },
        }
        for run, name in _named(runs, names)
        for point in thin(run.points, _ROWS)
    ]
    return pd.DataFrame(rows)

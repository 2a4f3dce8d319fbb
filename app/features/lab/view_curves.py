"""What a run has learned so far: losses over the steps, and accuracy for each phenomenon."""

import math
from collections.abc import Callable, Mapping, Sequence

from app.features.lab.result import LabResult, Point
from app.features.lab.result_corpus import Phenomenon
from app.words.format import percent
from app.words.html import Html, join, tag
from app.words.panel import MIDDLE, NAME, SMALL, Panel
from app.words.pictures import WIDE, Picture, picture, svg

_DRAWN = 150  # most points of a line
_ROWS = 60  # of a table
_TOP, _PLOT = 14, 150
_ROW, _SPARK = 30, 25  # height of a phenomenon, and of its curve
_LINES = (("held_out", "new sentences"), ("loss", "training sentences"))


def losses(runs: Sequence[LabResult], names: Sequence[str] = (), at: int | None = None) -> Picture:
    """Draw the losses of one or two runs, with the losses of two guessers.

    Steps are placed by their square root, as most is learned early.

    Args:
        runs: one or two, which may have different lengths.
        names: of the runs, if there are two.
        at: a step to mark.
    """
    said = "; ".join(
        f"{name} after step {run.points[-1].step:,}: "
        + ", ".join(f"{says} {getattr(run.points[-1], field):.2f}" for field, says in _lines(runs))
        for run, name in _named(runs, names)
    )
    start, teacher = runs[0].start, runs[0].teacher
    taught = "" if teacher is None else f" Their teacher has {teacher:.2f}."
    return picture(
        "lab-loss",
        lambda width: _losses(runs, names, at, width),
        alt=f"Loss over the steps: {said.strip()}. A guess among all pieces has {start.log_v:.2f}, "
        f"a guess by frequency {start.unigram:.2f}.{taught}",
        table=_rows(runs, names, _lost),
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
        table=_rows(runs, names, _measured),
    )


def _losses(runs: Sequence[LabResult], names: Sequence[str], at: int | None, width: int) -> Html:
    start, teacher = runs[0].start, runs[0].teacher
    last = max(run.start.settings.steps for run in runs)
    (low, top), ticks = _scale(runs)
    bottom, xs, bend = _TOP + _PLOT, (0, last), float if teacher is None else math.log
    panel = Panel((30, width - 8), (_TOP, bottom), xs, (low, top), bend_x=math.sqrt, bend_y=bend)
    panel.levels((tick, f"{tick:g}") for tick in ticks)
    for step, says, kind in ((0, "step 0", SMALL), (last / 4, "", MIDDLE), (last, "", NAME)):
        panel.ticks([(step, says or f"{step:,.0f}")], class_=kind)
    for loss, says in ((start.log_v, "blind guess, log V"), (start.unigram, "guess by frequency")):
        if teacher is None or loss < top:
            panel.level(min(loss, top), class_="bx-lab-guess")
            panel.text(
                last, min(loss, top), f"{says} {loss:.2f}", dy=11, class_=f"{NAME} bx-lab-says"
            )
    if teacher is not None:
        panel.level(teacher, class_="bx-lab-ceiling")
        panel.text(0, teacher, f"teacher {teacher:.2f}", 4, -6, class_=SMALL)
    if at is not None:
        panel.post(at, class_="bx-svg-here")
    lines = _lines(runs)
    for number, run in enumerate(runs):
        for field, _ in reversed(lines):
            points = [(p.step, min(getattr(p, field), top)) for p in thin(run.points, _DRAWN)]
            panel.line(points, class_=_look(number, field))
    key = Panel.of_units(width, bottom)
    key.sample(10, bottom + 40, "loss of new sentences", class_=_look(0, "held_out"))
    if len(lines) == 2:
        key.sample(width / 2 + 10, bottom + 40, "training", class_=_look(0, "loss"))
    for number, name in enumerate(names if len(runs) == 2 else ()):
        key.sample(10, bottom + 62 + 22 * number, name, class_=_look(number, "held_out"))
    return svg(width, bottom + (96 if len(runs) == 2 else 52), *panel.drawn, *key.drawn)


def _lines(runs: Sequence[LabResult]) -> Sequence[tuple[str, str]]:
    """Return the losses that are drawn: students are trained with different ones."""
    return _LINES if runs[0].teacher is None else _LINES[:1]


def _scale(runs: Sequence[LabResult]) -> tuple[tuple[float, float], list[float]]:
    """Return the ends of the axis of losses, and its ticks.

    For students they are ratios, as what tells two of them apart is small beside the first losses.
    """
    teacher = runs[0].teacher
    if teacher is None:
        top = 2 * math.ceil(max(max(run.start.log_v, run.points[0].held_out) for run in runs) / 2)
        return (0, top), list(range(0, top + 1, 2))
    losses = [teacher, *(point.held_out for run in runs for point in run.points)]
    low, high = 0.9 * min(losses), max(losses)
    return (low, high), [2.0**n for n in range(-4, 6) if low <= 2.0**n <= high]


def _look(run: int, field: str) -> str:
    return f"bx-lab-line bx-lab-run{run} bx-lab-{field}"


def _accuracies(
    runs: Sequence[LabResult], names: Sequence[str], at: int | None, width: int
) -> Html:
    spare = 30 if width == WIDE else 0  # on paper, letters may be wider than those of the site
    ends = 172 + spare, width - (124 if len(runs) == 2 else 94) - spare
    last = max(run.start.settings.steps for run in runs)
    drawn: list[Html] = []
    for row, each in enumerate(runs[0].start.phenomena):
        low = _TOP + row * _ROW + _SPARK - 8
        panel = Panel(ends, (low - _SPARK, low), (0, last), bend_x=math.sqrt)
        panel.text(0, 0.5, each.name, -ends[0])
        panel.span(class_="bx-svg-track")
        for share, kind in ((each.floor, "floor"), (each.ceiling, "ceiling")):
            if share is not None:
                panel.level(share, class_=f"bx-lab-{kind}")
        for number, run in enumerate(runs):
            found = ((p.step, right(run, p, each.name)) for p in thin(run.points, _DRAWN))
            points = [(step, share) for step, share in found if share is not None]
            panel.line(points, class_=_look(number, "held_out"))
        if at is not None:
            panel.post(at, class_="bx-svg-here")
        shares = [right(run, _at(run, at), each.name) for run in runs]
        best = "" if each.ceiling is None else f" of {100 * each.ceiling:.0f}"
        said = " | ".join("–" if share is None else f"{100 * share:.0f}" for share in shares)
        strong = tag("tspan", said, class_="bx-svg-strong")
        panel.text(last, 0.5, join(strong, f"{best} %"), 8)
        drawn += panel.drawn
    y = _TOP + len(runs[0].start.phenomena) * _ROW + 8
    key = Panel.of_units(width, y)
    key.sample(0, y, "best possible", class_="bx-lab-ceiling")
    key.sample(width / 2 - 40, y, "always the same word", class_="bx-lab-floor")
    return svg(width, y + 12, *drawn, *key.drawn)


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


def _rows(
    runs: Sequence[LabResult],
    names: Sequence[str],
    values: Callable[[LabResult, Point], Mapping[str, float]],
) -> list[dict[str, object]]:
    """Return the numbers of some points of each run."""
    return [
        {**({"run": name} if name else {}), "step": point.step, **values(run, point)}
        for run, name in _named(runs, names)
        for point in thin(run.points, _ROWS)
    ]


def _measured(run: LabResult, point: Point) -> dict[str, float]:
    names = (each.name for each in run.start.phenomena)
    return dict(zip(names, point.accuracy, strict=True))


def _lost(run: LabResult, point: Point) -> dict[str, float]:
    losses = {says: getattr(point, field) for field, says in _lines([run])}
    return {**losses, "learning rate": point.learning_rate}

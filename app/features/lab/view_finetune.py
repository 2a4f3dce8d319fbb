"""Fine-tuning as it goes on: losses, held-out accuracy with its interval, and the mistakes."""

import math
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from app.features.lab.result import State, Status
from app.features.lab.result_finetune import TEXTS, FinetuneResult, LabelledRows, Mistake
from app.words.blocks import answer, hint, line, note, record_table
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.pictures import WIDE, Picture, picture, svg
from app.words.report import Report

TITLE = "Fine-tune"

_LEFT, _TOP, _PLOT, _BELOW = 44, 30, 150, 34
_BETWEEN, _EDGE = 40, 8
_MISTAKES = 40  # shown
_HELD, _TRAINED = "var(--bx-c0)", "var(--bx-c5)"


def intro() -> Html:
    """Say what this is, and what happens to the rows."""
    return join(
        hint(
            tag("p", "A new head and the layers of the model learn your rows; word vectors stay as "
                "they are. A third of the rows is held out: the model never trains on them, and "
                "accuracy is measured with them alone. Training stops when this tab is closed."),
            tag("p", "One row a line: the text, a tab, and its label; or a tag for each word, with "
                "spaces between the tags. Your rows, and what is learned from them, stay in the "
                "memory of this server, for you alone."),
        ),
        line("Teach the model forty labelled rows; see what it gets wrong in rows it never saw."),
    )  # fmt: skip


def status_line(status: Status, result: FinetuneResult | None) -> Html:
    """Say where the training is."""
    says = f"{status.state.value}."
    if status.state is State.WAITING and status.before:
        says = f"waits: {count(status.before, 'training', 'trainings')} before yours."
    elif result is not None:
        says = f"{status.state.value}: step {result.last.step:,} of {result.steps:,}"
        left = f", about {math.ceil(result.last.left)} s of computing left"
        says += (left if status.state is State.RUNNING and result.last.step else "") + "."
    if status.state is State.STOPPED and result is not None and result.last.step:
        says = f"stopped at step {result.last.step:,} of {result.steps:,}."
    return tag("p", tag("strong", "Fine-tuning "), says, f" {status.says}".rstrip(), role="status")


def headline(result: FinetuneResult) -> Html:
    """Say how many held-out labels are right, how sure that is, and what guessing would reach."""
    right, sure = _says(result)
    kind = "bx-answer bx-open" if result.low <= result.rows.guess else "bx-answer"
    return tag("div", tag("p", tag("strong", right)), line(sure), class_=kind)


def _says(result: FinetuneResult) -> tuple[str, str]:
    """Return what came of it, and how sure that is."""
    last, rows = result.last, result.rows
    share, low, high, guess = (
        percent(each, 0, counted=True)
        for each in (last.right / last.cases, result.low, result.high, rows.guess)
    )
    return (
        f"{last.right} of {count(last.cases, f'held-out {rows.things}')} right ({share})",
        f"95 % interval {low} to {high}. Always saying “{visible(rows.frequent)}” gets {guess} "
        "right.",
    )


def few(result: FinetuneResult) -> Html:
    """Warn of what so few rows cannot say."""
    width = result.high - result.low
    says = (
        f"With {count(result.last.cases, f'held-out {result.rows.things}')}, the interval is "
        f"{100 * width:.0f} percentage points wide: a smaller difference says little."
    )
    if result.rows.kind != TEXTS:
        says += " Words of one row depend on each other, so it should be wider still."
    cut = (
        f" Too long, and therefore cut at the end: {count(result.cut, 'row')}."
        if result.cut
        else ""
    )
    return line(says + cut)


def curves(result: FinetuneResult) -> Picture:
    """Draw the losses, and the share of held-out labels that are right with its interval."""
    last = result.last
    return picture(
        "finetune",
        lambda width: _curves(result, width),
        alt=(
            f"After step {last.step:,}: loss {last.loss:.2f} of the rows trained on and "
            f"{last.held_out:.2f} of the held-out rows; {last.right} of {last.cases} held-out "
            f"labels right, 95 % interval {percent(result.low, 0, counted=True)} to "
            f"{percent(result.high, 0, counted=True)}."
        ),
        table=pd.DataFrame(
            {
                "step": [each.step for each in result.points],
                "loss, trained on": [each.loss for each in result.points],
                "loss, held out": [each.held_out for each in result.points],
                "right": [each.right for each in result.points],
                "of": [each.cases for each in result.points],
            }
        ),
    )


def _curves(result: FinetuneResult, width: int) -> Html:
    """Draw two plots, beside each other if there is room."""
    beside = width == WIDE
    wide = ((width - _BETWEEN) / 2 if beside else width) - _EDGE
    tall = _TOP + _PLOT + _BELOW
    second = (wide + _EDGE + _BETWEEN, 0) if beside else (0, tall + 16)
    return svg(
        width,
        tall if beside else 2 * tall + 16,
        tag("g", *_losses(result, wide)),
        tag("g", *_shares(result, wide), transform=f"translate({second[0]:g} {second[1]:g})"),
    )


def _losses(result: FinetuneResult, width: float) -> list[Html]:
    """Draw the loss of both kinds of rows, and that of a guess."""
    guess = math.log(len(result.rows.labels))
    top = math.ceil(max(guess, *(max(each.loss, each.held_out) for each in result.points)) * 2) / 2
    drawn = _frame("Loss", width, result.steps, [(0, "0"), (top, f"{top:g}")], top)
    level = _up(guess, top)
    drawn += [
        tag("line", x1=_LEFT, x2=width, y1=level, y2=level, stroke="currentColor",
            stroke_dasharray="2 4"),
        _line([(p.step, p.loss) for p in result.points], width, result.steps, top, _TRAINED, "7 4"),
        _line([(p.step, p.held_out) for p in result.points], width, result.steps, top, _HELD),
    ]  # fmt: skip
    names = (
        ("held out", _HELD, None),
        ("trained on", _TRAINED, "7 4"),
        (f"guess {guess:.2f}", "currentColor", "2 4"),
    )
    return drawn + _key(46, names)


def _shares(result: FinetuneResult, width: float) -> list[Html]:
    """Draw the share of right labels, with the interval of the newest."""
    ticks = [(0.0, "0"), (0.5, "50 %"), (1.0, "100 %")]
    drawn = _frame("Held-out labels that are right", width, result.steps, ticks, 1)
    level = _up(result.rows.guess, 1)
    points = [(each.step, each.right / each.cases) for each in result.points]
    x = _across(result.last.step, width, result.steps)
    low, high = _up(result.low, 1), _up(result.high, 1)
    return [
        *drawn,
        tag("line", x1=_LEFT, x2=width, y1=level, y2=level, stroke="currentColor",
            stroke_dasharray="2 4"),
        tag("text", "always the same label", x=width - 4, y=f"{float(level) + 11:.1f}",
            class_="bx-svg-name bx-svg-small"),
        _line(points, width, result.steps, 1, _HELD),
        tag("line", x1=x, x2=x, y1=low, y2=high, stroke=_HELD, stroke_width=7, stroke_opacity=0.35,
            class_="bx-ft-interval"),
        tag("circle", cx=x, cy=_up(points[-1][1], 1), r=5, fill=_HELD),
    ]  # fmt: skip


def _frame(
    title: str, width: float, steps: int, ticks: Sequence[tuple[float, str]], top: float
) -> list[Html]:
    """Draw the title and the axes of a plot."""
    drawn = [tag("text", title, x=0, y=10, class_="bx-svg-strong bx-svg-small")]
    for value, says in ticks:
        y = _up(value, top)
        drawn += [
            tag("line", x1=_LEFT, x2=width, y1=y, y2=y, class_="bx-svg-grid"),
            tag("text", says, x=_LEFT - 6, y=y, class_="bx-svg-name bx-svg-small"),
        ]
    for step, anchor in ((0, "start"), (steps, "end")):
        drawn.append(
            tag("text", f"step {step:,}" if step else "0", x=_across(step, width, steps),
                y=_TOP + _PLOT + 18, text_anchor=anchor, class_="bx-svg-small")
        )  # fmt: skip
    return drawn


def _key(x: float, rows: Sequence[tuple[str, str, str | None]]) -> list[Html]:
    """Draw what the lines of a plot are, behind its title."""
    drawn = []
    for name, stroke, dash in rows:
        drawn += [
            tag("line", x1=x, x2=x + 20, y1=10, y2=10, stroke=stroke, stroke_width=3,
                stroke_dasharray=dash),
            tag("text", name, x=x + 25, y=10, class_="bx-svg-small"),
        ]  # fmt: skip
        x += 37 + 7 * len(name)
    return drawn


def _line(
    points: Sequence[tuple[int, float]],
    width: float,
    steps: int,
    top: float,
    stroke: str,
    dash: str | None = None,
) -> Html:
    """Draw one line."""
    places = (f"{_across(step, width, steps)},{_up(value, top)}" for step, value in points)
    return tag("polyline", points=" ".join(places), fill="none", stroke=stroke, stroke_width=3,
               stroke_dasharray=dash)  # fmt: skip


def _across(step: int, width: float, steps: int) -> str:
    return f"{_LEFT + (width - _LEFT) * step / steps:.1f}"


def _up(value: float, top: float) -> str:
    return f"{_TOP + _PLOT * (1 - min(value, top) / top):.1f}"


def mistakes(result: FinetuneResult) -> Html:
    """List the held-out labels that the model does not give, the surest first."""
    title = tag("h2", "What it gets wrong")
    if not result.mistakes:
        return join(
            title,
            note(
                f"All {result.last.cases} held-out labels are right. So few rows cannot show that "
                "the model makes no mistakes."
            ),
        )
    surest = sorted(result.mistakes, key=lambda each: -each.share)
    columns = ("held-out row", "its label", "the model’s", "probability")
    rows = [
        (_quoted(each), visible(each.wanted), visible(each.said), percent(each.share))
        for each in surest[:_MISTAKES]
    ]
    rest = len(surest) - _MISTAKES
    return join(
        title,
        record_table("Held-out labels that the model gets wrong", columns, rows),
        line(f"{rest:,} more are not shown.") if rest > 0 else join(),
    )


def _quoted(mistake: Mistake) -> Html:
    """Quote a row with its line, and the word that is meant."""
    number = tag("small", f"line {mistake.row.line}: ")
    if mistake.place < 0:
        return join(number, tag("bdi", visible(mistake.row.text)))
    words = mistake.row.text.split()
    before, after = words[: mistake.place], words[mistake.place + 1 :]
    return join(
        number,
        tag(
            "bdi",
            visible(" ".join([*before, ""])),
            tag("span", visible(words[mistake.place]), class_="bx-small-name"),
            visible(" ".join(["", *after])),
        ),
    )


def asked(found: Sequence[tuple[str, str, float]], kind: str) -> Html:
    """Draw the labels of a text that the visitor wrote."""
    if kind == TEXTS:
        _, label, share = found[0]
        return answer(visible(label), f"{percent(share)} of the probability.")
    rows = [(tag("bdi", visible(word)), visible(label), percent(share))
            for word, label, share in found]  # fmt: skip
    return record_table("The tags of your text", ("word", "tag", "probability"), rows, compact=True)


def preview(rows: LabelledRows) -> Html:
    """Show how rows are divided, and how often each label occurs."""
    counts = [
        Counter(label for row in part for label in row.labels)
        for part in (rows.train, rows.held_out)
    ]
    table = [(visible(label), *(f"{each[label]:,}" for each in counts)) for label in rows.labels]
    return join(
        line(
            f"{count(len(rows.train), 'row')} to train on, {len(rows.held_out)} held out. Which "
            "label will be the easiest to learn, and which row will get the wrong one?"
        ),
        record_table("Labels", ("label", "trained on", "held out"), table, compact=True),
    )


def divided(result: FinetuneResult) -> Html:
    """Say how much was trained on how many rows."""
    rows = result.rows
    return line(
        f"{result.parameters:,} parameters learned from {count(len(rows.train), 'row')}; "
        f"{len(rows.held_out)} were held out."
    )


def report(result: FinetuneResult) -> Report:
    """Write the result as it would appear on paper."""
    ended = (note(result.diverged, caution=True),) if result.diverged else ()
    return Report(
        ". ".join(_says(result)),
        (curves(result), few(result), mistakes(result), divided(result)),
        first=ended,
    )

"""Fine-tuning as it goes on: losses, held-out accuracy with its interval, and the mistakes."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial

from app.features.lab.result_finetune import TEXTS, FinetuneResult, LabelledRows, Mistake
from app.words.blocks import Html, answer, hint, join, line, note, record_table, tag, visible
from app.words.format import count, percent
from app.words.panel import NAME, SMALL, Look, Panel
from app.words.pictures import Picture, beside, picture
from app.words.screen import Screen

TITLE = "Fine-tune"

_TOP, _PLOT, _BELOW = 30, 150, 34
_MISTAKES = 40  # shown
_HELD: dict[str, Look] = {"stroke": "var(--bx-c0)", "stroke_width": 3}
_TRAINED: dict[str, Look] = {"stroke": "var(--bx-c5)", "stroke_width": 3, "stroke_dasharray": "7 4"}
_GUESS: dict[str, Look] = {"stroke": "currentColor", "stroke_dasharray": "2 4"}


INTRO = join(
    hint(
        tag("p", "A new head and the layers of the model learn your rows; word vectors stay as "
            "they are. A third of the rows is held out: the model never trains on them, and "
            "accuracy is measured with them alone. One visitor trains at a time; closing this "
            "tab ends it."),
        tag("p", "One row a line: the text, a tab, and its label; or a tag for each word, with "
            "spaces between the tags. Your rows, and what is learned from them, stay in the "
            "memory of this server, for you alone."),
    ),
    line("Teach the model forty labelled rows; see what it gets wrong in rows it never saw."),
)  # fmt: skip
"""What fine-tuning is, and what happens to the rows."""


def _says(result: FinetuneResult) -> tuple[str, str]:
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
        table=[(p.step, p.loss, p.held_out, p.right, p.cases) for p in result.points],
        columns=("step", "loss, trained on", "loss, held out", "right", "of"),
    )


def _curves(result: FinetuneResult, width: int) -> Html:
    plots = (partial(_losses, result), partial(_shares, result))
    return beside(width, _TOP + _PLOT + _BELOW, plots, gap=32)


def _losses(result: FinetuneResult, width: float) -> list[Html]:
    guess = math.log(len(result.rows.labels))
    top = math.ceil(max(guess, *(max(each.loss, each.held_out) for each in result.points)) * 2) / 2
    panel = _panel("Loss", width, result.steps, [(0, "0"), (top, f"{top:g}")])
    panel.level(guess, **_GUESS)
    panel.line([(p.step, p.loss) for p in result.points], **_TRAINED)
    panel.line([(p.step, p.held_out) for p in result.points], **_HELD)
    key, x = Panel.of_units(width, _TOP), 46
    for name, look in (
        ("held out", _HELD),
        ("trained on", _TRAINED),
        (f"guess {guess:.2f}", _GUESS),
    ):
        key.sample(x, 10, name, 20, **{**look, "stroke_width": 3})
        x += 37 + 7 * len(name)
    return panel.drawn + key.drawn


def _shares(result: FinetuneResult, width: float) -> list[Html]:
    ticks = [(0.0, "0"), (0.5, "50 %"), (1.0, "100 %")]
    panel = _panel("Held-out labels that are right", width, result.steps, ticks)
    panel.level(result.rows.guess, **_GUESS)
    panel.text(result.steps, result.rows.guess, "always the same label", -4, 11, class_=NAME)
    points = [(each.step, each.right / each.cases) for each in result.points]
    panel.line(points, **_HELD)
    panel.post(result.last.step, (result.low, result.high), stroke=_HELD["stroke"], stroke_width=7,
               stroke_opacity=0.35, class_="bx-ft-interval")  # fmt: skip
    panel.dot(*points[-1], 5, fill=_HELD["stroke"])
    return panel.drawn


def _panel(title: str, width: float, steps: int, ticks: Sequence[tuple[float, str]]) -> Panel:
    panel = Panel((46, width - 8), (_TOP, _TOP + _PLOT), (0, steps), (0, ticks[-1][0]))
    panel.text(0, ticks[-1][0], title, -46, 10 - _TOP, class_="bx-svg-strong bx-svg-small")
    panel.levels(ticks)
    panel.ticks([(0, "0")], dy=18, class_=SMALL)
    panel.ticks([(steps, f"step {steps:,}")], dy=18, class_=NAME)
    return panel


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


def screen(result: FinetuneResult) -> Screen:
    """Say what is shown."""
    right, sure = _says(result)
    rows = result.rows
    divided = line(
        f"{result.parameters:,} parameters learned from {count(len(rows.train), 'row')}; "
        f"{len(rows.held_out)} were held out."
    )
    kind = "bx-answer bx-open" if result.low <= rows.guess else "bx-answer"
    return Screen(
        f"{right}. {sure}",
        (curves(result), few(result), mistakes(result), divided),
        first=(note(result.diverged, caution=True),) if result.diverged else (),
        answer=tag("div", tag("p", tag("strong", right)), line(sure), class_=kind),
    )

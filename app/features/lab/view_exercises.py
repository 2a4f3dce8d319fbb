"""An exercise of the lab in words, and its bands: what every seed gave for each choice."""

from collections.abc import Sequence

from app.features.lab.result_corpus import MASK, Phenomenon
from app.features.lab.result_exercises import Exercise
from app.words.blocks import fold
from app.words.html import Html, tag, visible
from app.words.panel import Panel
from app.words.pictures import Picture, picture, svg

NONE = "They cannot be told apart."
"""The answer that is right where the bands overlap."""

AXES = {
    "way": "way from guessing to the best possible",
    "lost": "right answers lost, as a share of all",
    "gap": "loss of new sentences, less that of those it trains on",
    "parameters": "parameters",
}
_ROW, _TOP = 44, 8


def bands(exercise: Exercise) -> Picture:
    """Draw a dot for each seed, choices below each other, on one axis."""
    every = [value for each in exercise.options for value in each.values]
    low, high = min(0.0, *every), max(every)
    high = high if high > low else low + 1

    def draw(width: int) -> Html:
        height = _TOP + _ROW * len(exercise.options)
        panel = Panel((8, width - 8), (_TOP, height), (low, high), (0, len(exercise.options)))
        for row, each in enumerate(exercise.options):
            panel.text(low, row + 0.25, each.say)
            panel.line([(low, row + 0.7), (high, row + 0.7)], class_="bx-svg-grid")
            for value in each.values:
                panel.dot(value, row + 0.7, 6, class_="bx-svg-bar")
        return svg(width, height, *panel.drawn)

    rows = [(each.say, seed, value) for each in exercise.options
            for seed, value in enumerate(each.values)]  # fmt: skip
    return picture(
        "lab-exercise", draw, table=rows, columns=("choice", "seed", AXES[exercise.of]),
        title=f"{AXES[exercise.of]}, seed by seed",
    )  # fmt: skip


def verdict(exercise: Exercise, guess: int | None) -> Html:
    """Say what came out beside what was guessed; None guessed that they cannot be told apart."""
    says = [f"{each.say}." for each in exercise.options]
    mine = NONE if guess is None else says[guess]
    its = NONE if exercise.right is None else says[exercise.right]
    short = [each.say for each in exercise.options if not each.allowed]
    left = f" Too far from it, with one seed at least: {'; '.join(short)}." if short else ""
    return tag(
        "div",
        tag("p", tag("strong", "You: "), visible(mine)),
        tag("p", tag("strong", "Three seeds of each: "), visible(its)),
        tag("p", visible(f"{exercise.why}{left} Each dot is a seed: {AXES[exercise.of]}.")),
        role="status",
    )  # fmt: skip


def phenomena(measured: Sequence[Phenomenon]) -> Html:
    """Explain what is measured, with an example of each."""
    rows = (
        tag("li", tag("strong", visible(each.name)), ": ",
            tag("bdi", visible(each.probes[0].text.replace(MASK, "___"))), " → ",
            visible(each.probes[0].answer))
        for each in measured
    )  # fmt: skip
    return fold("What is measured, with an example of each", tag("ul", *rows), is_open=True)

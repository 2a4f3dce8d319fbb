"""Distillation in words: what the teacher was worth, here and with other seeds."""

from statistics import mean

from app.features.lab.result_distil import CHANCE, SENTENCES, STARTS, DistilResult, Recipe
from app.features.lab.view_curves import accuracies, losses
from app.features.lab.view_words import STUDENTS
from app.words.blocks import hint, line, note, record_table
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.screen import Beside, Screen

TITLE = "Distil"


def intro() -> Html:
    """Say what distillation is."""
    return join(
        hint(
            "Two students with half the layers train with the same start and the same batches. One "
            "learns the hidden words alone. The other also reads what the trained model, its "
            "teacher, would answer: not only the right word, but how probable every other word is "
            "(Hinton et al. 2015). A temperature above 1 makes these answers more even. Starting "
            "from every second layer of the teacher is the idea of DistilBERT (Sanh et al. 2019). "
            "The axis of the losses has equal steps for equal ratios."
        ),
        line("Let the model just trained teach a model with half its layers."),
    )


def headline(result: DistilResult) -> Html:
    """Say whether the teacher helps in this run."""
    first, *rest = _says(result)
    kind = "bx-answer" if abs(result.ended.gain) > CHANCE else "bx-answer bx-open"
    return tag("div", tag("p", tag("strong", first)), line(" ".join(rest)), class_=kind)


def _says(result: DistilResult) -> list[str]:
    """Return the verdict, the losses, and what other seeds came to."""
    end, steps = result.ended, result.taught.start.settings.steps
    step = min(run.points[-1].step for run in (result.alone, result.taught))
    if end.gain > CHANCE:
        verdict = "The teacher helps"
    elif end.gain < -CHANCE:
        verdict = "The teacher harms"
    else:
        verdict = "One run cannot tell whether the teacher helps"
    so_far = "." if step == steps else f", so far: step {step:,} of {steps:,}."
    return [
        verdict + so_far,
        f"Loss of new sentences: {end.taught:.2f} with the teacher, {end.alone:.2f} alone. The "
        f"teacher has {end.teacher:.2f}.",
        *_seeds(result),
    ]


def _seeds(result: DistilResult) -> list[str]:
    gains = [each.gain for each in result.measured]
    if not gains:
        return []
    return [
        f"Measured with {count(len(gains), 'seed')}: {mean(gains):.2f} less with the teacher on "
        f"average ({min(gains):.2f} to {max(gains):.2f})."
    ]


def measured(result: DistilResult) -> Html:
    """Say how both students learned, list what other seeds came to, and say what is chance."""
    rows = [
        (str(each.seed), *(f"{loss:.2f}" for loss in (each.teacher, each.alone, each.taught)),
         f"{each.gain:.2f}")
        for each in result.measured
    ]  # fmt: skip
    columns = ("seed", "teacher", "alone", "with the teacher", "difference")
    few = (
        "These students read 200 of the teacher’s 20,000 sentences. Where they start from its "
        "layers and read all, the mean difference is 0.01."
        if rows and result.recipe.sentences < SENTENCES[-1]
        else ""
    )
    return join(
        line(f"Both students: {said(result.recipe)}."),
        record_table("Losses at the end", columns, rows, compact=True) if rows else join(),
        line(f"In one run, differences of less than {CHANCE} can be chance. {few}".rstrip()),
    )


def said(recipe: Recipe) -> str:
    """Say how students learn.

    >>> said(Recipe())
    'start from every second layer of the teacher, 200 sentences, temperature 1'
    """
    return (
        f"start from {STARTS[recipe.start]}, {recipe.sentences:,} sentences, "
        f"temperature {recipe.temperature}"
    )


def screen(result: DistilResult, model: str = "") -> Screen:
    """Say what is shown."""
    runs = result.alone, result.taught
    ended = tuple(note(visible(run.diverged), caution=True) for run in runs if run.diverged)
    return Screen(
        " ".join(_says(result)),
        (
            Beside((losses(runs, STUDENTS),), (accuracies(runs, STUDENTS),)),
            measured(result),
        ),
        first=ended,
    )

"""The settings of a run, a prediction and its outcome, in words."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from app.features.lab.result import LabResult, Point
from app.features.lab.result_settings import FACTS, GRAMMAR, OWN, LabSettings

LABELS = {
    "corpus": "Text to train on",
    "mask_rate": "Hidden words",
    "layers": "Layers",
    "heads": "Heads",
    "width": "Width of vectors",
    "learning_rate": "Learning rate",
    "sentences": "Sentences",
    "pieces": "Largest vocabulary",
    "seed": "Seed",
    "steps": "Steps",
    "positions": "Positions",
    "shuffled": "Shuffled words",
    "next_sentence": "Sentence pairs (NSP)",
    "shared": "Layers share weights (ALBERT)",
    "whole_words": "Whole words hidden",
}
"""What each setting is called."""

CORPORA = {GRAMMAR: "Grammar", FACTS: "Facts", OWN: "Your own"}
STUDENTS = "student alone", "student with its teacher"
BETTER, SAME, WORSE = "better", "about the same", "worse"
_LEARNED, _HALF = 0.9, 0.5  # of the way from guessing to the best possible
_ALIKE = 0.03  # of that way


def shown(name: str, value: Any) -> str:
    """Return the value of a setting as shown.

    >>> shown("mask_rate", 40), shown("sentences", 20_000), shown("learning_rate", 0.002)
    ('40 %', '20,000', '0.002')
    """
    if name == "corpus":
        return CORPORA[value]
    if name == "mask_rate":
        return f"{value} %"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def named(settings: LabSettings) -> str:
    """Name a run by its text and by what differs from the usual settings.

    >>> named(LabSettings(corpus="facts", mask_rate=40, positions=False))
    'facts, hidden words: 40 %, positions: no'
    """
    changed = [
        _setting(settings, each.name)
        for each in fields(settings)
        if each.name != "corpus" and getattr(settings, each.name) != each.default
    ]
    return ", ".join([CORPORA[settings.corpus].lower(), *changed])


def _setting(settings: LabSettings, name: str) -> str:
    label = LABELS[name]
    return f"{label[0].lower()}{label[1:]}: {shown(name, getattr(settings, name))}"


def pair_names(one: LabSettings, other: LabSettings) -> tuple[str, str]:
    """Name two runs by what differs between them; with equal settings, they are students.

    >>> pair_names(LabSettings(), LabSettings(mask_rate=80))
    ('hidden words: 15 %', 'hidden words: 80 %')
    >>> pair_names(LabSettings(), LabSettings())
    ('student alone', 'student with its teacher')
    """
    if one == other:
        return STUDENTS
    unlike = [
        each.name for each in fields(one) if getattr(one, each.name) != getattr(other, each.name)
    ]
    first, second = (", ".join(_setting(run, name) for name in unlike) for run in (one, other))
    return first, second


def question(settings: LabSettings) -> str:
    """Return what a visitor is asked to predict."""
    if _unchanged(settings):
        return "What will it learn first?"
    return "With this change, the model at the end will be …"


def choices(settings: LabSettings, learnable: Sequence[str]) -> tuple[str, ...]:
    """Return the predictions to choose from.

    Args:
        settings: of the run.
        learnable: names of phenomena that can be learned.
    """
    return tuple(learnable) if _unchanged(settings) else (BETTER, SAME, WORSE)


def learnable(run: LabResult) -> tuple[str, ...]:
    """Return the names of phenomena in which more than guessing is possible."""
    return tuple(p.name for p in run.start.phenomena if p.way(p.floor) is not None)


def outcome(run: LabResult, usual: LabResult | None) -> str:
    """Return which prediction would have been right; "" if that cannot be said.

    Args:
        run: that has come to its end.
        usual: the run without the change, if there is one.
    """
    if _unchanged(run.start.settings):
        return first_learned(run)
    if usual is None:
        return ""
    way, before = (each.points[-1].way(each.start.phenomena) for each in (run, usual))
    return BETTER if way > before + _ALIKE else WORSE if way < before - _ALIKE else SAME


def first_learned(run: LabResult) -> str:
    """Return what was first near its best possible accuracy.

    If nothing was, return what is nearest at the end; "" if that is not even half of the way.
    """
    for point in run.points:
        ways = [each for each in _ways(run, point) if each[0] >= _LEARNED]
        if ways:
            return max(ways)[1]
    way, name = max(_ways(run, run.points[-1]), default=(0.0, ""))
    return name if way > _HALF else ""


def _ways(run: LabResult, point: Point) -> list[tuple[float, str]]:
    """Return how far each phenomenon is from guessing to the best possible, with its name."""
    return [
        (way, each.name)
        for each, accuracy in zip(run.start.phenomena, point.accuracy, strict=True)
        if (way := each.way(accuracy)) is not None
    ]


def _unchanged(settings: LabSettings) -> bool:
    """Return whether a run has the usual settings of its corpus; seed and length do not count."""
    return settings.link().keys() <= {"corpus", "seed", "steps"}

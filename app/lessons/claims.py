"""Counting a claim over its items, and the figures that were counted on the bundled model."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from app.engine.models import Engine
from app.lessons.looking import Looking, filled_look, wilson
from app.lessons.quantities import QUANTITIES, Value, refer
from app.lessons.records import Claim, Condition, Figures
from app.lessons.shelf import FIGURES, claims
from app.words.format import percent

Progress = Callable[[int, int], None]
_COUNTED: WeakKeyDictionary[Engine, dict[str, Figures]] = WeakKeyDictionary()
"""What was counted of other models while they are loaded."""


def count(engine: Engine, claim: Claim, told: Progress | None = None) -> Figures:
    """Count the items of a claim.

    Args:
        engine: the model.
        claim: the claim.
        told: called with the items done and their number.
    """
    n = k = 0
    values: dict[str, list[float]] = {name: [] for name in claim.tell}
    for number, item in enumerate(claim.items, 1):
        looking = Looking(engine, claim.task, filled_look(claim.look, item))
        if looking.holds(claim.where):
            n += 1
            k += looking.holds(claim.counts)
            for name, quantity in claim.tell.items():
                values[name].append(float(looking.value(quantity)))
        if told:
            told(number, len(claim.items))
    tell = {
        name: (sum(found) / len(found), min(found), max(found))
        for name, found in values.items()
        if found
    }
    figures = Figures(n, k, False, tell)
    return Figures(n, k, all(_holds(each, figures) for each in claim.test), tell)


def _holds(test: Condition, figures: Figures) -> bool:
    values = [_figure(figures, each) for each in test.of]
    if test.more:
        return sum(values) > test.times * sum(_figure(figures, each) for each in test.more)
    low, high = test.least, test.most
    return (low is None or sum(values) >= low) and (high is None or sum(values) <= high)


def _figure(figures: Figures, name: str) -> float:
    kind, _, of = name.partition(".")
    if of:
        return figures.tell[of][("mean", "lowest", "highest").index(kind)]
    return {"k": figures.k, "n": figures.n, "share": figures.k / max(1, figures.n)}[kind]


@cache
def stored() -> tuple[str, Mapping[str, Figures], Mapping[str, tuple[int, ...]]]:
    """Return the weights that were measured, the figures of each claim, and for each lesson which
    text each of its steps uses with them.
    """
    read: Any = json.loads(FIGURES.read_text(encoding="utf-8"))
    figures = {
        name: Figures(
            row["n"], row["k"], row["holds"], {k: tuple(v) for k, v in row["tell"].items()}
        )
        for name, row in read["claims"].items()
    }
    return read["weights"], figures, {name: tuple(row) for name, row in read["looks"].items()}


def figures_of(engine: Engine, name: str) -> Figures:
    """Return the figures of a claim for a model: those stored, or counted now."""
    weights, figures, _ = stored()
    if engine.provenance.fingerprint == weights and name in figures:
        return figures[name]
    counted = _COUNTED.setdefault(engine, {})
    if name not in counted:
        counted[name] = count(engine, claims()[name])
    return counted[name]


def look_number(engine: Engine, lesson: str, step: int) -> int:
    """Return which of its texts a step uses with a model; steps count from 0."""
    weights, _, looks = stored()
    if engine.provenance.fingerprint != weights or step >= len(looks.get(lesson, ())):
        return 0
    return looks[lesson][step]


def figure(engine: Engine, about: str) -> tuple[str, Value]:
    """Return how a figure of a claim is printed, and it.

    Args:
        engine: the model.
        about: the claim and the figure, such as "O4.k" or "A9.mean.after".
    """
    name, _, wanted = about.partition(".")
    found = figures_of(engine, name)
    if wanted == "interval":
        low, high = (percent(end, 0, counted=True) for end in wilson(found.k, found.n))
        return "word", f"{low} to {high}"
    if wanted in {"k", "n"}:
        return "number", float(_figure(found, wanted))
    of = wanted.partition(".")[2]
    claim = claims()[name]
    told = refer(claim.tell[of]) if of else None
    printed = QUANTITIES[claim.task][told.name].kind if told else "share"
    return printed, _figure(found, wanted)

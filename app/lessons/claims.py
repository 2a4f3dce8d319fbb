"""Counting a claim over its items, and the figures that were counted on the bundled model."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

from app.catalog import feature
from app.declared import declared
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits
from app.lessons.heads import Place, count_heads, named_heads
from app.lessons.looking import HEAD, Looking, filled_look, within
from app.lessons.quantities import QUANTITIES
from app.lessons.quantity import Reference, Value, among, refer
from app.lessons.records import Claim, Condition, Figures, Look, Values
from app.lessons.shelf import FIGURES, claims
from app.records.counted import wilson
from app.words.format import percent
from bert_core.errors import CheckpointError, InputError

Progress = Callable[[int, int], None]
_COUNTED: WeakKeyDictionary[Engine, dict[str, Figures]] = WeakKeyDictionary()
"""What was counted of models while they are loaded."""


def count(engine: Engine, claim: Claim, told: Progress | None = None) -> Figures:
    """Count the items of a claim."""
    if claim.untrained:
        engine = engine.untrained()
    lookings = [
        Looking(engine, claim.task, looked(engine, filled_look(claim.look, item)))
        for item in claim.items
    ]
    found = count_heads(claim, lookings) if claim.role else _counted(claim, lookings, told)
    return replace(found, holds=all(_holds(each, found) for each in claim.test))


def _counted(claim: Claim, lookings: Sequence[Looking], told: Progress | None) -> Figures:
    n = k = 0
    values: dict[str, list[float]] = {name: [] for name in claim.tell}
    for number, looking in enumerate(lookings, 1):
        with suppress(InputError):  # another model may cut a word of the item into pieces
            if looking.holds(claim.where):
                holds = looking.holds(claim.counts)
                found = {name: float(looking.value(each)) for name, each in claim.tell.items()}
                n, k = n + 1, k + holds
                for name, value in found.items():
                    values[name].append(value)
        if told:
            told(number, len(lookings))
    tell = {
        name: (sum(found) / len(found), min(found), max(found))
        for name, found in values.items()
        if found
    }
    return Figures(n, k, False, tell)


def _holds(test: Condition, figures: Figures) -> bool:
    total, other = (sum(_figure(figures, each) for each in of) for of in (test.of, test.more))
    return total > test.times * other if test.more else within(total, test.least, test.most)


def _figure(figures: Figures, name: str) -> float:
    kind, _, of = name.partition(".")
    if of:
        told = figures.tell.get(of, (float("nan"),) * 3)  # nothing could be asked of this model
        return told[("mean", "lowest", "highest").index(kind)]
    known = {"k": figures.k, "n": figures.n, "share": figures.k / max(1, figures.n)}
    return among(known, "figure", kind)


@cache
def stored() -> tuple[str, Mapping[str, Figures]]:
    """Return the weights that were measured, and the figures of each claim."""
    read: Any = json.loads(FIGURES.read_text(encoding="utf-8"))
    figures = {
        name: Figures(
            row["n"],
            row["k"],
            row["holds"],
            {k: tuple(v) for k, v in row["tell"].items()},
            tuple(row["head"]) if "head" in row else None,
        )
        for name, row in read["claims"].items()
    }
    return read["weights"], figures


def unfit(engine: Engine, task: str) -> str:
    """Say why a model cannot answer a task; "" if it can."""
    found = misfits(engine.facts, feature(declared(task).feature.folder).needs)
    grave = [each.says for each in found if each.severity is not Severity.REMARK]
    return f"This model cannot answer here. {' '.join(grave)}" if grave else ""


def figures_of(engine: Engine, name: str) -> Figures:
    """Return the figures of a claim for a model: those stored, or counted now.

    Raises:
        CheckpointError: the model cannot answer the claim's task.
    """
    weights, figures = stored()
    counted = _COUNTED.setdefault(engine, {})
    if name not in counted:
        known = engine.provenance.fingerprint == weights and name in figures
        return figures[name] if known else count_again(engine, name)
    return counted[name]


def count_again(engine: Engine, name: str) -> Figures:
    """Count a claim, whatever is stored of it, and use these figures from now on."""
    claim = among(claims(), "claim", name)
    if why := unfit(engine, claim.task):
        raise CheckpointError(why)
    found = count(engine, claim)
    _COUNTED.setdefault(engine, {})[name] = found
    return found


def head_of(engine: Engine, role: str) -> Place:
    """Return the head that has a role in a model: that for which its claim holds most often."""
    names = {each.role: each.name for each in claims().values() if each.role}
    found = figures_of(engine, among(names, "role", role)).head
    assert found is not None  # a claim with a role has one
    return found


def looked(engine: Engine, look: Look) -> Look:
    """Write the heads of this model for the roles that a look names."""

    def named(values: Values) -> Values:
        return named_heads(engine, values, partial(head_of, engine))

    return Look(
        named(look.values), {name: named(each) for name, each in look.beside.items()}, look.words
    )


def figure(engine: Engine, wanted: Reference) -> tuple[str, Value]:
    """Return how a figure of a claim, or the head with a role, is printed, and it.

    Args:
        engine: the model.
        wanted: `claim:O4.k`, `claim:A9.mean.after`, `head:previous`.
    """
    if wanted.name == HEAD:
        layer, head = head_of(engine, wanted.about)
        return "word", f"head {head} of layer {layer}"
    name, _, which = wanted.about.partition(".")
    claim, found = among(claims(), "claim", name), figures_of(engine, name)
    if which == "interval":
        low, high = (percent(end, 0, counted=True) for end in wilson(found.k, found.n))
        return "word", f"{low} to {high}"
    kind: str = "number" if which in {"k", "n"} else "share"
    if of := which.partition(".")[2]:
        told = refer(among(claim.tell, "figure", of)).name
        if asked := QUANTITIES[claim.task].get(told):
            kind = asked.kind
    return kind, _figure(found, which)

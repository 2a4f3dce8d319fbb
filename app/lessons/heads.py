"""Heads by their roles: quantities of all heads at once, and values that name heads.

A value of a step or claim may name heads that the model of the day has: `{head:previous}` is the
head with a role, `{random:36}` are 36 heads drawn at random, `{least:36}` those that the answer
needs least. `{layer:last}` is the last layer.
"""

import random
import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from app.declared import declared
from app.engine.models import Engine
from app.lessons.looking import Looking, holds_of
from app.lessons.quantities_inside import OF_HEADS, Floats
from app.lessons.quantity import refer
from app.lessons.records import Condition, Values

Place = tuple[int, int]
"""A layer and a head, counted from 0."""

NAMED = re.compile(r"\{(head|random|least|layer):([^{}]+)\}")
"""Heads in a value."""


def heads_hold(looking: Looking, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
    """Return for each head whether all conditions hold, (L, H)."""
    held = [holds_of(each, partial(of_heads, looking)) for each in conditions]
    return np.asarray(np.logical_and.reduce(held))


def of_heads(looking: Looking, reference: str) -> Floats:
    """Return a quantity of every head, (L, H)."""
    found = refer(looking.named(reference))
    return OF_HEADS[looking.task][found.name](looking.result(found.look), found.about)


def named_heads(engine: Engine, values: Values, of_role: Callable[[str], Place]) -> Values:
    """Write the heads of a model for the names in values.

    Args:
        engine: the model.
        values: of the X-ray or of attention; `layer` and `head` take a number, others "4.10".
        of_role: says which head has a role.
    """

    heads = partial(_heads, engine, values, of_role)

    def written(name: str, value: object) -> object:
        found = NAMED.search(value) if isinstance(value, str) else None
        if found and found[1] == "layer":
            return engine.provenance.layers - 1
        if found and name in {"layer", "head"}:
            return heads(*found.groups())[0][name == "head"]
        if not found:
            return value
        return NAMED.sub(
            lambda gap: " ".join(f"{each[0]}.{each[1]}" for each in heads(*gap.groups())),
            str(value),
        )

    return {name: written(name, value) for name, value in values.items()}  # type: ignore[misc]


def _heads(
    engine: Engine, values: Values, of_role: Callable[[str], Place], kind: str, about: str
) -> list[Place]:
    """Return the head with a role, those that the answer needs least, or some at random."""
    if kind == "head":
        return [of_role(about)]
    size, text = engine.provenance, str(values["text"])
    every = [(layer, head) for layer in range(size.layers) for head in range(size.heads)]
    if kind == "random":
        return random.Random(f"{about} {text}").sample(every, min(int(about), len(every)))
    result = declared("xray").run(engine, {"text": text, "rank": True})
    effects = OF_HEADS["xray"]["effect"](result, "")
    return sorted(every, key=lambda at: -float(effects[at]))[: int(about)]

"""Heads by their roles: a claim counted for all heads at once, and values that name heads.

A value of a step or claim may name heads that the model of the day has: `{head:previous}` is the
head with a role, `{random:36}` are 36 heads drawn at random, `{least:36}` those that the answer
needs least. `{layer:last}` is the last layer.
"""

import random
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import inf
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from app.declared import declared
from app.engine.models import Engine
from app.lessons.looking import Looking
from app.lessons.quantities_inside import OF_HEADS, Floats
from app.lessons.quantity import refer
from app.lessons.records import Claim, Condition, Figures, Values
from bert_core.errors import InputError

Place = tuple[int, int]
"""A layer and a head, counted from 0."""

FEWEST = 4
"""Items of a claim that are asked, however long it takes."""

NAMED = re.compile(r"\{(head|random|least|layer):([^{}]+)\}")
"""Heads in a value."""


def count_heads(claim: Claim, items: Iterable[Looking], until: float = inf) -> Figures:
    """Count a claim for every head, and return the figures of the head that holds most often.

    Of heads that hold equally often, the one with the highest mean of what is told first is taken.
    """
    holds, told, left = [], [], 0
    for number, each in enumerate(items):
        if number >= FEWEST and monotonic() > until:
            left = len(claim.items) - number
            break
        with suppress(InputError):  # another model may cut a word of the item into pieces
            one = [_array(each, of) for of in claim.tell.values()]
            holds.append(np.logical_and.reduce([_holds(each, of) for of in claim.counts]))
            told.append(one)
    if not holds:
        return Figures(0, 0, False, {}, (0, 0))
    k = np.sum(holds, axis=0)  # (L, H)
    rows = {name: np.stack([one[n] for one in told]) for n, name in enumerate(claim.tell)}
    first = next(iter(rows.values())).mean(0) if rows else np.zeros(k.shape)
    layer, head = max(np.ndindex(*k.shape), key=lambda at: (k[at], np.nan_to_num(first[at])))
    at = (slice(None), layer, head)
    tell = {
        name: (float(row[at].mean()), float(row[at].min()), float(row[at].max()))
        for name, row in rows.items()
    }
    return Figures(len(holds), int(k[layer, head]), False, tell, (layer, head), left=left)


def _holds(looking: Looking, each: Condition) -> NDArray[np.bool_]:
    """Return for each head whether a condition holds, (L, H)."""
    total = np.sum([_array(looking, of) for of in each.of], axis=0)
    if each.more:
        return np.asarray(
            total > each.times * np.sum([_array(looking, of) for of in each.more], axis=0)
        )
    low = -np.inf if each.least is None else each.least
    high = np.inf if each.most is None else each.most
    return np.asarray((total >= low) & (total <= high))


def _array(looking: Looking, reference: str) -> Floats:
    found = refer(looking.named(reference))
    return OF_HEADS[looking.task][found.name](looking.result(found.look), found.about)


def named_heads(engine: Engine, values: Values, of_role: Callable[[str], Place]) -> Values:
    """Write the heads of a model for the names in values.

    Args:
        engine: the model.
        values: of the X-ray or of attention; `layer` and `head` take a number, others "4.10".
        of_role: says which head has a role.
    """

    def heads(kind: str, about: str) -> list[Place]:
        if kind == "head":
            return [of_role(about)]
        text = str(values["text"])
        return _drawn(engine, text, int(about), least=kind == "least")

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


def _drawn(engine: Engine, text: str, count: int, *, least: bool) -> list[Place]:
    """Return heads for a text: those that its answer needs least, or some at random."""
    size = engine.provenance.layers, engine.provenance.heads
    every = [(layer, head) for layer in range(size[0]) for head in range(size[1])]
    if not least:
        return random.Random(f"{count} {text}").sample(every, min(count, len(every)))
    result = declared("xray").run(engine, {"text": text, "rank": True})
    effects = OF_HEADS["xray"]["effect"](result, "")
    return sorted(every, key=lambda at: -float(effects[at]))[:count]

"""Counting a claim over its items, testing it, and the figures that are kept."""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf, nan
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from app.catalog import feature
from app.declared import declared
from app.engine.compute.background import Background
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits
from app.lessons.heads import Place, heads_hold, named_heads, of_heads
from app.lessons.looking import HEAD, Looking, filled_look
from app.lessons.measured import stored
from app.lessons.quantities import QUANTITIES
from app.lessons.quantity import Reference, Value, among, refer
from app.lessons.records import Claim, Figures, Lesson, Look, Values
from app.lessons.shelf import claims
from app.records.counted import binomial, fisher, wilson
from app.words.format import p_value, percent
from bert_core.errors import CheckpointError, InputError

Progress = Callable[[int, int], None]
LEVEL = 0.05
"""A claim holds only if the p-values of its tests are below this."""

_FEWEST = 4  # items that are asked, however long it takes
_SECONDS = 7.0  # for a claim of another model: a lesson has eight at most, and a minute

_COUNTED: WeakKeyDictionary[Engine, tuple[dict[str, Figures], threading.RLock]] = (
    WeakKeyDictionary()
)
"""What was counted of models while they are loaded; one thread counts at a time."""

_BEHIND: Background[tuple[str, str], None] = Background(kept=64)


def count(engine: Engine, claim: Claim, seconds: float = inf) -> Figures:
    """Count the items of a claim, as many as there is time for, and test it.

    A claim with a role is counted for all heads at once; its figures are those of the head for
    which it holds most often, and of several such heads the one with the highest mean of what is
    told first.
    """
    until = monotonic() + seconds
    asked = engine.untrained() if claim.untrained else engine
    hold, value = (heads_hold, of_heads) if claim.role else (Looking.holds, Looking.value)
    held: list[Any] = []
    told: list[list[Any]] = []
    left = 0
    for number, item in enumerate(claim.items):
        if number >= _FEWEST and monotonic() > until:
            left = len(claim.items) - number
            break
        looking = Looking(asked, claim.task, looked(asked, filled_look(claim.look, item)))
        with suppress(InputError):  # another model may cut a word of the item into pieces
            if looking.holds(claim.where):
                values = [value(looking, of) for of in claim.tell.values()]
                held.append(hold(looking, claim.counts))
                told.append(values)
    k = np.sum(held, axis=0) if held else np.zeros((1, 1) if claim.role else (), dtype=int)
    rows = {name: np.array([one[n] for one in told], float) for n, name in enumerate(claim.tell)}
    first = next(iter(rows.values())).mean(0) if told and rows else np.zeros(k.shape)
    at = max(np.ndindex(k.shape), key=lambda at: (k[at], np.nan_to_num(first[at])))  # () or (l, h)
    tell = {name: float(row[:, *at].mean()) for name, row in rows.items() if told}
    head = (at[0], at[1]) if at else None
    found = Figures(len(held), int(k[at]), False, tell, head, left=left)
    return _judged(claim, found, [figures_of(engine, each) for each in claim.against])


def _judged(claim: Claim, found: Figures, others: Iterable[Figures]) -> Figures:
    """Test a claim: against a share, against other counts, or by whether all count."""
    share, tests = found.k / max(1, found.n), []  # a p-value, and the share that it is about
    chance = found.tell.get(claim.stated, nan) if claim.stated else claim.chance
    if chance is not None:
        tests.append((binomial(found.k, found.n, chance), chance))
    for other in others:
        p = fisher((found.k, found.n), (other.k, other.n))
        tests.append((p, other.k / max(1, other.n)))
    shown = all(p < LEVEL and (share < of if claim.fewer else share > of) for p, of in tests)
    holds = shown and (not claim.exact or 0 < found.k == found.n)
    return replace(found, holds=holds, p=max((p for p, _ in tests), default=None))


def _figure(figures: Figures, name: str) -> float:
    kind, _, of = name.partition(".")
    if kind == "mean":
        return figures.tell.get(of, nan)  # nothing could be asked of this model
    known = {"k": figures.k, "n": figures.n, "share": figures.k / max(1, figures.n)}
    return among(known, "figure", kind)


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
    kept = stored()
    counted, lock = _COUNTED.setdefault(engine, ({}, threading.RLock()))
    if name not in counted and engine.provenance.fingerprint == kept.weights:
        return kept.claims[name] if name in kept.claims else count_again(engine, name)
    with lock:
        return counted[name] if name in counted else count_again(engine, name, _SECONDS)


def count_again(engine: Engine, name: str, seconds: float = inf) -> Figures:
    """Count a claim, whatever is stored of it, and use these figures from now on."""
    claim = among(claims(), "claim", name)
    if why := unfit(engine, claim.task):
        raise CheckpointError(why)
    found = count(engine, claim, seconds)
    _COUNTED.setdefault(engine, ({}, threading.RLock()))[0][name] = found
    return found


def count_behind(engine: Engine, lesson: Lesson) -> None:
    """Count the claims of a lesson in a thread, if they are not known; a page need not wait."""
    if engine.provenance.fingerprint == stored().weights:
        return

    def work(told: Progress) -> None:
        for number, name in enumerate(lesson.claims, 1):
            if not unfit(engine, claims()[name].task):
                figures_of(engine, name)
            told(number, len(lesson.claims))

    _BEHIND.begin((engine.provenance.fingerprint, lesson.slug), work)


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
    if which.startswith("p:"):
        other = figures_of(engine, which[2:])
        return "word", p_value(fisher((found.k, found.n), (other.k, other.n)))
    if which == "p":
        return "word", p_value(1.0 if found.p is None else found.p)
    kind: str = "number" if which in {"k", "n"} else "share"
    if of := which.partition(".")[2]:
        told = refer(among(claim.tell, "figure", of)).name
        if asked := QUANTITIES[claim.task].get(told):
            kind = asked.kind
    return kind, _figure(found, which)

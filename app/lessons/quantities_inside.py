"""Quantities of the pages that look inside the model: attention, X-ray, reasons, the lab.

`OF_HEADS` has those that every head has a number for. A claim that has a role is counted by them
for all heads at once, and the head for which it holds most often gets the role.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.lessons.quantity import Quantity, Value
from bert_core.errors import InputError

Floats = NDArray[np.floating[Any]]
_HALF = float(np.log(0.5))  # a change of the log-probability
_FAR = 24  # distances and positions that are tried
_LEARNED = 0.9  # share of right guesses from which something counts as learned


# -- attention -------------------------------------------------------------------------------------


def _places(r: Any, about: str) -> list[int]:
    """Return where pieces are.

    Raises:
        InputError: the text does not have one of them.
    """
    tokens = list(r.tokens)
    found = about.split()
    if missing := [each for each in found if each not in tokens]:
        raise InputError(f"The model finds no piece “{missing[0]}” in the text. Write it.")
    return [tokens.index(each) for each in found]


def _looks(r: Any, about: str) -> Floats:
    """Return how much a piece looks at another in each head, (L, H): `[MASK] keys`."""
    source, target = _places(r, about)
    return np.asarray(np.stack(r.attentions)[:, :, source, target])


def _shown(of: Callable[[Any, str], Floats]) -> Callable[[Any, str], Value]:
    """Return the mean over the heads that are shown."""
    return lambda r, about: float(np.mean([of(r, about)[place] for place in r.shown.places]))


def _top(r: Any, about: str) -> Value:
    """Return the piece that a piece looks at most."""
    (source,) = _places(r, about)
    return str(r.tokens[int(r.matrix_of(r.shown)[source].argmax())])


def _aims(r: Any, about: str) -> Floats:
    """Return whether a piece looks most at another one in each head, added pieces aside, (L, H)."""
    source, target = _places(r, about)
    row = np.stack(r.attentions)[:, :, source].copy()
    added = [at for at, side in enumerate(r.sides) if side is None]
    row[..., [source, *added]] = 0
    return np.asarray(row.argmax(-1) == target, dtype=np.float64)


def _distance(r: Any, about: str) -> Floats:
    """Return for each distance whether one piece is that far from another: a head for each."""
    source, target = _places(r, about)
    return np.asarray(np.arange(_FAR)[None] == source - target, dtype=np.float64)


def _position(r: Any, about: str) -> Floats:
    """Return for each position whether a piece is there: a head for each."""
    return np.asarray(np.arange(_FAR)[None] == _places(r, about), dtype=np.float64)


_OF_ATTENTION: Mapping[str, Callable[[Any, str], Floats]] = {
    "looks": _looks,
    "previous": lambda r, _: np.asarray(r.statistics.to_previous),
    "next": lambda r, _: np.asarray(r.statistics.to_next),
    "to_cls": lambda r, _: np.asarray(r.statistics.to_cls),
    "to_sep": lambda r, _: np.asarray(r.statistics.to_sep),
    "aims": _aims,
}


# -- X-ray -----------------------------------------------------------------------------------------


def _effects(r: Any, _: str) -> Floats:
    """Return what each head alone does to the log-probability of the answer, (L, H)."""
    found = np.full((r.layers, r.heads), np.nan)
    for each in r.ranking:
        layer, _, head = each.part.partition(".")
        if head.isdigit():
            found[int(layer), int(head)] = each.effect
    return found


def _most_needed(r: Any, _: str) -> Floats:
    found = _effects(r, "")
    return np.asarray(found == np.nanmin(found), dtype=np.float64)


def _share(test: Callable[[Floats], Any], *, counted: bool = True) -> Callable[[Any, str], Value]:
    """Return how many heads pass a test, or which share of them."""

    def read(r: Any, _: str) -> Value:
        found = _effects(r, "")
        return float(test(found).sum() if counted else test(found).mean())

    return read


def _name(r: Any, _: str) -> Value:
    layer, head = np.unravel_index(int(np.nanargmin(_effects(r, ""))), (r.layers, r.heads))
    return f"{layer}.{head}"


def _after(r: Any, layer: str) -> Any:
    """Return what the lens says after a layer; a negative number counts from the last one."""
    number = int(layer)
    if number >= r.layers:
        raise InputError(f"The model has no layer {number}; it has layers 0 to {r.layers - 1}.")
    return r.path[number + 1 if number >= 0 else len(r.path) - 1 + number]


def _likely(r: Any, word: str) -> Value:
    """Return the probability of a likely word now, or of the answer that is followed."""
    found = (each for each in r.candidates if (each.name == word if word else each.followed))
    return next((float(each.probability) for each in found), 0.0)


def _before(r: Any, _: str) -> Value:
    return float(next(each.before for each in r.candidates if each.followed))


# -- reasons ---------------------------------------------------------------------------------------


def _named(r: Any, _: str) -> Value:
    """Return the word with the highest score, the first one that is hidden."""
    best = max(range(len(r.words)), key=lambda at: r.story.scores[at])
    return str(r.words[best].text)


# -- the lab ---------------------------------------------------------------------------------------


def _at(r: Any, phenomenon: str) -> int:
    return [each.name for each in r.start.phenomena].index(phenomenon)


def _learned(r: Any, phenomenon: str) -> Value:
    """Return the first measured step at which something was learned; the last one if never."""
    at = _at(r, phenomenon)
    steps = [each.step for each in r.points if each.accuracy[at] >= _LEARNED]
    return float(min(steps, default=r.points[-1].step))


INSIDE: Mapping[str, Mapping[str, Quantity]] = {
    "attention": {
        **{name: Quantity("share", _shown(of)) for name, of in _OF_ATTENTION.items()},
        "top": Quantity("word", _top),
        "most_sep": Quantity("share", lambda r, _: float(np.mean(r.statistics.to_sep, -1).max())),
    },
    "xray": {
        "first": Quantity("word", lambda r, _: str(r.first.name)),
        "now": Quantity("word", lambda r, _: str(r.best.name)),
        "p": Quantity("share", _likely),
        "before": Quantity("share", _before),
        "followed": Quantity("word", lambda r, _: str(r.followed)),
        "after": Quantity("word", lambda r, layer: str(_after(r, layer).answer)),
        "after_p": Quantity("share", lambda r, layer: float(_after(r, layer).probability)),
        "needed": Quantity("word", _name),
        "halving": Quantity("number", _share(lambda found: found < _HALF)),
        "helping": Quantity("share", _share(lambda found: found > 0, counted=False)),
    },
    "why": {
        "answer": Quantity("word", lambda r, _: str(r.explained.answer)),
        "named": Quantity("word", _named),
        "fall": Quantity("number", lambda r, _: float(r.check.shown.comprehensiveness)),
        "chance": Quantity("number", lambda r, _: float(r.check.mean.comprehensiveness)),
        "best_chance": Quantity("number", lambda r, _: float(r.check.high.comprehensiveness)),
    },
    "lab": {
        "right": Quantity("share", lambda r, name: float(r.points[-1].accuracy[_at(r, name)])),
        "learned": Quantity("number", _learned),
        "floor": Quantity("share", lambda r, name: float(r.start.phenomena[_at(r, name)].floor)),
        "loss": Quantity("number", lambda r, _: float(r.points[-1].loss)),
        "held_out": Quantity("number", lambda r, _: float(r.points[-1].held_out)),
    },
}
"""By the name of the task."""

OF_HEADS: Mapping[str, Mapping[str, Callable[[Any, str], Floats]]] = {
    "attention": {**_OF_ATTENTION, "distance": _distance, "position": _position},
    "xray": {"effect": _effects, "most_needed": _most_needed},
}
"""Quantities that every head has, (L, H), by the name of the task."""

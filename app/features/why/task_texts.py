"""The duel over shipped texts: one text proves nothing.

The texts are the 80 sentences and 20 pairs of `bert_core.analysis.head_statistics.fixed_texts`. A
masked word is explained where the model's first guess has a probability of at least 0.3. No
questions are shipped; for question answering, masked words are explained.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from app.engine.compute.turns import Progress, in_turns
from app.engine.models import Engine
from app.features.why.result import METHODS, Figure, Many, Of
from app.features.why.task_asked import Asked, asked
from app.features.why.task_methods import AT_ONCE, attribute_all
from bert_core.analysis.faithfulness import Faithfulness, measure_orders
from bert_core.analysis.head_statistics import fixed_texts
from bert_core.errors import InputError

MOST_TEXTS = 50
_SURE = 0.3
_WORD = re.compile(r"[^\W\d_]+")
_NORMAL = 1.96  # standard errors in half a 95 % interval


@dataclass(frozen=True, slots=True)
class Row:
    """The duel on one text.

    Attributes:
        number: of the text among the shipped ones.
        scores: comprehensiveness and sufficiency of each method, then of random orders.
        better: for each method, whether it is better than 95 % of random orders.
    """

    number: int
    scores: tuple[tuple[float, float], ...]
    better: tuple[bool, ...]


def over_texts(
    engine: Engine, of: Of, texts: int, operator: str, progress: Progress | None = None
) -> Many:
    """Compare the methods over several of the shipped texts."""
    rows: list[Row] = []
    for row in duels(engine, of, operator, progress):
        rows.append(row)
        if len(rows) == texts:
            break
    return summary(of, rows)


def duels(
    engine: Engine,
    of: Of,
    operator: str,
    progress: Progress | None = None,
    *,
    done: Sequence[Row] = (),
) -> Iterator[Row]:
    """Compare the methods on each shipped text that has an answer to explain.

    Args:
        engine: the model.
        of: whose answers.
        operator: how pieces are hidden.
        progress: called at each step with the texts done and `MOST_TEXTS`.
        done: the rows of an earlier call, after which this one continues.
    """
    count = len(done)
    first = done[-1].number + 1 if done else 0
    for number, (text, pair) in enumerate(_texts(explained_of(of))[first:], first):
        if progress is not None:
            progress(count, MOST_TEXTS)
        found = _case(engine, explained_of(of), text, pair, number)
        if found is not None:
            yield _row(engine, found, operator, number, _still(progress, count))
            count += 1


def _still(progress: Progress | None, count: int) -> Progress:
    """Return a function that reports this number of texts whatever it is called with."""
    return lambda *_: None if progress is None else progress(count, MOST_TEXTS)


def explained_of(of: Of) -> Of:
    """Return whose answers are explained on the shipped texts."""
    return "fill_mask" if of == "qa" else of


def _texts(of: Of) -> list[tuple[str, str]]:
    """Return the shipped texts; for next sentence pairs, those first that were written as one."""
    shipped = fixed_texts()
    alone = [each for each in shipped if isinstance(each, str)]
    pairs = [each for each in shipped if not isinstance(each, str)]
    if of == "next_sentence":
        return [*pairs, *pairwise(alone)]
    return [(each, "") for each in (*alone, *(first for first, _ in pairs))]


def _case(engine: Engine, of: Of, text: str, pair: str, number: int) -> Asked | None:
    """Return what is explained in a text; None if there is nothing."""
    if of == "fill_mask":
        return _sure_mask(engine, text, number)
    try:
        found = asked(engine, of, text, pair, "", 1)
    except InputError:  # no name in this text
        return None
    return found if found.target.kind != "score" else None  # no probability that could fall


def _sure_mask(engine: Engine, text: str, number: int) -> Asked | None:
    """Hide a word, in random order, of which the model is sure enough."""
    places = [each.span() for each in _WORD.finditer(text)]
    random.Random(number).shuffle(places)
    for start, end in places:
        found = asked(engine, "fill_mask", f"{text[:start]}[MASK]{text[end:]}", "", "", 1)
        scores = engine.scores_at(found.encoding, [found.target.position])[0]
        if float(scores.softmax(-1).max()) >= _SURE:
            return found
    return None


def _row(engine: Engine, found: Asked, operator: str, number: int, progress: Progress) -> Row:
    """Compare the methods on one text."""
    model = engine.model(found.head)

    def work(told: Progress) -> list[Faithfulness]:
        scored = attribute_all(model, found.encoding, found.target, "[MASK]", told)
        orders = [each.order for each in scored]
        return measure_orders(model, found.encoding, found.target, orders, operator, told)

    curves = in_turns(work, tokens=AT_ONCE, progress=progress)
    chance = curves[0].random
    high = float(chance.comprehensiveness.high)
    mean = (float(chance.comprehensiveness.mean), float(chance.sufficiency.mean))
    return Row(
        number,
        (*((each.comprehensiveness, each.sufficiency) for each in curves), mean),
        tuple(each.comprehensiveness > high for each in curves),
    )


def summary(of: Of, rows: Sequence[Row]) -> Many:
    """Average over texts, best comprehensiveness first."""
    if not rows:
        return Many(explained_of(of), 0, ())
    scores = np.array([row.scores for row in rows])  # (N, methods + 1, 2)
    mean = scores.mean(axis=0)
    spread = _NORMAL * scores.std(axis=0, ddof=1 if len(rows) > 1 else 0) / len(rows) ** 0.5
    better = [*np.array([row.better for row in rows]).sum(axis=0).tolist(), -1]
    figures = [
        Figure(name, float(comp), float(suff), (float(around[0]), float(around[1])), wins)
        for name, (comp, suff), around, wins in zip(
            (*METHODS, "random"), mean, spread, better, strict=True
        )
    ]
    figures.sort(key=lambda each: -each.comprehensiveness)
    return Many(explained_of(of), len(rows), tuple(figures))

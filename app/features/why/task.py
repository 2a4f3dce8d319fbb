"""Why: which words an answer depends on, by several methods, and whether that is true to the model.

`task_asked` finds the number that is explained; this module scores the words with the methods of
`bert_core.analysis` and measures each order by hiding pieces; `task_texts` repeats the measurement
over shipped texts. All of it runs in turns, so that it can be cancelled at every step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

import numpy as np
import torch

from app.engine.compute.recent import RECENT
from app.engine.compute.turns import Progress, in_turns
from app.engine.models import Engine
from app.features.why.result import (
    COMPLETE,
    METHODS,
    Curve,
    Duel,
    Explained,
    Method,
    Of,
    Operator,
    Place,
    Story,
    WhyResult,
    Word,
)
from app.features.why.task_asked import Asked, asked, code_of
from app.features.why.task_measured import measured
from app.features.why.task_methods import AT_ONCE, attribute_all
from app.features.why.task_texts import MOST_TEXTS, over_texts
from app.records.fields import Field
from bert_core import Encoding
from bert_core.analysis import Attribution, Target, by_word
from bert_core.analysis.faithfulness import Band, Faithfulness, measure_orders
from bert_core.analysis.masking import free_tokens, masked_values
from bert_core.model.bert import BertPreTrainedModel

T = TypeVar("T")
Baseline = Literal["[MASK]", "[PAD]", "[UNK]", "zero"]
BASELINES: dict[Baseline, str] = {"[MASK]": "[MASK]", "[PAD]": "[PAD]", "[UNK]": "[UNK]",
                                  "zero": "zero"}  # fmt: skip
_KEPT = 4000  # bytes of a kept result for each word, at most


def why(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=4)],
    text_pair: Annotated[str, Field("Question, or second text", lines=2)] = "",
    *,
    of: Annotated[Of, Field("Whose answer?")] = "fill_mask",
    target: Annotated[str, Field("What is explained", key="why_target", lines=1)] = "",
    place: Annotated[int, Field("Which mask or name?", key="why_place", low=1, high=100)] = 1,
    method: Annotated[Method, Field("Method", key="why_method")] = "integrated_gradients",
    baseline: Annotated[Baseline, Field("Integrated gradients compare with")] = "[MASK]",
    operator: Annotated[Operator, Field("Pieces are hidden by")] = "mask",
    duel: Annotated[bool, Field("Compare the methods")] = True,
    texts: Annotated[int, Field("Compare over shipped texts", low=0, high=MOST_TEXTS)] = 0,
    progress: Progress | None = None,
) -> WhyResult:
    """Find the words that an answer depends on, and test whether that is true to the model.

    Args:
        engine: the model.
        text: the text that another page answers; for question answering, the passage. At most 128
            tokens are explained: the part around the answer, or the beginning.
        text_pair: for question answering the question; for next sentence the second sentence.
        of: whose answer is explained.
        target: what is explained, if not the model's own answer: a word (fill_mask), "start" or
            "end" of the answer (qa), "follows" or "does not follow" (next_sentence), a label
            (classification).
        place: which mask (fill_mask) or which name (ner), counted from 1.
        method: the method that is shown first; all are computed.
        baseline: what integrated gradients compare each word with.
        operator: how pieces are hidden to compare the methods: replaced by [MASK], or removed from
            attention.
        duel: whether the methods are compared on this text.
        texts: over how many of the shipped texts they are compared; each takes seconds.
        progress: called with the work done and the total; an exception it raises cancels.

    Raises:
        InputError: the model gives no such answer; see `task_asked.asked`.
    """
    found = asked(engine, of, text, text_pair, target, place)
    work = _Work(engine, found, progress)
    explained, stories, orders = work.kept(("stories", baseline), lambda: _stories(work, baseline))
    compared = None
    if duel:
        compared = work.kept(("duel", baseline, operator), lambda: _duel(work, orders, operator))
    return WhyResult(
        model=engine.provenance.name,
        of=of,
        explained=explained,
        method=method,
        baseline=baseline,
        words=words(found),
        stories=stories,
        duel=compared,
        many=over_texts(engine, of, texts, operator, progress) if texts else None,
        measured=measured(engine),
        untrained=engine.missing(found.head.__name__),
        encoding=found.encoding,
        cut=found.cut,
        part=found.part,
        read_as=found.read_as,
    )


def words(found: Asked) -> tuple[Word, ...]:
    """Return the words of an input in reading order."""
    none = np.zeros(len(found.encoding))
    return tuple(
        Word(each.text, Place(each.sequence, each.start, each.end), each.positions)
        for each in by_word(none, found.encoding)
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """One explanation under way: how it is kept, and how it is run."""

    engine: Engine
    asked: Asked
    progress: Progress | None

    def kept(self, what: tuple[str, ...], make: Callable[[], T]) -> T:
        """Return what was computed lately for the same question, or compute it."""
        model = self.engine.model(self.asked.head)
        read = self.asked.encoding
        texts = (read.text, read.text_pair, tuple(read.input_ids))
        key = ("why", *what, self.engine.provenance.fingerprint, id(model), self.asked.target)
        return RECENT.get((*key, *texts), make, lambda _: _KEPT * len(read))

    def run(self, work: Callable[[BertPreTrainedModel, Encoding, Target, Progress], T]) -> T:
        """Run a function of the library in turns."""
        model = self.engine.model(self.asked.head)
        one = self.asked
        return in_turns(
            lambda told: work(model, one.encoding, one.target, told),
            tokens=AT_ONCE,
            progress=self.progress,
        )


def _stories(
    work: _Work, baseline: str
) -> tuple[Explained, tuple[Story, ...], tuple[tuple[int, ...], ...]]:
    """Score the words with every method; return also the orders of the pieces."""
    found = work.run(
        lambda model, encoding, target, told: attribute_all(model, encoding, target, baseline, told)
    )
    stories = tuple(
        _story(method, each, work.asked.encoding)
        for method, each in zip(METHODS, found, strict=True)
    )
    return _explained(work), stories, tuple(each.order for each in found)


def _story(method: Method, found: Attribution, encoding: Encoding) -> Story:
    return Story(
        method,
        tuple(each.score for each in by_word(found.scores, encoding)),
        found.gap if method in COMPLETE else None,
        found.steps,
        found.passes,
    )


def _explained(work: _Work) -> Explained:
    """Compute the number for the text as it is, and with every word hidden."""
    one = work.asked
    hidden = np.zeros((2, len(one.encoding)), dtype=np.bool_)
    hidden[1, free_tokens(one.encoding, one.target)] = True
    value, empty = work.run(
        lambda model, encoding, target, _: masked_values(model, encoding, target, hidden)
    ).tolist()
    return Explained(
        answer=one.answer,
        own=one.own,
        number=one.number,
        target=one.chosen,
        places=one.places,
        others=one.others,
        named=one.named,
        code=code_of(one.target),
        unit="" if one.target.kind == "score" else "nats",
        value=value,
        empty=empty,
        probability=float(one.target.probability(torch.tensor(value))),
        calibrated=work.engine.calibration(one.head).named,
    )


def _duel(work: _Work, orders: tuple[tuple[int, ...], ...], operator: Operator) -> Duel:
    """Hide pieces in the order of each method, and in random orders."""
    found = work.run(
        lambda model, encoding, target, told: measure_orders(
            model, encoding, target, orders, operator, told
        )
    )
    chance = found[0].random
    bands = (chance.deletion, chance.insertion, chance.comprehensiveness, chance.sufficiency)
    return Duel(operator, tuple(map(_curve, found)), *(_edge(bands, edge) for edge in _EDGES))


_EDGES = ("mean", "low", "high")


def _curve(found: Faithfulness) -> Curve:
    return Curve(
        tuple(found.deletion.tolist()),
        tuple(found.insertion.tolist()),
        found.comprehensiveness,
        found.sufficiency,
    )


def _edge(bands: tuple[Band, ...], edge: str) -> Curve:
    """Return the mean, or an end of the band, of random orders."""
    deletion, insertion, comp, suff = (getattr(band, edge) for band in bands)
    return Curve(tuple(deletion.tolist()), tuple(insertion.tolist()), float(comp), float(suff))

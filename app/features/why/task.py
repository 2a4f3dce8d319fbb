"""Why: which words an answer depends on, and whether that is true to the model.

`task_asked` finds the number that is explained; this module scores the words with a method of
`bert_core.analysis` and tests the scores by hiding pieces. All of it runs in turns, so that it can
be cancelled at every step, and each part is kept by itself: a page that shows the scores computes
the test when it is asked for.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

import numpy as np
import torch

from app.engine.compute.recent import RECENT
from app.engine.compute.turns import Progress, in_turns
from app.engine.models import Engine
from app.features.why.result import (
    COMPLETE,
    Check,
    Curve,
    Explained,
    Method,
    Of,
    Place,
    Story,
    WhyResult,
    Word,
)
from app.features.why.task_asked import Asked, asked, code_of
from app.records.fields import Field
from bert_core import Encoding
from bert_core.analysis import Target, attribute, by_word
from bert_core.analysis.faithfulness import Band, Faithfulness, measure_orders
from bert_core.analysis.masking import free_tokens, masked_values
from bert_core.model.pretrained import BertPreTrainedModel

T = TypeVar("T")
_KEPT = 4000  # bytes of a kept result for each word, at most
_AT_ONCE = 2048  # tokens that the library reads in one step on a processor
_LONG = 64  # tokens from which fewer orders are drawn: the work grows with the cube of the length
_ORDERS, _FEW = 10, 4


def why(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=4)],
    text_pair: Annotated[str, Field("Question, or second text", lines=2)] = "",
    *,
    of: Annotated[Of, Field("Whose answer?")] = "fill_mask",
    target: Annotated[str, Field("What is explained", key="why_target", lines=1)] = "",
    place: Annotated[int, Field("Which mask or name?", key="why_place", low=1, high=100)] = 1,
    method: Annotated[Method, Field("Method", key="why_method")] = "integrated_gradients",
    check: Annotated[bool, Field("Is this true to the model?")] = True,
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
        method: how the words are scored; attention is there for contrast.
        check: whether the scores are tested; not where a score is explained, which is no
            probability that could fall.
        progress: called with the work done and the total; an exception it raises cancels.

    Raises:
        InputError: the model gives no such answer; see `task_asked.asked`.
    """
    one = asked(engine, of, text, text_pair, target, place)
    work = _Work(engine, one, progress)
    story, order = work.kept(("story", method), lambda: _scored(work, method))
    tested = None
    if check and work.is_share:
        tested = work.kept(("check", method), lambda: _check(work, order))
    return WhyResult(
        model=engine.provenance.name,
        of=of,
        explained=work.kept(("explained",), lambda: _explained(work)),
        words=words(one),
        story=story,
        check=tested,
        untrained=engine.missing(one.head.__name__),
        encoding=one.encoding,
        cut=one.cut,
        part=one.part,
        read_as=one.read_as,
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

    @property
    def is_share(self) -> bool:
        """Whether the number stands for a probability; a score of a regression does not."""
        return self.asked.target.kind != "score"

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
            lambda report: work(model, one.encoding, one.target, report),
            tokens=_AT_ONCE,
            progress=self.progress,
        )


def _scored(work: _Work, method: Method) -> tuple[Story, tuple[int, ...]]:
    """Return what a method says of the words, and the order of the pieces."""
    orders = _FEW if len(work.asked.encoding) > _LONG else _ORDERS
    found = work.run(
        lambda model, encoding, target, report: attribute(
            model, encoding, target, method=method, orders=orders, progress=report
        )
    )
    scores = tuple(each.score for each in by_word(found.scores, work.asked.encoding))
    gap = found.gap if method in COMPLETE else None
    return Story(method, scores, gap, found.steps, found.passes), found.order


def _explained(work: _Work) -> Explained:
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
        unit="nats" if work.is_share else "",
        value=value,
        empty=empty,
        probability=float(one.target.probability(torch.tensor(value)))
        if work.is_share
        else math.nan,
        calibrated=one.calibrated,
    )


def _check(work: _Work, order: tuple[int, ...]) -> Check:
    (found,) = work.run(
        lambda model, encoding, target, report: measure_orders(
            model, encoding, target, (order,), "mask", report
        )
    )
    chance = found.random
    bands = (chance.deletion, chance.insertion, chance.comprehensiveness, chance.sufficiency)
    return Check(_curve(found), *(_edge(bands, edge) for edge in ("mean", "low", "high")))


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

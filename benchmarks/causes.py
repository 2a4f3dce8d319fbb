"""Causes in a sentence of 24 tokens: the time of each analysis, beside a plain loop of passes.

The bundled model with its masked-word head, and one forward pass of it as the unit. The plain loop
computes the same numbers with one `model.run` after the other, and is checked to give them.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.measure import seconds
from bert_core import BertForMaskedLM, BertTokenizer
from bert_core.analysis import (
    METHODS,
    Heads,
    Target,
    attribute,
    compare_methods,
    head_effects,
    layer_effects,
    lens,
    patching_grid,
    run,
    value_zeroing,
)
from bert_core.analysis.faithfulness import measure_orders
from bert_core.text.encoding import Encoding

TITLE = "Causes"
NOTES = (
    "One sentence of 24 tokens, 21 of them free; explorer-mini-uncased (L6 D384 H12), float32, two "
    "threads. A pass is one `model.run` of the sentence without attentions, timed in the same "
    "round. Times are medians of the rounds.",
    "Plain loop: the same numbers from single `model.run` calls, one after the other.",
    "Load: runnable processes on the machine during the round, the benchmark included.",
)
COLUMNS = ("work", "limit", "time", "in passes", "plain loop", "of the loop", "load", "reached")
_NAME = "explorer-mini-uncased"
_SENTENCE = (
    "the old farmer walked slowly down to the [MASK] near the village and waited there for the "
    "boat until the next morning"
)
_OTHER = _SENTENCE.replace("farmer", "teacher")


@dataclass(frozen=True, slots=True)
class CausesRow:
    """One analysis: its times, those of a pass and of the plain loop, and its limit."""

    work: str
    limit: str
    reached: bool | None
    times: tuple[float, ...]
    passes: tuple[float, ...]
    loop: float | None
    load: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        took = statistics.median(self.times)
        return (
            self.work,
            self.limit or "–",
            seconds(took),
            f"{took / statistics.median(self.passes):.1f}",
            "–" if self.loop is None else seconds(self.loop),
            "–" if self.loop is None else f"{took / self.loop:.2f}",
            f"{self.load:.0f}",
            "–" if self.reached is None else "yes" if self.reached else "**no**",
        )

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return " | ".join(self.cells())


@dataclass(frozen=True, slots=True)
class _Case:
    """The model, the sentence and what is asked."""

    model: BertForMaskedLM
    encoding: Encoding
    other: Encoding
    target: Target

    @classmethod
    def load(cls) -> "_Case":
        model = BertForMaskedLM.from_pretrained(_NAME)
        tokenizer = BertTokenizer.from_pretrained(_NAME)
        encoding = tokenizer.encode(_SENTENCE)
        assert len(encoding) == 24, len(encoding)
        at = encoding.tokens.index("[MASK]")
        logits = run(model, encoding).logits
        assert logits is not None
        first, second = logits[0, at].topk(2).indices.tolist()
        target = Target.token_difference(at, first, second)
        return cls(model, encoding, tokenizer.encode(_OTHER), target)

    def inputs(self) -> tuple[Tensor, Tensor]:
        return torch.tensor([self.encoding.input_ids]), torch.tensor([self.encoding.token_type_ids])

    @torch.inference_mode()
    def one_pass(self) -> None:
        """Run the sentence."""
        self.model.run(*self.inputs(), attentions=False, hidden_states=False, logits=False)

    @torch.inference_mode()
    def value(self, ids: Tensor, head_mask: Tensor | None = None) -> float:
        """Return the target by a plain pass."""
        found = self.model.run(
            ids, head_mask=head_mask, attentions=False, hidden_states=False, logits=False
        )
        return float(self.target.read(self.model, found.last_hidden_state)[0])

    def heads_one_by_one(self) -> np.ndarray:
        """Return the effect of every head, zeroed."""
        ids, _ = self.inputs()
        layers, heads = self.model.config.num_hidden_layers, self.model.config.num_attention_heads
        whole = self.value(ids)
        effects = np.empty((layers, heads))
        for place in np.ndindex(layers, heads):
            mask = torch.ones(layers, heads)
            mask[place] = 0
            effects[place] = self.value(ids, mask) - whole
        return effects

    def occlusion_one_by_one(self) -> np.ndarray:
        """Return the fall of the target without each token."""
        ids, _ = self.inputs()
        whole, scores = self.value(ids), np.zeros(len(self.encoding))
        for at in attribute(self.model, self.encoding, self.target, method="rollout").order:
            without = ids.clone()
            without[0, at] = self.encoding.special_id("[MASK]")
            scores[at] = whole - self.value(without)
        return scores


def rows(quick: bool) -> Iterator[CausesRow]:
    """Measure every analysis."""
    case = _Case.load()
    model, text, other, target = case.model, case.encoding, case.other, case.target

    def method(name: str, **options: object) -> Callable[[], np.ndarray]:
        return lambda: attribute(model, text, target, method=name, **options).scores  # type: ignore[arg-type]

    orders = [attribute(model, text, target, method=each).order for each in METHODS]
    loop_of_heads = _time(case.heads_one_by_one)
    loop_of_tokens = _time(case.occlusion_one_by_one)
    zeroed = head_effects(model, text, target, "zero")
    np.testing.assert_allclose(zeroed, case.heads_one_by_one(), atol=1e-3)
    occluded = attribute(model, text, target, method="occlusion").scores
    np.testing.assert_allclose(occluded, case.occlusion_one_by_one(), atol=1e-3)
    shapley = loop_of_tokens * (10 * (len(orders[0]) - 1) + 2) / (len(orders[0]) + 1)
    works: tuple[tuple[str, Callable[[], object], str, float | None], ...] = (
        (
            "one head off, the answer anew",
            lambda: run(model, text, interventions=[Heads(2, 3)]),
            "60 ms",
            None,
        ),
        ("72 heads off", lambda: head_effects(model, text, target), "45 passes", loop_of_heads),
        ("12 sublayers off", lambda: layer_effects(model, text, target), "", None),
        ("patching, L x T", lambda: patching_grid(model, text, other, target), "", None),
        ("patching, L x H", lambda: patching_grid(model, text, other, target, "head"), "", None),
        ("affine lens", lambda: lens(model, text, target.position, kind="affine"), "", None),
        ("value zeroing", lambda: value_zeroing(model, text), "", None),
        ("integrated gradients", method("integrated_gradients"), "", None),
        ("occlusion", method("occlusion"), "", loop_of_tokens),
        ("Shapley values, 10 orders", method("shapley"), "1.5 s", shapley),
        (
            "duel: both curves of 8 methods and 20 random orders",
            lambda: measure_orders(model, text, target, orders, "mask", None),
            "2 s",
            None,
        ),
        ("duel: also the 8 methods", lambda: compare_methods(model, text, target), "8 s", None),
    )
    for work, function, limit, loop in works:
        yield _row(case, work, function, limit, loop, rounds=3 if quick else 7)


def _row(
    case: _Case,
    work: str,
    function: Callable[[], object],
    limit: str,
    loop: float | None,
    *,
    rounds: int,
) -> CausesRow:
    function(), case.one_pass()
    times, passes = [], []
    for _ in range(rounds):
        passes.append(statistics.median(_time(case.one_pass) for _ in range(10)))
        times.append(_time(function))
    took, one = statistics.median(times), statistics.median(passes)
    reached = took <= _limit(limit, one) if limit else None
    return CausesRow(work, limit, reached, tuple(times), tuple(passes), loop, os.getloadavg()[0])


def _limit(text: str, one_pass: float) -> float:
    """Return a limit in seconds.

    >>> _limit("60 ms", 0.01), _limit("45 passes", 0.01)
    (0.06, 0.45)
    """
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "passes": one_pass}[unit]


def _time(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin

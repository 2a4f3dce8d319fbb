"""Our forward pass in bfloat16 compared with our own in float32, where the processor has bfloat16.

Without such instructions oneDNN converts every number before it multiplies, which says nothing
about bfloat16. The table then has one line that says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.forward import SHAPES, SIZES
from benchmarks.measure import Goal, Row, alternate
from bert_core.config import BertConfig
from bert_core.model.bert import BertModel

TITLE = "Forward pass in bfloat16"
NOTES = (
    "BertModel with pooler, inference mode, no padding, random weights of the published sizes; both"
    " sides are ours, with the same weights.",
    "What it costs on every task is in docs/bfloat16.md.",
)
_GOAL = Goal("speed", 1.6)
_WORK = "every size and shape"
_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")  # the last is Arm's name
_LARGEST_MEAN = 0.02  # of the difference of vectors whose numbers have a deviation of 1


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """The line of a machine on which there is nothing to measure."""

    reason: str

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        return (_WORK, "ours in float32", str(_GOAL), *["–"] * 4, f"not measured: {self.reason}")

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return f"not measured: {self.reason}"


def rows(quick: bool) -> Iterator[Row | NotMeasured]:
    """Measure every size and shape, with and without attentions."""
    if not has_bfloat16():
        yield NotMeasured("this processor has no instructions for bfloat16")
        return
    for name, config in SIZES.items():
        exact, narrow = pair(config)
        for attentions in (True, False):
            kind = "with attentions" if attentions else "without attentions"
            for shape in SHAPES:
                yield _row(f"{name} {shape}, {kind}", exact, narrow, shape, attentions, quick)


def has_bfloat16() -> bool:
    """Return whether the processor multiplies numbers in bfloat16."""
    found = torch.cpu.get_capabilities()
    return any(found.get(name, False) for name in _INSTRUCTIONS)


def pair(config: BertConfig) -> tuple[BertModel, BertModel]:
    """Return a model in float32, and one with the same weights in bfloat16."""
    torch.manual_seed(0)
    exact, narrow = BertModel(config).eval(), BertModel(config).eval()
    narrow.load_state_dict(exact.state_dict())
    return exact, narrow.bfloat16()


def _row(
    work: str,
    exact: BertModel,
    narrow: BertModel,
    shape: tuple[int, int],
    attentions: bool,
    quick: bool,
) -> Row:
    ids = torch.randint(1000, exact.config.vocab_size, shape)

    def run(model: BertModel) -> Tensor:
        with torch.inference_mode():
            return model.run(ids, attentions=attentions, hidden_states=False).last_hidden_state

    check(run(narrow), run(exact))
    comparison = alternate(
        lambda: run(narrow),
        lambda: run(exact),
        rounds=5 if quick else 11,
        seconds=0.05 if quick else 0.15,
    )
    return Row(work, "ours in float32", _GOAL, comparison)


def check(narrow: Tensor, exact: Tensor) -> None:
    """Assert that vectors in bfloat16 are close to those in float32."""
    assert narrow.dtype == torch.bfloat16
    assert exact.dtype == torch.float32
    apart = float((narrow.float() - exact).abs().mean())
    assert apart <= _LARGEST_MEAN, f"the vectors differ by {apart:.3f} on average"

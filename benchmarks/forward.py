"""The forward pass compared with `transformers`: same weights, same inputs, two threads.

With attentions, the peer uses its "eager" attention with `output_attentions=True`; without, its
"sdpa" attention. The weights are random, which does not affect the time. Outputs are compared
before anything is timed.
"""

from collections.abc import Iterator
from typing import Any

import torch
import transformers
from torch import Tensor

from benchmarks.measure import Goal, Row, alternate
from bert_core.config import BertConfig
from bert_core.model.bert import BertModel

TITLE = "Forward pass"
NOTES = (
    "BertModel with pooler, inference mode, float32, no padding, random weights of the published "
    "sizes (MiniLM: L6 D384 H12 F1536; base: L12 D768 H12 F3072). All hidden states are "
    "collected on neither side.",
    "Most of the difference with AVX-512 is the kernel: the peer's linear layers multiply with "
    "MKL, ours with oneDNN (bert_core.model.kernels). With MKL on both sides the ratios at (1, 32) "
    "and (1, 128) were about 0.9 for MiniLM and 1.0 for base on the same machine. With AVX2 both "
    "multiply with MKL; ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 "
    "MKL_ENABLE_INSTRUCTIONS=AVX2 shows that on a machine with AVX-512.",
    f"PyTorch used {torch.backends.cpu.get_cpu_capability()} here.",
)
SIZES = {
    "MiniLM": BertConfig(30522, 384, 6, 12, 1536),
    "base": BertConfig(30522, 768, 12, 12, 3072),
}
SHAPES = ((1, 32), (1, 128), (1, 512), (8, 128))
_GOALS = {(1, 32): 0.9, (1, 128): 0.97}
_OTHER_GOAL = 1.02


def rows(quick: bool) -> Iterator[Row]:
    """Measure every size and shape, with and without attentions."""
    for name, config in SIZES.items():
        torch.manual_seed(0)
        ours = BertModel(config).eval()
        for attentions in (True, False):
            peer = peer_of(ours, attentions)
            for shape in SHAPES:
                yield _row(name, ours, peer, shape, attentions, quick)


def peer_of(ours: BertModel, attentions: bool) -> Any:
    """Build the peer with our weights."""
    values = {key: value for key, value in ours.config.to_dict().items() if key != "pruned_heads"}
    config = transformers.BertConfig.from_dict(values)
    make: Any = transformers.BertModel._from_config  # the public classes have no such option
    peer = make(config, attn_implementation="eager" if attentions else "sdpa")
    peer.load_state_dict(ours.state_dict())
    assert peer.config._attn_implementation == ("eager" if attentions else "sdpa")
    return peer.eval()


def _row(
    name: str,
    ours: BertModel,
    peer: Any,
    shape: tuple[int, int],
    attentions: bool,
    quick: bool,
) -> Row:
    ids = torch.randint(1000, ours.config.vocab_size, shape)

    def run_ours() -> tuple[Tensor, tuple[Tensor, ...]]:
        with torch.inference_mode():
            found = ours.run(ids, attentions=attentions, hidden_states=False)
        return found.last_hidden_state, found.attentions or ()

    def run_peer() -> tuple[Tensor, tuple[Tensor, ...]]:
        with torch.inference_mode():
            found = peer(ids, output_attentions=attentions)
        return found.last_hidden_state, found.attentions or ()

    _check(run_ours(), run_peer(), attentions)
    rounds = 5 if quick else 11
    comparison = alternate(run_ours, run_peer, rounds=rounds, seconds=0.05 if quick else 0.15)
    kind = "with attentions" if attentions else "without attentions"
    return Row(
        work=f"{name} {shape}, {kind}",
        peer="transformers " + ("eager" if attentions else "sdpa"),
        goal=Goal("time", _GOALS.get(shape, _OTHER_GOAL)),
        comparison=comparison,
    )


def _check(
    ours: tuple[Tensor, tuple[Tensor, ...]],
    peer: tuple[Tensor, tuple[Tensor, ...]],
    attentions: bool,
) -> None:
    """Assert that both sides give the same outputs."""
    assert len(ours[1]) == len(peer[1]), "different numbers of attention tensors"
    assert bool(ours[1]) == attentions, "attentions requested but not returned, or the reverse"
    for mine, theirs in zip((ours[0], *ours[1]), (peer[0], *peer[1]), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)

"""The forward pass on a card compared with `transformers`: same weights, same inputs.

Like `forward`, with larger batches, in float32 and bfloat16; each call waits for the card. Run it
with `make gpu` or `python -m benchmarks.cuda`; nothing is written into RESULTS.md.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from benchmarks.forward import SIZES, peer_of
from benchmarks.measure import Goal, Row, alternate
from benchmarks.report import section
from bert_core.model.bert import BertModel

TITLE = "Forward pass on CUDA"
NOTES = (
    "BertModel with pooler, inference mode, without attentions, no padding, random weights of the "
    "published sizes; the peer uses its sdpa attention. Both sides wait for the card after each "
    "call.",
)
SHAPES = ((1, 128), (8, 128), (32, 512))
_TYPES = {torch.float32: 1e-4, torch.bfloat16: 0.1}  # largest difference of the outputs
_GOAL = 1.02


def rows(
    quick: bool, device: str = "cuda", shapes: Sequence[tuple[int, int]] = SHAPES
) -> Iterator[Row]:
    """Measure every size, type and shape."""
    for name, config in SIZES.items():
        for dtype in _TYPES:
            torch.manual_seed(0)
            ours = BertModel(config).eval()
            peer = peer_of(ours, attentions=False).to(device, dtype)
            ours.to(device, dtype)
            for shape in shapes:
                yield _row(f"{name} {shape}, {str(dtype)[6:]}", ours, peer, shape, quick)


def _row(work: str, ours: BertModel, peer: Any, shape: tuple[int, int], quick: bool) -> Row:
    ids = torch.randint(1000, ours.config.vocab_size, shape, device=ours.device)

    def timed(model: Callable[[Tensor], Any]) -> Callable[[], Tensor]:
        def run() -> Tensor:
            with torch.inference_mode():
                found: Tensor = model(ids)
            if ids.is_cuda:
                torch.cuda.synchronize()
            return found

        return run

    run_ours = timed(lambda given: ours.run(given, hidden_states=False).last_hidden_state)
    run_peer = timed(lambda given: peer(given).last_hidden_state)
    limit = _TYPES[ours.dtype]
    torch.testing.assert_close(run_ours(), run_peer(), rtol=limit, atol=limit)
    seconds = 0.05 if quick else 0.5
    comparison = alternate(run_ours, run_peer, rounds=5 if quick else 11, seconds=seconds)
    return Row(work, "transformers sdpa", Goal("time", _GOAL), comparison)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    options = parser.parse_args(arguments)
    print(section(TITLE, list(rows(options.quick)), NOTES))


if __name__ == "__main__":
    main()

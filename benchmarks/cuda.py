"""The forward pass on a card compared with `transformers`: same weights, same inputs.

Like `forward`, with larger batches, in float32 and bfloat16; each call waits for the card. Run it
with `make gpu` or `python -m benchmarks.cuda`; nothing is written into RESULTS.md.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from benchmarks.forward import SIZES, peer_of
from benchmarks.measure import Row, alternate
from benchmarks.report import section
from bert_core.model.bert import BertModel

TITLE = "Forward pass on CUDA"
NOTES = (
    "BertModel with pooler, inference mode, no padding, random weights of the published sizes. The "
    "peer uses its eager attention where attentions are asked for, else sdpa. Both sides wait for "
    "the card after each call.",
)
SHAPES = ((1, 128), (8, 128), (32, 512))
_TYPES = {torch.float32: 1e-4, torch.bfloat16: 0.1}  # largest difference of the outputs
_GOAL = 1.02
DIFFER = "OUTPUTS DIFFER"


def rows(
    quick: bool, device: str = "cuda", shapes: Sequence[tuple[int, int]] = SHAPES
) -> Iterator[Row]:
    """Measure every size and type, with and without attentions, in every shape.

    The name of a row says so where the outputs of the two sides differ.
    """
    for (name, config), dtype, attentions in itertools.product(
        SIZES.items(), _TYPES, (True, False)
    ):
        torch.manual_seed(0)
        ours = BertModel(config).eval()
        peer = peer_of(ours, attentions).to(device, dtype)
        ours.to(device, dtype)
        kind = "with attentions" if attentions else "without attentions"
        for shape in shapes:
            work = f"{name} {shape}, {str(dtype)[6:]}, {kind}"
            yield _row(work, ours, peer, shape, attentions, quick)


def _row(
    work: str,
    ours: BertModel,
    peer: Any,
    shape: tuple[int, int],
    attentions: bool,
    quick: bool,
) -> Row:
    ids = torch.randint(1000, ours.config.vocab_size, shape, device=ours.device)

    def timed(model: Callable[[Tensor], Any]) -> Callable[[], tuple[Tensor, ...]]:
        def run() -> tuple[Tensor, ...]:
            with torch.inference_mode():
                found = model(ids)
            if ids.is_cuda:
                torch.cuda.synchronize()
            return (found.last_hidden_state, *(found.attentions or ()))

        return run

    run_ours = timed(lambda given: ours.run(given, attentions=attentions, hidden_states=False))
    run_peer = timed(lambda given: peer(given, output_attentions=attentions))
    limit = _TYPES[ours.dtype]
    pairs = zip(run_ours(), run_peer(), strict=True)
    apart = max(float((one - other).abs().max()) for one, other in pairs)
    if not apart <= limit:
        work += f", {DIFFER} by {apart:.2g}"
    rounds = alternate(run_ours, run_peer, rounds=5, seconds=0.02 if quick else 0.15)
    peer_name = f"transformers {'eager' if attentions else 'sdpa'}"
    return Row(work, peer_name, "time", _GOAL, rounds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short rounds")
    parser.add_argument(
        "--processor", action="store_true", help="one small shape on the processor, to try it"
    )
    options = parser.parse_args(arguments)
    asked = rows(True, "cpu", ((1, 16),)) if options.processor else rows(options.quick)
    found = []
    for row in asked:
        found.append(row)
        print(*row.cells(), sep="  ", flush=True)
    table = section(TITLE, found, NOTES)
    print(table)
    if DIFFER in table:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""The forward pass compared with `transformers`: same weights, same inputs, two threads.

Each program runs in a process of its own, because how one of them uses memory changes the time of
the other; they take turns. With attentions, the peer uses its "eager" attention with
`output_attentions=True`; without, its "sdpa" attention. The weights are random, which does not
affect the time. Outputs are compared before anything is timed.
"""

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import torch
import transformers
from torch import Tensor

from benchmarks.measure import Row
from bert_core.config import BertConfig
from bert_core.model.bert import BertModel

TITLE = "Forward pass"
NOTES = (
    "`BertModel` with pooler beside `transformers` (eager where attentions are asked for, else "
    "sdpa): float32, random weights of the published sizes, a process for each program.",
    f"PyTorch used {torch.backends.cpu.get_cpu_capability()} here.",
)
SIZES = {
    "MiniLM": BertConfig(30522, 384, 6, 12, 1536),
    "base": BertConfig(30522, 768, 12, 12, 3072),
}
SHAPES = ((1, 16), (1, 128), (1, 512), (8, 128))
_LIMIT = 1.1


def rows(quick: bool) -> Iterator[Row]:
    """Measure every size and shape, with and without attentions."""
    for name in SIZES:
        for attentions in (True, False):
            with (
                _Program("ours", name, attentions) as ours,
                _Program("peer", name, attentions) as peer,
            ):
                for shape in SHAPES:
                    for mine, theirs in zip(ours.outputs(shape), peer.outputs(shape), strict=True):
                        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)
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


class _Program:
    """One side in a process of its own, which answers what it is sent."""

    def __init__(self, side: str, name: str, attentions: bool) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        given = (theirs, side, name, attentions, torch.get_num_threads())
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_serve, args=given, daemon=True)

    def __enter__(self) -> "_Program":
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()

    def outputs(self, shape: tuple[int, int]) -> list[Tensor]:
        """Return the last hidden state and the attentions of texts of a shape."""
        self._pipe.send((shape, 0.0))
        found: list[Tensor] = self._pipe.recv()
        return [torch.from_numpy(each) for each in found]

    def seconds(self, shape: tuple[int, int], duration: float) -> float:
        """Return the median time of a pass, of those that fit into a duration."""
        self._pipe.send((shape, duration))
        found: float = self._pipe.recv()
        return found


def _serve(pipe: Connection, side: str, name: str, attentions: bool, threads: int) -> None:
    """Answer with outputs, or with the time of a pass."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    ours = BertModel(SIZES[name]).eval()
    peer = peer_of(ours, attentions) if side == "peer" else None

    def run(ids: Tensor) -> tuple[Tensor, ...]:
        if peer is None:
            found = ours.run(ids, attentions=attentions, hidden_states=False)
        else:
            found = peer(ids, output_attentions=attentions)
        return (found.last_hidden_state, *(found.attentions or ()))

    while True:
        shape, duration = pipe.recv()
        ids = torch.randint(1000, 30_000, shape, generator=torch.Generator().manual_seed(1))
        with torch.inference_mode():
            if not duration:
                pipe.send([each.numpy() for each in run(ids)])
                continue
            taken: list[float] = []
            end = time.perf_counter() + duration
            while len(taken) < 3 or time.perf_counter() < end:
                begin = time.perf_counter()
                run(ids)
                taken.append(time.perf_counter() - begin)
        pipe.send(median(taken))


def _row(
    name: str,
    ours: _Program,
    peer: _Program,
    shape: tuple[int, int],
    attentions: bool,
    quick: bool,
) -> Row:
    """Let both sides take turns; the one that goes first alternates."""
    times: dict[_Program, list[float]] = {ours: [], peer: []}
    for turn in range(3 if quick else 11):
        for each in (ours, peer) if turn % 2 == 0 else (peer, ours):
            times[each].append(each.seconds(shape, 0.05 if quick else 0.2))
    work = f"{name} {shape}, {'with' if attentions else 'without'} attentions"
    return Row(work, "transformers", "time", _LIMIT, (times[ours], times[peer]))

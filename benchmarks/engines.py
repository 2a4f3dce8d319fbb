"""The forward pass compared with ONNX Runtime and OpenVINO, and with the limit of the machine.

Both run our own exported graph, with the number of threads that we have, in float32. Outputs are
compared before anything is timed. The limit is the time in which this machine, in the same run,
multiplies large matrices of as many operations, or reads as many weights from memory, whichever
takes longer; no program can be faster.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnxruntime
import openvino
import torch
from torch import Tensor, nn

from benchmarks.forward import SHAPES, SIZES
from benchmarks.measure import seconds
from bert_core.config import BertConfig
from bert_core.model.bert import BertModel

TITLE = "Forward pass beside engines"
COLUMNS = (
    *("work", "ours", "ONNX Runtime", "OpenVINO", "ours / faster, in turns"),
    *("one after the other", "limit", "reached"),
)
_NOTES = (
    "Float32, no padding, random weights of the published sizes, {threads} threads each. In "
    "turns: times are medians over the rounds, and so is the ratio to the faster engine of each "
    "round; the others' threads may still be waiting awake. One after the other: each runs for a "
    "while alone.",
    "Limit: the operations at {rate:.0f} GFLOP/s, the rate of a product of two square matrices of "
    "2,048 in the same run, or the weights of the layers at {bandwidth:.0f} GB/s, the rate of "
    "reading 1 GB, whichever is longer. Reached: at most 1.00 of the faster engine in both ways, "
    "or at most 1.10 of the limit.",
    "The engines keep a second copy of the weights in the order of their kernels; ours has one, "
    "which every edit changes.",
    "Tried, on an Intel processor with AVX-512, without gain in the whole pass: MKL for the large "
    "products (0.9 to 1.0 for the product alone, equal with bias and GELU), weights stored "
    "transposed (0.8 to 0.9 with 32 tokens of MiniLM, but 1.8 where a row is a multiple of a "
    "page, and a padded row makes oneDNN fall to its reference kernel), weights packed by oneDNN "
    "(0.88 with 32 tokens, 0.97 with 128, twice the memory), large pages for weights (0.98), "
    "LayerNorm over features stored together (equal), feed-forward in blocks of 256 tokens or a "
    "quarter of the features (1.02 to 1.12), one function for a whole layer without calling "
    "modules (0.95 with 32 tokens, and a second forward pass to keep exact), one thread for short "
    "texts (1.7).",
)
NOTES: tuple[str, ...] = ()
"""Known after the rates of the machine have been measured."""


@dataclass(frozen=True, slots=True)
class EngineRow:
    """One line of the table; all times in seconds."""

    work: str
    ours: float
    onnx: float
    openvino: float
    ratio: float
    alone: float
    limit: float

    def reached(self) -> bool:
        """Return whether we are as fast as the faster engine, or close to the limit."""
        return max(self.ratio, self.alone) <= 1.0 or self.ours <= 1.1 * self.limit

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        times = map(seconds, (self.ours, self.onnx, self.openvino))
        verdict = "yes" if self.reached() else "**no**"
        ratios = (f"{self.ratio:.2f}", f"{self.alone:.2f}")
        return (self.work, *times, *ratios, seconds(self.limit), verdict)

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return " | ".join(self.cells())


class Outputs(nn.Module):
    """A model whose outputs are a tuple, as graphs have them."""

    def __init__(self, model: BertModel, attentions: bool) -> None:
        super().__init__()
        self.model, self.attentions = model, attentions

    def forward(self, ids: Tensor) -> tuple[Tensor, ...]:
        """Return last state, pooled state and, if asked for, the attentions."""
        found = self.model.run(ids, attentions=self.attentions, hidden_states=False)
        assert found.last_hidden_state is not None
        assert found.pooler_output is not None
        return (found.last_hidden_state, found.pooler_output, *(found.attentions or ()))


def rows(quick: bool) -> Iterator[EngineRow]:
    """Measure every size and shape, with and without attentions."""
    global NOTES
    threads, rate, bandwidth = torch.get_num_threads(), _matrix_rate(), _bandwidth()
    NOTES = tuple(
        note.format(threads=threads, rate=rate / 1e9, bandwidth=bandwidth / 1e9) for note in _NOTES
    )
    for name, config in SIZES.items():
        torch.manual_seed(0)
        model = BertModel(config).eval()
        for attentions in (True, False):
            ours = Outputs(model, attentions).eval()
            peers = engines(ours, threads)
            kind = "with attentions" if attentions else "without attentions"
            for shape in SHAPES:
                limit = max(_operations(config, shape) / rate, _layer_bytes(config) / bandwidth)
                yield _row(f"{name} {shape}, {kind}", ours, peers, shape, limit, quick)


Engine = Callable[[Tensor], list[Any]]


def engines(ours: Outputs, threads: int) -> tuple[Engine, Engine]:
    """Export the model once and open it with both engines."""
    free = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("tokens", min=2, max=512)}
    example = torch.ones((2, 16), dtype=torch.long)
    program = torch.onnx.export(
        ours, (example,), dynamic_shapes=(free,), dynamo=True, verbose=False
    )
    assert program is not None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        program.save(file)
        session = onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])
        request = openvino.Core().compile_model(file, "CPU", settings).create_infer_request()
    name = session.get_inputs()[0].name

    def run_openvino(ids: Tensor) -> list[Any]:
        found = request.infer({0: ids.numpy()}, share_inputs=True, share_outputs=True)
        return list(found.values())

    return lambda ids: list(session.run(None, {name: ids.numpy()})), run_openvino


def _row(
    work: str,
    ours: Outputs,
    peers: tuple[Engine, Engine],
    shape: tuple[int, int],
    limit: float,
    quick: bool,
) -> EngineRow:
    ids = torch.randint(1000, 30_000, shape)

    def run_ours() -> tuple[Tensor, ...]:
        with torch.inference_mode():
            found: tuple[Tensor, ...] = ours(ids)
        return found

    runs: list[Callable[[], object]] = [run_ours, *(lambda p=peer: p(ids) for peer in peers)]
    for peer in peers:
        for mine, theirs in zip(run_ours(), peer(ids), strict=True):
            torch.testing.assert_close(mine, torch.as_tensor(theirs), rtol=1e-4, atol=1e-4)
    once = max(_time(run, 2) for run in runs)
    calls = max(1, round((0.05 if quick else 0.15) / once))
    rounds = [
        [_time(runs[(first + place) % 3], calls) for place in range(3)]
        for first in range(6 if quick else 12)
    ]
    # Put the times of each round, which began with another program, in the order of `runs`.
    ordered = [found[-first % 3 :] + found[: -first % 3] for first, found in enumerate(rounds)]
    mine, onnx, openvino = (statistics.median(column) for column in zip(*ordered, strict=True))
    ratio = statistics.median(each[0] / min(each[1:]) for each in ordered)
    alone = [statistics.median(_time(run, calls) for _ in range(5)) for run in runs]
    return EngineRow(work, mine, onnx, openvino, ratio, alone[0] / min(alone[1:]), limit)


def _time(function: Callable[[], object], calls: int) -> float:
    """Return seconds per call."""
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def _matrix_rate() -> float:
    """Return floating-point operations a second in a product of large matrices."""
    size = 2048
    first, second = torch.rand(size, size), torch.rand(size, size)
    with torch.inference_mode():
        return 2 * size**3 / min(_time(lambda: first @ second, 1) for _ in range(20))


def _bandwidth() -> float:
    """Return bytes a second that are read from memory."""
    numbers = torch.ones(2**28)  # 1 GiB, far more than caches hold
    return numbers.nbytes / min(_time(numbers.sum, 1) for _ in range(10))


def _operations(config: BertConfig, shape: tuple[int, int]) -> int:
    """Return the floating-point operations of the layers; a multiply-add counts as two."""
    batch, tokens = shape
    width, inner = config.hidden_size, config.intermediate_size
    a_token = 2 * (4 * width * width + 2 * width * inner) + 4 * tokens * width
    return batch * tokens * config.num_hidden_layers * a_token


def _layer_bytes(config: BertConfig) -> int:
    """Return the bytes of the layers' matrices in float32."""
    width, inner = config.hidden_size, config.intermediate_size
    return 4 * config.num_hidden_layers * (4 * width * width + 2 * width * inner)

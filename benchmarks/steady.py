"""A forward pass beside a busy program that wants one of the two cores.

OpenMP's threads wait awake for each other. If another program has the core that one of them needs,
the other waits until the system takes turns. Every program runs in a process of its own, on the
same two cores; the busy program counts on the first.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.waiting import VARIABLE, WAIT
from benchmarks.measure import seconds

TITLE = "Beside a busy program"
COLUMNS = ("program", "tokens", "alone", "beside", "beside / alone", "to reach", "reached")
NOTES = (
    "MiniLM size, one text, without attentions, two threads on two cores of which a second process "
    "keeps one busy. Medians. GOMP_SPINCOUNT is the number of turns that a thread of OpenMP waits "
    "awake; the site sets it, for the library the caller does, before PyTorch is imported. Waiting "
    "less costs time when the machine is quiet: it is the price of being steady.",
)
_ROOT = Path(__file__).parent.parent
_TOKENS = (32, 128)
_GOAL = 2.5
_SITE = "ours, as the site sets it"
_BUSY = "while True: pass"


@dataclass(frozen=True, slots=True)
class Steadiness:
    """One line of the table; times in seconds."""

    program: str
    tokens: int
    alone: float
    beside: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        ratio = self.beside / self.alone
        goal = ("", "")
        if self.program == _SITE:
            goal = (f"≤ {_GOAL}", "yes" if ratio <= _GOAL else "**no**")
        times = (seconds(self.alone), seconds(self.beside))
        return (self.program, str(self.tokens), *times, f"{ratio:.1f}", *goal)

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return " | ".join(self.cells())


def rows(quick: bool) -> Iterator[Steadiness]:
    """Measure every program alone and beside a busy one."""
    programs = {
        "ours, PyTorch's setting": ("ours", {}),
        "ours, GOMP_SPINCOUNT=10000": ("ours", {VARIABLE: "10000"}),
        _SITE: ("ours", {VARIABLE: WAIT}),
        "ONNX Runtime": ("onnx", {}),
        "OpenVINO": ("openvino", {}),
    }
    duration = 0.5 if quick else 3.0
    cores = sorted(os.sched_getaffinity(0))[:2]
    for name, (program, settings) in programs.items():
        alone = _measure(program, settings, duration, cores)
        with _busy(cores[0]):
            beside = _measure(program, settings, duration, cores)
        for tokens, quiet, loaded in zip(_TOKENS, alone, beside, strict=True):
            yield Steadiness(name, tokens, quiet, loaded)


@contextlib.contextmanager
def _busy(core: int) -> Iterator[None]:
    """Keep one core busy."""
    with subprocess.Popen([sys.executable, "-c", _BUSY]) as process:
        os.sched_setaffinity(process.pid, {core})
        try:
            yield
        finally:
            process.kill()


def _measure(
    program: str, settings: dict[str, str], duration: float, cores: list[int]
) -> list[float]:
    """Return the median times of a program in a fresh process."""
    environment = {key: value for key, value in os.environ.items() if "GOMP" not in key} | settings
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.steady", program, str(duration)]
    found = subprocess.run(
        [*command, *map(str, cores)],
        cwd=_ROOT,
        env=environment | {"OMP_NUM_THREADS": "2"},
        check=True,
        capture_output=True,
    )
    times: list[float] = json.loads(found.stdout.splitlines()[-1])
    return times


def _time_here(program: str, duration: float) -> list[float]:
    """Return the median times of a program in this process."""
    import torch

    from benchmarks.engines import Outputs, engines
    from benchmarks.forward import SIZES
    from bert_core.model.bert import BertModel

    torch.manual_seed(0)
    model = Outputs(BertModel(SIZES["MiniLM"]).eval(), attentions=False).eval()
    run: Callable[[torch.Tensor], object] = torch.inference_mode()(model)
    if program != "ours":
        run = engines(model, 2)[("onnx", "openvino").index(program)]
    medians = []
    for tokens in _TOKENS:
        ids = torch.randint(1000, 30_000, (1, tokens))
        times: list[float] = []
        end = time.perf_counter() + duration
        while time.perf_counter() < end or len(times) < 3:
            begin = time.perf_counter()
            run(ids)
            times.append(time.perf_counter() - begin)
        medians.append(statistics.median(times))
    return medians


if __name__ == "__main__":
    os.sched_setaffinity(0, set(map(int, sys.argv[3:])))
    print(json.dumps(_time_here(sys.argv[1], float(sys.argv[2]))))

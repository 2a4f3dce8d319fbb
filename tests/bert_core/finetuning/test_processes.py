"""Several processes train as one would: same steps, same weights, and one of them may go on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.bert_core.finetuning import process_training

STEPS, BROKEN = 50, 3


def losses(folder: Path) -> dict[int, float]:
    """Return the loss of every step that was done."""
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["step"]: row["loss"] for row in map(json.loads, lines)}


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch without distribution")
def test_two_processes_train_as_one_does_and_one_goes_on(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    process_training.run(alone, STEPS, broken=BROKEN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += ["-m", process_training.__name__, str(together), str(STEPS // 2), str(BROKEN)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    process_training.run(together, STEPS, broken=BROKEN)
    found, expected = losses(together), losses(alone)
    # The loss of one process was not finite: both left the step out, as the one alone did.
    assert sorted(found) == sorted(expected) == [n for n in range(1, 51) if n != BROKEN + 1]
    assert list(found.values()) == pytest.approx(list(expected.values()), abs=1e-4)
    assert found[1] > found[STEPS] + 0.1
    weights, others = (torch.load(each / "weights.pt") for each in (alone, together))
    assert all(torch.allclose(weights[name], others[name], atol=1e-4) for name in weights)

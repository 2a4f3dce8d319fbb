"""Batches built ahead are the same batches."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bert_core.errors import InputError
from bert_core.finetuning import Budget
from training.ahead import BuiltAhead

# The builder processes import what they build from by name, so it lies in a file of its own.
SOURCE = """
import os
import torch
from bert_core.errors import InputError

class Counting:
    def __call__(self, step, progress):
        if step == 5:
            raise InputError("step 5 is broken")
        generator = torch.Generator().manual_seed(step)
        return [(step, progress, os.getpid()), {"ids": torch.rand(3, generator=generator)}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "counting.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("counting", None)


def test_every_step_gets_what_its_source_gives(folder: Path) -> None:
    from counting import Counting  # type: ignore[import-not-found]

    source = Counting()
    batches = BuiltAhead(source, Budget(steps=8), processes=1)
    try:
        for step in (0, 1, 2, 7):  # a resumed training begins anywhere
            (number, progress, builder), tensors = batches(step, step / 8)
            expected = source(step, step / 8)
            assert (number, progress) == expected[0][:2] == (step, step / 8)
            assert tensors["ids"].tolist() == expected[1]["ids"].tolist()
            assert builder != os.getpid()
        with pytest.raises(InputError, match="step 5 is broken"):
            batches(5, 5 / 8)
    finally:
        batches.close()


@pytest.mark.slow
def test_a_budget_in_minutes_builds_with_the_progress_at_hand(folder: Path) -> None:
    from counting import Counting

    batches = BuiltAhead(Counting(), Budget(minutes=3), processes=1)
    try:
        found = [batches(step, step / 10)[0][1] for step in range(5)]
        assert found[0] == 0.0 and found == sorted(found)
        assert all(progress <= step / 10 for step, progress in enumerate(found))
    finally:
        batches.close()


def test_without_processes_a_batch_is_built_when_it_is_asked_for() -> None:
    batches = BuiltAhead(lambda step, progress: [(step, progress)], Budget(steps=3), processes=0)
    assert batches(2, 0.5) == [(2, 0.5)]

"""Bfloat16 is timed only where the processor has it, and only if the answers are close."""

import pytest
import torch

from benchmarks import bfloat16
from benchmarks.measure import COLUMNS, Row
from benchmarks.report import section
from bert_core.config import BertConfig

TINY = BertConfig(99, 32, 2, 4, 37)


def test_a_processor_without_it_is_told_and_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16, "has_bfloat16", lambda: False)
    (row,) = bfloat16.rows(quick=True)
    assert isinstance(row, bfloat16.NotMeasured)
    assert len(row.cells()) == len(COLUMNS)
    assert "not measured: this processor has no instructions for bfloat16" in section("T", [row])


@pytest.mark.parametrize("name", ["avx512_bf16", "amx_bf16", "bf16", "avx512_f"])
def test_the_processor_is_asked_for_its_instructions(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {name: True})
    assert bfloat16.has_bfloat16() == (name != "avx512_f")


@pytest.mark.slow
def test_with_it_each_size_and_shape_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    config = BertConfig(2000, 32, 2, 4, 37)
    monkeypatch.setattr(bfloat16, "has_bfloat16", lambda: True)
    monkeypatch.setattr(bfloat16, "SIZES", {"tiny": config})
    monkeypatch.setattr(bfloat16, "SHAPES", ((1, 3), (2, 5)))
    found = [row for row in bfloat16.rows(quick=True) if isinstance(row, Row)]
    assert [row.work for row in found] == [
        *("tiny (1, 3), with attentions", "tiny (2, 5), with attentions"),
        *("tiny (1, 3), without attentions", "tiny (2, 5), without attentions"),
    ]
    assert {str(row.goal) for row in found} == {"≥ 1.6 × its throughput"}


def test_vectors_that_are_not_close_are_not_timed() -> None:
    exact, narrow = bfloat16.pair(TINY)
    assert (narrow.dtype, exact.dtype) == (torch.bfloat16, torch.float32)
    with torch.inference_mode():
        vectors = exact.run(torch.arange(1, 9)[None]).last_hidden_state
    bfloat16.check(vectors.bfloat16(), vectors)
    with pytest.raises(AssertionError, match="differ"):
        bfloat16.check(vectors.flip(-1).bfloat16(), vectors)
    with pytest.raises(AssertionError):
        bfloat16.check(vectors, vectors)

"""The benchmark for a card, tried on a processor."""

import pytest
import torch

from benchmarks import cuda
from bert_core.config import BertConfig


def test_outputs_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cuda, "SIZES", {"tiny": BertConfig(1200, 32, 2, 4, 37)})
    found = [row.work for row in cuda.rows(True, "cpu", shapes=[(2, 5)])]
    kinds = ("with attentions", "without attentions")
    assert found == [
        f"tiny (2, 5), {dtype}, {kind}" for dtype in ("float32", "bfloat16") for kind in kinds
    ]
    monkeypatch.setattr(cuda, "_TYPES", {torch.float32: -1.0})
    with pytest.raises(SystemExit):
        cuda.main(["--processor"])
    assert cuda.DIFFER in capsys.readouterr().out

"""Folders with tiny checkpoints, and ways to write bad ones."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bert_core.config import BertConfig
from bert_core.model.bert import BertModel

Weights = Mapping[str, Tensor]


@pytest.fixture
def tiny(make_config: Callable[..., BertConfig]) -> Any:
    """A tiny encoder with random weights."""
    torch.manual_seed(7)
    return BertModel(make_config()).eval()


@pytest.fixture
def write_folder(tmp_path: Path) -> Callable[..., Path]:
    """Write `config.json` and weights the way the world does: with the safetensors package."""
    from safetensors.torch import save_file

    def write(
        config: BertConfig | Mapping[str, Any],
        weights: Weights | None = None,
        *,
        name: str = "model",
        pickle: bool = False,
        config_name: str = "config.json",
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        values = config.to_dict() if isinstance(config, BertConfig) else dict(config)
        (folder / config_name).write_text(json.dumps(values), encoding="utf-8")
        if weights is None:
            return folder
        apart = {key: value.detach().clone() for key, value in weights.items()}
        if pickle:
            torch.save(apart, folder / "pytorch_model.bin")
        else:
            save_file(apart, folder / "model.safetensors", metadata={"format": "pt"})
        return folder

    return write


@pytest.fixture
def write_raw() -> Callable[..., Path]:
    """Write a safetensors file from a header and bytes that need not agree."""

    def write(path: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
        raw = header if isinstance(header, bytes) else json.dumps(header).encode()
        size = len(raw) if length is None else length
        path.write_bytes(size.to_bytes(8, "little") + raw + data)
        return path

    return write

"""The forward pass in WebAssembly, beside PyTorch in float64; and how it was compiled."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from app.settings import LIVE
from bert_core import BertForPreTraining
from bert_core.model.outputs import ModelOutputs
from tests.live.conftest import Node
from tools.live import compiled, has_compiler, tables

_LENGTHS = (*range(1, 10), 128, 512)


@pytest.fixture(scope="module")
def exact() -> BertForPreTraining:
    """The bundled model in float64."""
    return BertForPreTraining.from_pretrained("explorer-mini-uncased").double().eval()


def _input(tokens: int) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(tokens)
    ids = [101, *rng.integers(1000, 30_000, max(0, tokens - 2)).tolist(), 102][:tokens]
    return ids, [int(place > tokens // 2) for place in range(tokens)]


@torch.inference_mode()
def _wanted(
    exact: BertForPreTraining, ids: list[int], types: list[int], off: torch.Tensor | None = None
) -> ModelOutputs:
    mask = None if off is None else 1.0 - off.double()
    return exact.run(
        torch.tensor([ids]), torch.tensor([types]), head_mask=mask, attentions=True,
        hidden_states=True,
    )  # fmt: skip


def _parts(path: Path, sizes: list[int]) -> Iterator[np.ndarray]:
    every = np.fromfile(path, dtype=np.float32)
    assert len(every) == sum(sizes)
    yield from np.split(every, np.cumsum(sizes)[:-1])


@pytest.mark.parametrize("tokens", _LENGTHS)
def test_numbers_are_those_of_float64(
    node: Node, exact: BertForPreTraining, tmp_path: Path, tokens: int
) -> None:
    ids, types = _input(tokens)
    node("forward", ids=ids, types=types, off=None, path=str(tmp_path / "out"))
    wanted = _wanted(exact, ids, types)
    assert wanted.hidden_states is not None
    assert wanted.attentions is not None
    expected = [
        *((each[0], 2e-5) for each in wanted.hidden_states),
        *((each[0], 1e-5) for each in wanted.attentions),
        (wanted.logits[0, 0], 5e-5),
    ]
    sizes = [each.numel() for each, _ in expected] + [exact.config.hidden_size]
    for found, (each, within) in zip(_parts(tmp_path / "out", sizes), expected, strict=False):
        np.testing.assert_allclose(found, each.numpy().ravel(), rtol=0, atol=within)


def test_a_head_is_left_out(node: Node, exact: BertForPreTraining, tmp_path: Path) -> None:
    ids, types = _input(12)
    off = torch.zeros(6, 12)
    off[0, 3] = off[4, 11] = 1
    blocks = torch.zeros(6, 2)  # attention and feed-forward, which stay on
    given = [int(each) for each in torch.cat([off, blocks], 1).flatten()]
    node("forward", ids=ids, types=types, off=given, path=str(tmp_path / "out"))
    wanted = _wanted(exact, ids, types, off)
    assert wanted.hidden_states is not None
    size = wanted.hidden_states[0].numel()
    found = np.fromfile(tmp_path / "out", dtype=np.float32)[6 * size : 7 * size]
    np.testing.assert_allclose(found, wanted.hidden_states[6].numpy().ravel(), rtol=0, atol=2e-5)
    assert abs(found - _wanted(exact, ids, types).hidden_states[6].numpy().ravel()).max() > 1e-3


def test_memory_is_given_back_after_a_long_text(node: Node, tmp_path: Path) -> None:
    path = str(tmp_path / "out")
    short = node("forward", ids=[101, 102], types=[0, 0], off=None, path=path)
    ids, types = _input(512)
    node("forward", ids=ids, types=types, off=None, path=path)
    assert node("forward", ids=[101, 102], types=[0, 0], off=None, path=path) <= short + (32 << 20)


@pytest.mark.skipif(not has_compiler(), reason="the compiler that wrote bert.wasm is not installed")
def test_the_source_gives_the_committed_bytes() -> None:
    assert compiled("bert") == (LIVE / "bert.wasm").read_bytes()


@pytest.mark.slow
def test_the_tables_are_those_of_the_tokenizer() -> None:
    """Those of this Python's Unicode are compared where it has the version they were made with."""
    stored, made = json.loads((LIVE / "tables.json").read_bytes()), json.loads(tables())
    same = stored["unicode"] == unicodedata.unidata_version
    own = list(made) if same else list(made)[: list(made).index("unicode")]
    assert {name: stored[name] for name in own} == {name: made[name] for name in own}

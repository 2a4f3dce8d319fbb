"""The activation functions of published configs, by name."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.errors import ConfigError
from bert_core.small_files import shown

Activation = Callable[[Tensor], Tensor]


_gelu_tanh: Activation = partial(F.gelu, approximate="tanh")
ACTIVATIONS: dict[str, Activation] = {
    "gelu": F.gelu,  # the erf form, as in Google's first version
    "gelu_10": lambda x: F.gelu(x).clamp(-10, 10),  # fits 8-bit quantization
    "gelu_fast": _gelu_tanh,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "leaky_relu": F.leaky_relu,
    "linear": lambda x: x,
    "mish": F.mish,
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),  # Hendrycks and Gimpel 2016, section 2
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

"""From the variable names of the original release to the names of published PyTorch checkpoints.

Source: google-research/bert, `modeling.py`, `run_pretraining.py`, `run_classifier.py` and
`run_squad.py` for the variables; transformers (up to version 4), `load_tf_weights_in_bert`, for
what they were called since.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bert_core.checkpoints.formats.tensorflow_bundle import BundleTensor
from bert_core.errors import CheckpointError

# What optimizers keep beside the weights: a part of the name of each of their variables.
_OPTIMIZER = {
    "adam_m",
    "adam_v",
    "AdamWeightDecayOptimizer",
    "AdamWeightDecayOptimizer_1",
    "Adam",
    "Adam_1",
    "beta1_power",
    "beta2_power",
    "global_step",
}
_LEAVES = {
    "kernel": "weight",
    "gamma": "weight",
    "output_weights": "weight",
    "beta": "bias",
    "output_bias": "bias",
}
_LAYER = re.compile(r"layer_(\d+)")
_OBJECTS = "/.ATTRIBUTES/VARIABLE_VALUE"


@dataclass(frozen=True, slots=True)
class TransposedTensor:
    """A dense layer's matrix: TensorFlow keeps it as (inputs, outputs), PyTorch the other way."""

    stored: BundleTensor

    @property
    def dtype(self) -> torch.dtype:
        """Number type in the file."""
        return self.stored.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape after transposing."""
        return self.stored.shape[::-1]

    def copy_to(self, target: Tensor) -> None:
        """Fill `target`, of the same shape, converting to its dtype and device."""
        target.detach().copy_(self.stored.borrow().mT)


def published_name(variable: str) -> str | None:
    """Return what PyTorch checkpoints call a variable; None for those of an optimizer.

    >>> published_name("bert/encoder/layer_7/attention/self/query/kernel")
    'bert.encoder.layer.7.attention.self.query.weight'
    >>> published_name("cls/predictions/output_bias"), published_name("output_weights")
    ('cls.predictions.bias', 'classifier.weight')
    >>> published_name("bert/pooler/dense/bias/adam_m") is None
    True
    """
    *scopes, leaf = variable.split("/")
    if not _OPTIMIZER.isdisjoint((*scopes, leaf)):
        return None
    if scopes == ["cls", "squad"]:
        scopes = ["qa_outputs"]
    elif not scopes and leaf in ("output_weights", "output_bias"):
        scopes = ["classifier"]
    if leaf.endswith("_embeddings"):
        scopes, leaf = [*scopes, leaf], "weight"
    parts = (
        _LAYER.sub(r"layer.\1", scope) if _LAYER.fullmatch(scope) else scope for scope in scopes
    )
    return ".".join((*parts, _LEAVES.get(leaf, leaf)))


def by_published_name(
    tensors: Mapping[str, BundleTensor], source: str
) -> dict[str, BundleTensor | TransposedTensor]:
    """Bring a checkpoint to the names and the layout of published PyTorch checkpoints.

    Args:
        tensors: the checkpoint's variables.
        source: what to call it in an error.

    Raises:
        CheckpointError: two variables stand for one parameter, or TensorFlow 2 saved objects.
    """
    found: dict[str, BundleTensor | TransposedTensor] = {}
    origin: dict[str, str] = {}
    for variable, tensor in tensors.items():
        if variable.endswith(_OBJECTS):
            raise CheckpointError(
                f"{source} was saved from Keras objects of TensorFlow 2 ({variable}). Expected "
                "the variables of the original release, such as "
                "bert/encoder/layer_0/output/dense/kernel."
            )
        name = published_name(variable)
        if name is None:
            continue
        if name in origin:
            raise CheckpointError(
                f"{source} holds {name} twice, as {origin[name]} and as {variable}. Which one is "
                "meant cannot be told."
            )
        origin[name] = variable
        is_kernel = variable.rpartition("/")[2] == "kernel" and len(tensor.shape) == 2
        found[name] = TransposedTensor(tensor) if is_kernel else tensor
    return found

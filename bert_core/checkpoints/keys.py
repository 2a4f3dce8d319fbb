"""Parameter names: map the different names used by published checkpoints to one.

Tensors are compared by *bare* name, without the prefix `bert.`, which the encoder has inside a task
model but not on its own.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bert_core.checkpoints.formats.weights import StoredTensor
from bert_core.errors import CheckpointError

# Buffers that older versions of transformers saved; their contents are known (0, 1, 2, ...).
_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
# TensorFlow's names, kept by the first conversions. Only inside LayerNorm: another module may have
# a parameter called gamma.
_OLD_ENDINGS = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
_TIED = {
    "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
_LAYER = re.compile(r"encoder\.layer\.(\d{1,6})\.")
_ENCODER = ("embeddings.", "encoder.", "pooler.")
_CORE = re.compile(
    r"(embeddings\.(\w+_embeddings|LayerNorm)|encoder\.layer\.\d+\.(attention\.self\.(query|key|value)"
    r"|attention\.output\.(dense|LayerNorm)|intermediate\.dense|output\.(dense|LayerNorm)))"
    r"\.(weight|bias)"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A tensor of a checkpoint and its name in the file."""

    file_name: str
    tensor: StoredTensor


@dataclass(frozen=True, slots=True)
class Repeat:
    """A tensor stored once in a tied model but twice in the file."""

    original: str  # bare name
    copy: Found


def bare_name(name: str) -> str:
    """Return the current name of a parameter, without the encoder's prefix.

    >>> bare_name("bert.encoder.layer.0.output.LayerNorm.gamma")
    'encoder.layer.0.output.LayerNorm.weight'
    >>> bare_name("classifier.gamma")
    'classifier.gamma'
    """
    name = name.removeprefix("bert.")
    for old, new in _OLD_ENDINGS.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def by_bare_name(
    tensors: Mapping[str, StoredTensor],
) -> tuple[dict[str, Found], tuple[Repeat, ...]]:
    """Map bare names to a checkpoint's tensors; leave out buffers and tied copies.

    Returns:
        Bare name -> tensor, and the tied copies whose originals are present as well.

    Raises:
        CheckpointError: two tensors of the file map to the same parameter.
    """
    found: dict[str, Found] = {}
    for name, tensor in tensors.items():
        bare = bare_name(name)
        if bare in _BUFFERS:
            continue
        if bare in found:
            raise CheckpointError(
                f"The checkpoint contains {bare} twice, as {found[bare].file_name} and as {name}; "
                "expected it once."
            )
        found[bare] = Found(name, tensor)
    repeats = []
    for copy, original in _TIED.items():
        if copy in found and original in found:
            repeats.append(Repeat(original, found.pop(copy)))
        elif copy in found:
            found[original] = found.pop(copy)
    return found, tuple(repeats)


def layers_held(bare_names: Iterable[str]) -> set[int]:
    """Return the numbers of the layers that have at least one tensor.

    >>> layers_held(["encoder.layer.0.output.dense.bias", "encoder.layer.11.output.dense.bias"])
    {0, 11}
    """
    matches = (_LAYER.match(name) for name in bare_names)
    return {int(match[1]) for match in matches if match}


def has_encoder(bare_names: Iterable[str]) -> bool:
    """Return whether any name belongs to BERT's encoder."""
    return any(name.startswith(_ENCODER) for name in bare_names)


def is_core(bare: str) -> bool:
    """Return whether a parameter is part of BERT's embeddings or layers.

    Unlike a pooler or a head, no checkpoint is published without them. What a class of one's own
    adds to a layer is not part of it.

    >>> is_core("embeddings.word_embeddings.weight"), is_core("encoder.layer.3.output.dense.bias")
    (True, True)
    >>> is_core("pooler.dense.weight"), is_core("encoder.layer.3.output.adapter.weight")
    (False, False)
    """
    return _CORE.fullmatch(bare) is not None

"""Writing TensorFlow checkpoints without TensorFlow, to have large ones to read.

The sources are those of `bert_core.checkpoints.formats.tensorflow_checkpoint`. The checksums are
zero: the reader does not compare them, TensorFlow would.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor

_TYPES = {torch.float32: 1, torch.int64: 9, torch.bfloat16: 14, torch.float16: 19}
_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")


def write_checkpoint(prefix: Path, weights: Mapping[str, Tensor]) -> None:
    """Write the weights of a pretraining model in the format of the original release.

    Args:
        prefix: the path of the files without `.index`.
        weights: parameter name -> values, as in `BertForPreTraining.state_dict()`.
    """
    write_bundle(
        prefix,
        {
            original_name(name): value.mT if original_name(name).endswith("/kernel") else value
            for name, value in weights.items()
            if "decoder" not in name  # tied to the word embeddings
        },
    )


def original_name(parameter: str) -> str:
    """Return the original release's variable name for a parameter.

    >>> original_name("bert.encoder.layer.7.output.dense.weight")
    'bert/encoder/layer_7/output/dense/kernel'
    >>> original_name("cls.predictions.bias"), original_name("cls.seq_relationship.weight")
    ('cls/predictions/output_bias', 'cls/seq_relationship/output_weights')
    """
    path = parameter.replace(".layer.", ".layer_").replace(".", "/")
    scope, _, leaf = path.rpartition("/")
    owner = scope.rpartition("/")[2]
    if owner == "LayerNorm":
        return f"{scope}/{'gamma' if leaf == 'weight' else 'beta'}"
    if owner in _EMBEDDINGS:
        return scope
    if owner in ("predictions", "seq_relationship"):
        return f"{scope}/output_{'weights' if leaf == 'weight' else leaf}"
    return f"{scope}/kernel" if leaf == "weight" else path


def write_bundle(prefix: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write named tensors to one data file, and its index."""
    entries: list[tuple[bytes, bytes]] = [(b"", number(1, 1) + message(3, number(1, 1)))]
    start = 0
    with prefix.with_name(f"{prefix.name}.data-00000-of-00001").open("wb") as file:
        for name, tensor in sorted(tensors.items()):
            raw = tensor.detach().contiguous().view(-1).view(torch.uint8).numpy()
            shape = b"".join(message(2, number(1, size)) for size in tensor.shape)
            entry = number(1, _TYPES[tensor.dtype]) + message(2, shape)
            entry += number(4, start) + number(5, raw.size)
            entries.append((name.encode(), entry))
            file.write(raw.data)
            start += raw.size
    prefix.with_name(f"{prefix.name}.index").write_bytes(table(entries))


def table(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return a sorted table with one data block."""
    raw, data = with_trailer(b"", block(entries))
    raw, meta = with_trailer(raw, block([]))
    raw, index = with_trailer(raw, block([(b"\xff", data)]))
    return raw + (meta + index).ljust(40, b"\0") + _MAGIC


def block(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return a block with one restart point, whose keys share no prefixes."""
    raw = b"".join(
        varint(0) + varint(len(key)) + varint(len(value)) + key + value for key, value in entries
    )
    return raw + bytes(4) + (1).to_bytes(4, "little")


def with_trailer(before: bytes, contents: bytes, kind: int = 0) -> tuple[bytes, bytes]:
    """Append a block and its trailer to a file; return the file and the block's handle."""
    place = varint(len(before)) + varint(len(contents))
    return before + contents + bytes([kind]) + bytes(4), place


def varint(value: int) -> bytes:
    """Encode a number in groups of seven bits, lowest first."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def number(field: int, value: int) -> bytes:
    """Encode a field with a number; zero is omitted."""
    return varint(field << 3) + varint(value) if value else b""


def message(field: int, contents: bytes) -> bytes:
    """Encode a field with a message."""
    return varint(field << 3 | 2) + varint(len(contents)) + contents

"""Padding inputs of different lengths to one tensor."""

from collections.abc import Sequence

import numpy
import torch
from torch import Tensor

from bert_core.text.batches import TextTokenizer
from bert_core.text.encoding import Encoding


def padded_encodings(tokenizer: TextTokenizer, encodings: Sequence[Encoding]) -> dict[str, Tensor]:
    """Build the three input tensors of a model, (B, T) each; see `padded_inputs`.

    Without [PAD] in the vocabulary, id 0 pads; the mask hides it anyway.
    """
    firsts = [encoding.token_type_ids.count(0) for encoding in encodings]
    pad_id = tokenizer.vocab.get(tokenizer.pad_token, 0)
    return padded_inputs([encoding.input_ids for encoding in encodings], firsts, pad_id)


def padded_inputs(
    ids: Sequence[Sequence[int]], firsts: Sequence[int], pad_id: int
) -> dict[str, Tensor]:
    """Build the three input tensors of a model, (B, T) each.

    `firsts` is the number of tokens of each input in segment 0, including [CLS] and [SEP].
    """
    lengths = numpy.array(list(map(len, ids)))
    places = numpy.arange(lengths.max())
    mask = places < lengths[:, None]
    types = mask & (places >= numpy.array(firsts)[:, None])
    return {
        "input_ids": padded(ids, pad_id),
        "token_type_ids": torch.from_numpy(types.astype(numpy.int64)),
        "attention_mask": torch.from_numpy(mask.astype(numpy.int64)),
    }


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Build one integer tensor from rows of different lengths.

    >>> padded([[1, 2], [3]], 0).tolist()
    [[1, 2], [3, 0]]
    """
    table = numpy.full((len(rows), max(map(len, rows))), fill, dtype=numpy.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return torch.from_numpy(table)

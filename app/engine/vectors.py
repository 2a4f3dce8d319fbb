"""What several features ask of vectors: which layer, those of many sentences, entries near one."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.records.results import Neighbour
from bert_core import BertModel, Encoding
from bert_core.analysis.similarity import nearest
from bert_core.errors import InputError
from bert_core.reading.running import by_length


def layer_of(engine: Engine, asked: int | None) -> int:
    """Return the layer that was asked for, from 0; -1 is the input, None the last one.

    Raises:
        InputError: the model has no such layer.
    """
    last = engine.provenance.layers - 1
    if asked is not None and not -1 <= asked <= last:
        raise InputError(f"Found layer {asked}; expected 0 to {last}, or -1 for the input.")
    return last if asked is None else asked


def vectors(engine: Engine, encodings: Sequence[Encoding]) -> Iterator[tuple[int, Tensor]]:
    """Yield the number of every input with its vectors after every layer, in batches.

    Those after layer n are at n + 1, because the input of the first layer is at 0: (L + 1, T, D).
    """
    device = engine.model(BertModel).device
    for batch in by_length(list(map(len, encodings)), device):
        outputs = engine.run(BertModel, [encodings[index] for index in batch], hidden_states=True)
        assert outputs.hidden_states is not None
        states = torch.stack(outputs.hidden_states)  # (L + 1, B, T, D)
        for row, index in enumerate(batch):
            yield index, states[:, row, : len(encodings[index])]


def entries_near(engine: Engine, own: int, count: int) -> tuple[Neighbour, ...]:
    """Find the entries of the vocabulary whose word embeddings have the most similar direction.

    Left out are the entry itself and entries that were never trained ("[unused1]" and so on).
    """
    rows = engine.model(BertModel).embeddings.word_embeddings.weight
    left_out = sorted({own, *engine.never_used(len(rows))})
    ids, values = PROCESSOR.run(
        lambda: nearest(rows[own], rows, count, without=left_out), tokens=len(rows)
    )
    return tuple(
        Neighbour(engine.readable(id_), id_, c) for id_, c in zip(ids, values, strict=True)
    )

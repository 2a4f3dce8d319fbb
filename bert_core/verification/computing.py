"""Computing an output of any of the eight classes from stored ids, as a flat tensor."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.checkpoints.loading import load_sharing
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.model.kinds import ALL_KINDS
from bert_core.text.padding import padded
from bert_core.verification.texts import Item, Row

Loaded = Callable[[type[BertPreTrainedModel]], BertPreTrainedModel]


def loader(folder: Path, dtype: torch.dtype) -> Loaded:
    """Return a function that loads each class from a folder, sharing one encoder on the CPU."""
    models: dict[type[BertPreTrainedModel], BertPreTrainedModel] = {}

    def load(cls: type[BertPreTrainedModel]) -> BertPreTrainedModel:
        if not models:
            base = BertForPreTraining.from_pretrained(folder, dtype=dtype)
            models[BertForPreTraining] = base
        if cls not in models:
            models[cls] = load_sharing(cls, models[BertForPreTraining], folder)
        return models[cls]

    return load


def compute(model: BertPreTrainedModel, item: Item, texts: Sequence[Row]) -> Tensor:
    """Compute one output.

    Returns:
        (N,) on the CPU, in the model's dtype. The values of each text follow each other, without
        padding; within a text, they are ordered by token, or by layer for attentions.

    Raises:
        InputError: the ids do not fit the model, or it has no such output.
    """
    rows = [texts[number] for number in item.texts]
    inputs = _batch(rows, model)
    axes = ALL_KINDS[item.class_name].outputs[item.output]
    with torch.inference_mode():
        if "V" in axes:
            assert isinstance(model, BertForMaskedLM | BertForPreTraining)
            parts = _word_scores(model, item, inputs)
        else:
            parts = _rows_of(model, item, axes, inputs, [len(row.ids) for row in rows])
        return torch.cat([part.flatten() for part in parts]).cpu()


def _batch(rows: Sequence[Row], model: BertPreTrainedModel) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, segment ids and mask, each (B, T), padded to the longest row."""
    ids, types = [row.ids for row in rows], [row.types for row in rows]
    mask = padded([(1,) * len(row) for row in ids], 0)
    tables = padded(ids, model.config.pad_token_id or 0), padded(types, 0), mask
    found, kinds, kept = (table.to(model.device) for table in tables)
    return found, kinds, kept


def _word_scores(
    model: BertForMaskedLM | BertForPreTraining, item: Item, inputs: tuple[Tensor, Tensor, Tensor]
) -> list[Tensor]:
    """Score the vocabulary at the item's positions only."""
    ids, types, mask = inputs
    found = []
    for row, places in enumerate(item.places or [range(ids.shape[1])] * len(ids)):
        one = slice(row, row + 1)
        positions = torch.tensor([list(places)], device=ids.device)
        found.append(model.scores_at(ids[one], positions, types[one], mask[one]))
    return found


def _rows_of(
    model: BertPreTrainedModel,
    item: Item,
    axes: str,
    inputs: tuple[Tensor, Tensor, Tensor],
    lengths: Sequence[int],
) -> list[Tensor]:
    """Run the model and return an output without padding, at the item's positions."""
    if "N" in axes:
        ids, types, mask = (tensor[None] for tensor in inputs)  # (1, N, T)
    else:
        ids, types, mask = inputs
    asked = item.output == "attentions"
    options: dict[str, Any] = {"attentions": asked, "hidden_states": False}
    found = getattr(model.run(ids, types, mask, **options), item.output)
    if found is None:
        raise InputError(f"{item.class_name} of this family gives no {item.output}.")
    if asked:
        return [layer[row, :, :n, :n] for row, n in enumerate(lengths) for layer in found]
    if "T" in axes:
        wanted = item.places or [range(n) for n in lengths]
        return [found[row, list(places)] for row, places in enumerate(wanted)]
    return [found]

"""The arithmetic behind one cell of an attention matrix, with the model's own query and key."""

import math
from typing import Annotated

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.features.attention.result import AttentionResult, Floats, Heads, Place
from app.features.attention.task import attention
from app.records.fields import Field
from app.records.results import CellArithmetic
from bert_core import BertModel
from bert_core.errors import InputError


def attention_cell(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    text_pair: Annotated[str, Field("Second text (optional)", lines=3)] = "",
    *,
    layer: Annotated[int, Field("Layer", low=0)] = 0,
    head: Annotated[int, Field("Head", low=0)] = 0,
    row: Annotated[int, Field("Row", low=0)] = 1,
    column: Annotated[int, Field("Column", low=0)] = 1,
) -> CellArithmetic:
    """Show how one head computes one number: query, key, their product, and the softmax.

    Args:
        engine: the model.
        text: the text; a text beyond the model's length is cut.
        text_pair: a second text; "" for none.
        layer: the layer, counted from 0.
        head: the head of that layer, counted from 0.
        row: position of the piece that looks, counted from 0; [CLS] is 0.
        column: position of the piece that is looked at.

    Raises:
        InputError: there is nothing to read in the first text, or no such head or cell.
    """
    result = attention(engine, text, text_pair)
    return cell_arithmetic(engine, result, (layer, head), row, column)


def cell_arithmetic(
    engine: Engine, result: AttentionResult, place: Place, row: int, column: int
) -> CellArithmetic:
    """Compute one cell step by step: query, key, their product, softmax over all pieces.

    Args:
        engine: the model.
        result: the attention, by pieces.
        place: layer and head.
        row: position of the piece that looks.
        column: position of the piece that is looked at.

    Raises:
        InputError: there is no such head or cell.
    """
    matrix = result.matrix_of(Heads((place,)))
    (layer, head), length = place, len(result.tokens)
    if not (0 <= row < length and 0 <= column < length):
        raise InputError(f"There is no cell {row}, {column}; positions are 0 to {length - 1}.")
    queries, keys = _projections(engine, result, layer)  # (H, T, K) each
    query = queries[head, row]
    return CellArithmetic(
        place=place,
        row=row,
        column=column,
        tokens=result.tokens,
        query=query,
        key=keys[head, column],
        scores=keys[head] @ query / math.sqrt(query.size),
        value=float(matrix[row, column]),
    )


def _projections(engine: Engine, result: AttentionResult, layer: int) -> tuple[Floats, Floats]:
    """Return the queries and keys of a layer: (H, T, K) each."""
    encoding = engine.tokenizer.encode(result.text, result.pair, max_length=engine.max_length)
    states = engine.run(BertModel, encoding, hidden_states=True).hidden_states or ()
    model = engine.model(BertModel)
    here, heads = states[layer].to(model.device), model.encoder.layer_at(layer).attention.self
    query, key, _ = PROCESSOR.run(lambda: heads.project(here), tokens=len(encoding))
    return query[0].cpu().numpy(), key[0].cpu().numpy()

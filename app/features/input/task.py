"""The vectors of the input: word, position and segment of every piece, their sum, LayerNorm."""

from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.features.input.result import InputResult
from app.records.fields import Field
from bert_core import BertModel
from bert_core.analysis.input_parts import InputParts, input_parts
from bert_core.errors import InputError


def input(  # noqa: A001
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    text_pair: Annotated[str, Field("Second text (optional)", lines=3)] = "",
    *,
    length: Annotated[int, Field("Pad to", low=0, start=12, most="max_length")] = 0,
    piece: Annotated[int | None, Field("Piece", key="place", low=0)] = None,
) -> InputResult:
    """Take the input of the first layer apart: word + position + segment, then LayerNorm.

    The answer has the length of each vector; it contains the vectors of a piece only if `piece`
    is given.

    Args:
        engine: the model.
        text: the text; it must not be longer than the model reads.
        text_pair: a second text; "" for none.
        length: pad to this many pieces; an input that is longer stays as it is.
        piece: the piece whose vectors are shown, counted from 0, where [CLS] is.

    Raises:
        InputError: both texts are empty, the input or `length` is longer than the model reads,
            there is no such piece, or the vocabulary has no [PAD].
    """
    if not (text + text_pair).strip():
        raise InputError("The text is empty. Type a few words.")
    if not 0 <= length <= engine.max_length:
        raise InputError(f"Found a length of {length}; expected 0 to {engine.max_length}.")
    # [MASK] means the mask of every model; other signs are read as typed.
    mask = engine.tokenizer.mask_token
    text, text_pair = (each.replace("[MASK]", mask) for each in (text, text_pair))
    encoding = engine.tokenizer.encode(text, text_pair or None)
    engine.check_length(encoding)
    padding = max(0, length - len(encoding))
    last = len(encoding) + padding - 1
    if piece is not None and not 0 <= piece <= last:
        raise InputError(f"Found piece {piece}; expected 0 to {last}.")
    pad = engine.tokenizer.pad_token
    pad_id = engine.tokenizer.vocab.get(pad)
    if pad_id is None:
        raise InputError(
            f"The vocabulary of {engine.provenance.name} has no {pad}: set “Pad to” to 0."
        )
    ids = encoding.input_ids + [pad_id] * padding
    types = encoding.token_type_ids + [0] * padding
    found = PROCESSOR.run(lambda: _parts(engine, ids, types), tokens=len(ids))
    config = engine.model(BertModel).config
    return InputResult(
        text=text,
        text_pair=text_pair,
        tokens=(*encoding.pieces, *[engine.tokenizer.pad_token] * padding),
        input_ids=tuple(ids),
        token_type_ids=tuple(types),
        attention_mask=(*encoding.attention_mask, *[0] * padding),
        word=_numbers(found.word),
        position=_numbers(found.position),
        segment=_numbers(found.segment),
        sum=_numbers(found.sum),
        normalised=_numbers(found.normalised),
        mean=_numbers(found.mean),
        variance=_numbers(found.variance),
        scale=_numbers(found.scale),
        shift=_numbers(found.shift),
        epsilon=found.epsilon,
        rows=(config.vocab_size, engine.max_length, config.type_vocab_size),
        piece=piece,
    )


def _parts(engine: Engine, ids: list[int], types: list[int]) -> InputParts:
    model = engine.model(BertModel)
    place = model.device
    return input_parts(model, torch.tensor(ids, device=place), torch.tensor(types, device=place))


def _numbers(values: Tensor) -> NDArray[np.float32]:
    return values.detach().float().cpu().numpy().copy()

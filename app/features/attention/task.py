"""Where every head of the model looks: one forward pass.

`attention` runs the model, `in_words` turns its rows and columns into words, `ranked_heads` names
what heads do. `result_views` looks at the arrays; `task_cell` explains a single number.
"""

from dataclasses import replace
from typing import Annotated

import numpy as np
from torch import Tensor

from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.attention.result import AttentionResult, Floats, Heads, RankedHead, Units
from app.features.attention.result_views import rank
from app.records.fields import SHUFFLE, Field
from app.records.results import Cut
from bert_core import Encoding
from bert_core.analysis.head_statistics import name_heads, text_statistics
from bert_core.errors import InputError
from bert_core.reading.gaps import read_signs, shuffle_words


def attention(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    text_pair: Annotated[str, Field("Second text (optional)", lines=3)] = "",
    *,
    layer: Annotated[int | None, Field("Layer", low=0)] = None,
    head: Annotated[int | None, Field("Head", low=0)] = None,
    words: Annotated[bool, Field("Whole words")] = False,
    shuffle: Annotated[int, SHUFFLE] = 0,
) -> AttentionResult:
    """Show which pieces of a text each attention head looks at.

    The answer names what every head does in this text, clearest pattern first, and lists the
    strongest links of one head. It contains a matrix only if `layer` is given.

    Args:
        engine: the model.
        text: the text; a text beyond the model's length is cut. "[MASK]" or "___" hides a word.
        text_pair: a second text; "" for none.
        layer: the layer to show, counted from 0. If empty, the head with the clearest pattern is
            shown, without its matrix.
        head: the head of that layer, counted from 0. If empty, the mean of the layer's heads.
        words: whether rows and columns are words instead of pieces. Attention to the pieces of a
            word is added up; attention from them is averaged.
        shuffle: the number of another order for the words of each text, which shows whether order
            matters. 0 for the texts as written.

    Raises:
        InputError: there is nothing to read in the first text, or no such layer or head.
    """
    mask = engine.tokenizer.mask_token
    (text, signs), (text_pair, more) = read_signs(text, mask), read_signs(text_pair, mask)
    text, text_pair = (shuffle_words(each, shuffle, mask) for each in (text, text_pair))
    result = _read(engine, text, text_pair)
    if signs or more or shuffle:
        result = replace(result, read_as=tuple(dict.fromkeys(signs + more)), shuffle=shuffle)
    if words:
        result = in_words(engine, result)
    if layer is None and head is None:
        return result
    if layer is None:
        raise InputError(f"Found head {head} without a layer; expected both. Name the layer too.")
    heads = Heads.layer(layer, result.heads) if head is None else Heads.one(layer, head)
    result.matrix_of(heads)  # refuses heads that are not there
    return replace(result, asked=heads)


def ranked_heads(engine: Engine, result: AttentionResult) -> tuple[RankedHead, ...]:
    """Name what every head does in one text and usually, the clearest pattern first.

    Raises:
        CheckpointError: the statistics stored with the weights are damaged.
    """
    found = engine.head_statistics()
    usual = None if found is None or found.stale else name_heads(found.statistics)
    return rank(result, usual)


def _read(engine: Engine, text: str, text_pair: str) -> AttentionResult:
    pair = text_pair if text_pair.strip() else None
    model = (engine.provenance.name, engine.provenance.fingerprint)
    return RECENT.get(
        ("attention", *model, text, pair), make=lambda: _run(engine, text, pair), size=_size
    )


def _size(result: AttentionResult) -> int:
    return sum(layer.nbytes for layer in result.attentions)


def _run(engine: Engine, text: str, pair: str | None) -> AttentionResult:
    whole = engine.tokenizer.encode(text, pair)
    if 0 not in whole.sequence_ids:
        raise InputError(
            "The first text has no piece that the model reads; at least one is needed. "
            "Write a word or pick an example."
        )
    encoding = whole
    if len(whole.input_ids) > engine.max_length:
        encoding = engine.tokenizer.encode(text, pair, max_length=engine.max_length)
    layers = tuple(_read_only(layer) for layer in engine.attentions(encoding))  # (H, T, T)
    sides = tuple(encoding.sequence_ids)
    return AttentionResult(
        units=Units(tuple(encoding.pieces), sides, tuple((at,) for at in range(len(sides)))),
        words=_words(encoding),
        attentions=layers,
        statistics=text_statistics(layers, encoding),
        cut=Cut.between(whole.pieces, whole.sequence_ids, sides, limit=engine.max_length),
        text=text,
        pair=pair,
        model=engine.provenance.name,
    )


def _words(encoding: Encoding) -> Units:
    """Return the words of an input as they were typed; an added token is a word of its own."""
    words = {word.positions.start: word for word in encoding.typed_words()}
    within = {at for word in words.values() for at in word.positions[1:]}
    tokens, pieces = [], []
    for at in range(len(encoding)):
        if at not in within:
            tokens.append(words[at].text if at in words else encoding.pieces[at])
            pieces.append(tuple(words[at].positions) if at in words else (at,))
    sides = encoding.sequence_ids
    return Units(tuple(tokens), tuple(sides[each[0]] for each in pieces), tuple(pieces))


def in_words(engine: Engine, result: AttentionResult) -> AttentionResult:
    """Return the same attention between words: summed over keys, averaged over queries.

    A word gets all the attention that its pieces get, and gives what they give on average. Rows
    therefore still sum to 1.
    """
    model = (engine.provenance.name, engine.provenance.fingerprint)
    found = RECENT.get(
        ("attention in words", *model, result.text, result.pair),
        make=lambda: _by_word(result),
        size=_size,
    )
    return replace(found, read_as=result.read_as, shuffle=result.shuffle)


def _by_word(result: AttentionResult) -> AttentionResult:
    starts = np.array([pieces[0] for pieces in result.words.pieces])
    counts = np.array([len(pieces) for pieces in result.words.pieces], dtype=np.float32)
    layers = []
    for layer in result.attentions:
        columns = np.add.reduceat(layer, starts, axis=2)  # (H, T, W)
        sums: Floats = np.add.reduceat(columns, starts, axis=1)  # (H, W, W)
        sums /= counts[:, None]
        sums.setflags(write=False)
        layers.append(sums)
    return replace(result, units=result.words, attentions=tuple(layers))


def _read_only(layer: Tensor) -> Floats:
    """Convert (H, T, T) to a read-only array, because sessions share the result."""
    array: Floats = layer.numpy()
    array.setflags(write=False)
    return array

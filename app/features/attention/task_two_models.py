"""A head beside the head of another model that looks most alike, by the characters of the text."""

from collections import Counter
from typing import Annotated

import numpy as np

from app.engine.models import Engine
from app.engine.models.second import second_model
from app.features.attention.result import AttentionResult, Floats, Place
from app.features.attention.result_two_models import TwoHeads
from app.features.attention.task import attention
from app.records.fields import Field
from app.records.two_answers import Both, Said
from bert_core import Encoding
from bert_core.reading.alignment import Shared, align_pieces


def attention_two_models(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    text_pair: Annotated[str, Field("Second text (optional)", lines=3)] = "",
    *,
    beside: Annotated[str, Field("Second model", lines=1, model=True)] = "",
    layer: Annotated[int | None, Field("Layer", low=0)] = None,
    head: Annotated[int | None, Field("Head", low=0)] = None,
) -> TwoHeads:
    """Find the head of another model that looks most like a head of this one, and compare both.

    Heads of two models have no order in common, so every head of the second one is compared.
    Attention to pieces that cover the same characters is added up, attention from them averaged.

    Args:
        engine: the first model.
        text: the text; what is beyond the length of either model is left out.
        text_pair: a second text; "" for none.
        beside: the second model, by its name on offer; "" for the first other one.
        layer: the layer of the first model, counted from 0. If empty, the head with the clearest
            pattern is compared.
        head: its head, counted from 0. If empty, the mean of the layer's heads.

    Raises:
        InputError: there is nothing to read in the first text, or no such model, layer or head.
    """
    there = second_model(engine, beside)
    first = attention(engine, text, text_pair, layer=layer, head=head)
    second = attention(there, text, text_pair)
    inputs = [_read(engine, first), _read(there, second)]
    shared = align_pieces(*inputs)
    models = (engine.provenance.name, there.provenance.name)
    return both(models, (first, second), shared, names=_names(inputs[0], shared))


def _read(engine: Engine, result: AttentionResult) -> Encoding:
    """Return the input of a model, as `attention` cuts it."""
    return engine.tokenizer.encode(result.text, result.pair or None, max_length=engine.max_length)


def _names(encoding: Encoding, shared: tuple[Shared, ...]) -> tuple[str, ...]:
    """Return what the parts of a text are called: as typed; those that recur are numbered."""
    texts, spans = (encoding.text, encoding.text_pair or ""), encoding.spans
    found = []
    for (first, *rest), _ in shared:
        side, last = encoding.sequence_ids[first], [first, *rest][-1]
        span = slice(spans[first][0], spans[last][1])
        found.append(encoding.tokens[first] if side is None else texts[side][span])
    seen: Counter[str] = Counter()
    named = []
    for name in found:
        seen[name] += 1
        named.append(f"{name} ({seen[name]})" if found.count(name) > 1 else name)
    return tuple(named)


def both(
    models: tuple[str, str],
    results: tuple[AttentionResult, AttentionResult],
    shared: tuple[Shared, ...],
    *,
    names: tuple[str, ...],
) -> TwoHeads:
    """Compare the head that is shown with the most similar head of another model.

    Args:
        models: their names.
        results: the attention of both.
        shared: positions in both inputs of what covers the same characters.
        names: what these parts are called.
    """
    first, second = results
    ours = by_parts(first.weights[None], [a for a, _ in shared])
    best: tuple[float, Place, Floats] = (-1.0, (0, 0), ours[0])
    for layer, heads in enumerate(second.attentions):
        theirs = by_parts(heads, [b for _, b in shared])  # (H, S, S)
        alike = np.minimum(theirs, ours).sum(axis=-1).mean(axis=-1)  # (H,)
        head = int(alike.argmax())
        best = max(best, (float(alike[head]), (layer, head), theirs[head]), key=lambda it: it[0])
    overlap, place, weights = best
    rows = tuple(
        Both(name, Said(names[a], float(x[a])), Said(names[b], float(y[b])), a != b)
        for name, x, y in zip(names, ours[0], weights, strict=True)
        for a, b in [(int(x.argmax()), int(y.argmax()))]
    )
    shown = first.shown.places
    mean = f"mean of layer {shown[0][0]}" if len(shown) > 1 else _name(shown[0])
    heads_said = Both("Head", Said(mean), Said(_name(place)), differs=False)
    return TwoHeads(models, (heads_said,), rows, overlap)


def by_parts(weights: Floats, parts: list[tuple[int, ...]]) -> Floats:
    """Return (H, T, T) by parts of the text, (H, S, S): summed over keys, averaged over queries.

    Rows add up to 1 again where pieces in no part got attention.
    """
    columns = np.stack([weights[..., list(part)].sum(axis=-1) for part in parts], axis=-1)
    rows = np.stack([columns[:, list(part)].mean(axis=1) for part in parts], axis=1)
    total = rows.sum(axis=-1, keepdims=True)
    return (rows / np.where(total > 0, total, 1)).astype(np.float32)


def _name(place: Place) -> str:
    return f"layer {place[0]}, head {place[1]}"

"""Which parts matter for one answer: each is switched off, and the answer is asked again."""

from collections.abc import Iterator

import numpy as np

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.features.xray.result import Part, PartEffect, Question
from app.features.xray.task_run import Text, prepare
from app.features.xray.task_target import sign, target_of
from bert_core.analysis import effects_by_layer
from bert_core.analysis.forward import Floats
from bert_core.reading.running import Progress


def rank_parts(
    text: Text, question: Question, progress: Progress | None = None
) -> tuple[PartEffect, ...]:
    """Switch off every head and block alone, starting from the whole model.

    Between two layers other visitors have their turn, and `progress` may cancel by raising.

    Args:
        text: the text; what is off in it does not matter, what would replace it does.
        question: what is asked.
        progress: called with the layers done and their number.

    Returns:
        Every part, what is needed most first.
    """
    return RECENT.get(
        ("xray ranking", *text.whole.key, text.mode, question),
        make=lambda: _rank(text, question, progress),
        size=lambda made: 100 * len(made),
    )


def _rank(text: Text, question: Question, progress: Progress | None) -> tuple[PartEffect, ...]:
    if text.mode == "mean":
        prepare(text)
    target = target_of(question.kind, question.position, question.chosen)
    model, encoding = text.model, text.encoding
    layers = effects_by_layer(model, encoding, target, text.mode)
    found: list[PartEffect] = []
    count, towards = text.engine.provenance.layers, sign(question.kind, question.chosen)
    for layer in range(count):
        effects = PROCESSOR.run(lambda: next(layers), tokens=len(encoding))
        found += [
            PartEffect(part.name, towards * effect) for part, effect in _parts(layer, *effects)
        ]
        if progress is not None:
            progress(layer + 1, count)
    return tuple(sorted(found, key=lambda each: each.effect))


def _parts(layer: int, heads: Floats, blocks: Floats) -> Iterator[tuple[Part, float]]:
    """Yield the parts of a layer, with what happens without them; pruned heads are left out."""
    for head, effect in enumerate(heads.tolist()):
        if not np.isnan(effect):
            yield Part(layer, "head", head), effect
    yield Part(layer, "attention"), float(blocks[0])
    yield Part(layer, "feed_forward"), float(blocks[1])

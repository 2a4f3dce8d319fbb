"""Which parts matter for one answer: each is switched off, and the answer is asked again."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.features.xray.result import Part, PartEffect, Question, Spared, read_parts
from app.features.xray.task_run import Text, prepare, scores
from app.features.xray.task_target import name_of, sign, target_of
from bert_core.analysis import effects_by_layer, run
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
        ("xray ranking", *text.whole.key, text.mode, text.key[-1], question),
        make=lambda: _rank(text, question, progress),
        size=lambda made: 100 * len(made),
    )


def _rank(text: Text, question: Question, progress: Progress | None) -> tuple[PartEffect, ...]:
    if text.mode == "mean":
        prepare(text)
    target = target_of(question.kind, question.position, question.chosen)
    model, encoding = text.model, text.encoding
    layers = effects_by_layer(model, encoding, target, text.mode, source=text.source)
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


def spare(
    text: Text,
    question: Question,
    ranking: Sequence[PartEffect],
    progress: Progress | None = None,
) -> Spared:
    """Switch off one part after the other, the least important first, until the answer changes.

    Heads and feed-forward blocks count; an attention block is only its heads. The order is that
    of the effects of single parts, closest to 0 first.
    """
    singles = sorted(ranking, key=lambda each: abs(each.effect))
    order = [part for each in singles for part in read_parts(each.part)]
    order = [part for part in order if part.place != "attention"]
    whole = _answer(text, (), question)
    off: list[Part] = []
    for part in order:
        found = _answer(text, (*off, part), question)
        if found != whole:
            return Spared(tuple(off), len(order), part, name_of(text, found))
        off.append(part)
        if progress is not None:
            progress(len(off), len(order))
    return Spared(tuple(off), len(order), None, "")


def _answer(text: Text, off: tuple[Part, ...], question: Question) -> int:
    """Return the number of the answer with some parts off."""

    def work() -> int:
        outputs = run(
            text.model,
            text.encoding,
            interventions=text.without(off).interventions(),
            attentions=False,
            hidden_states=False,
            logits=False,
        )
        here = slice(question.position, question.position + 1) if text.piecewise else slice(None)
        return int(scores(text, outputs.last_hidden_state[:, here]).flatten().argmax())

    return PROCESSOR.run(work, tokens=len(text.encoding))

"""Named entities: label every piece of a text, and read entities from the labels.

`bert_core.reading.entities` does both, through the engine; what is here keeps the result for a
second look and compares it with annotations of the visitor's own.
"""

from dataclasses import replace
from functools import partial

from app.compute.recent import RECENT
from app.features.ner.result import NerResult
from app.features.ner.result_agreement import Agreement
from app.features.ner.task_annotated import compare, read_annotated
from app.models import Engine
from bert_core import BertForTokenClassification
from bert_core.errors import InputError
from bert_core.reading.entities import AGGREGATIONS, Aggregation, read_texts
from bert_core.reading.running import Progress, Runner
from bert_core.reading.tagging import TagScheme

_TOGETHER = 8  # windows a call: the memory of a batch is bounded, and others get their turn
_ROW_BYTES = 300  # roughly what a piece, or an entity, weighs in Python


def ner(
    engine: Engine,
    text: str,
    *,
    aggregation: Aggregation = "first",
    progress: Progress | None = None,
) -> NerResult:
    """Find the entities of a text of any length.

    Args:
        engine: the model.
        text: any text that holds at least one piece.
        aggregation: how labels of pieces become entities; see `bert_core.reading.entities`.
        progress: is told after each group of windows how many are done, and of how many.

    Raises:
        InputError: there is nothing to read, or no such aggregation.
    """
    if aggregation not in AGGREGATIONS:
        raise InputError(
            f"There is no aggregation {aggregation!r}; expected one of {', '.join(AGGREGATIONS)}."
        )
    # The model's own identity counts too: folders may share an encoder and differ in the head.
    model = (engine.provenance.fingerprint, id(engine.model(BertForTokenClassification)))
    result = RECENT.get(
        ("ner", *model, text), make=lambda: _find(engine, text, progress), size=_size
    )
    return replace(result, aggregation=aggregation)


def ner_agreement(engine: Engine, lines: str) -> Agreement:
    """Compare the model with annotations, every word with the label of its first piece.

    Args:
        engine: the model.
        lines: a word and its tag a line, a blank line after each sentence.

    Raises:
        InputError: the lines are no annotations, or hold no piece.
    """
    annotated = read_annotated(lines)
    result = ner(engine, annotated.text)
    pieces, labels = result.pieces, result.labels
    best = pieces.probabilities.argmax(axis=1)
    tags = [
        labels.names[best[piece]] if piece >= 0 else "O"
        for piece in pieces.first_pieces(annotated.words).tolist()
    ]
    return compare(annotated, tags, labels.names, labels.kinds)


def _find(engine: Engine, text: str, progress: Progress | None) -> NerResult:
    """Run the model and read its labels in every way."""
    scale = engine.calibration(BertForTokenClassification)
    runner = Runner(
        partial(engine.run, BertForTokenClassification),
        engine.tokenizer,
        engine.max_length,
        together=_TOGETHER,
        progress=progress,
    )
    [pieces] = read_texts(runner, [text], scale.temperature)
    if not len(pieces):
        raise InputError(
            "The text holds no piece that the model reads. Write a word or pick an example."
        )
    scheme = TagScheme.of(engine.model(BertForTokenClassification).config)
    return NerResult(
        labels=scheme,
        pieces=pieces,
        aggregation="first",
        readings={how: pieces.entities(scheme, how) for how in AGGREGATIONS},
        calibration=scale,
    )


def _size(result: NerResult) -> int:
    """Estimate the bytes that a result holds."""
    found = sum(len(reading.entities) for reading in result.readings.values())
    return result.pieces.probabilities.nbytes + _ROW_BYTES * (len(result.pieces) + found)

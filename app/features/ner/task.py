"""Named entities: label every piece of a text, and read entities from the labels.

`bert_core.reading.entities` does both, through the engine. What the model says is cached.
"""

from typing import Annotated

from app.engine.compute.recent import RECENT
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.windows import window_runner
from app.features.ner.result import AGGREGATION_NAMES, NerResult
from app.records.fields import Field
from bert_core import BertForTokenClassification
from bert_core.errors import InputError
from bert_core.reading.entities import Aggregation, TaggedText, read_texts
from bert_core.reading.running import Progress
from bert_core.reading.tagging import TagScheme
from bert_core.reading.unread import unread

_PIECE_BYTES = 300  # in Python, about


def ner(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=6, hint="A few sentences with names in them.")],
    *,
    aggregation: Annotated[
        Aggregation,
        Field("What decides the label of a word?", names=tuple(AGGREGATION_NAMES.items())),
    ] = "first",
    progress: Progress | None = None,
) -> NerResult:
    """Find the names in a text of any length: persons, places, organisations.

    Args:
        engine: the model.
        text: the text.
        aggregation: what decides the label of a word of several pieces: its "first" piece, the
            "average" over its pieces, or the surest piece ("max"); "simple" joins neighbouring
            pieces of a kind, and "none" shows every piece by itself.
        progress: called for each window with the number done and the total.

    Raises:
        InputError: the text has no piece.
    """
    # The key includes the model's identity: folders may share an encoder but differ in the head.
    model = engine.model(BertForTokenClassification)
    pieces = RECENT.get(
        ("ner", engine.provenance.fingerprint, id(model), text),
        make=lambda: _read(engine, text, progress),
        size=lambda made: made.probabilities.nbytes + _PIECE_BYTES * len(made),
    )
    scheme = TagScheme.of(model.config)
    return NerResult(
        labels=scheme,
        pieces=pieces,
        aggregation=aggregation,
        reading=pieces.entities(scheme, aggregation),
        unread=unread(engine.tokenizer, [engine.tokenizer.encode(text)]),
        calibration=engine.calibration(BertForTokenClassification),
    )


def _read(engine: Engine, text: str, progress: Progress | None) -> TaggedText:
    check_text(text)
    runner = window_runner(engine, BertForTokenClassification, progress)
    scale = engine.calibration(BertForTokenClassification)
    [pieces] = read_texts(runner, [text], scale.temperature)
    if not len(pieces):
        raise InputError(
            "The text has no piece that the model reads. Write a word or pick an example."
        )
    return pieces

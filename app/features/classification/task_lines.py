"""Label many texts at once."""

from typing import Annotated

from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.classification.result import LinesResult
from app.features.classification.task import classify
from app.records.fields import Field
from app.records.lines import MOST, read_lines
from bert_core import BertForSequenceClassification
from bert_core.reading.running import Progress


def classification_lines(
    engine: Engine,
    lines: Annotated[str, Field(f"Texts, one per line (at most {MOST})", lines=6)],
    progress: Progress | None = None,
) -> LinesResult:
    """Choose among the model's labels for each of many texts.

    Args:
        engine: the model.
        lines: one text per line; a tab separates it from a second text.
        progress: called after each group of texts with the number done and the total.

    Raises:
        InputError: there are no lines or too many, or one has no piece.
    """
    pairs = tuple((each.text, each.more) for each in read_lines(lines, "texts", signs="\t"))
    model = engine.model(BertForSequenceClassification)
    rows = RECENT.get(
        ("labels", engine.provenance.fingerprint, id(model), pairs),
        make=lambda: classify(engine, pairs, progress),
        size=lambda rows: 20 * len(lines) + 64 * sum(len(row.scores) for row in rows),
    )
    return LinesResult(rows)

"""Compare the model with a person's own annotations."""

from typing import Annotated

from app.engine.models import Engine
from app.features.ner.result_agreement import Agreement
from app.features.ner.task import ner
from app.features.ner.task_annotated import compare, read_annotated
from app.records.fields import Field


def ner_agreement(
    engine: Engine,
    annotations: Annotated[str, Field("Your annotations: word, TAB, tag", key="gold", lines=6)],
) -> Agreement:
    """Compare the names that the model finds with a person's annotations.

    Every word has the label of its first piece.

    Args:
        engine: the model.
        annotations: one word, a tab and its tag per line, with a blank line after each sentence.

    Raises:
        InputError: the lines are not annotations, or hold no piece.
    """
    annotated = read_annotated(annotations)
    result = ner(engine, annotated.text)
    pieces, labels = result.pieces, result.labels
    best = pieces.probabilities.argmax(axis=1)
    outside = next((tag.name for tag in labels.tags if tag.role == "outside"), "O")
    tags = [
        labels.names[best[piece]] if piece >= 0 else outside
        for piece in pieces.first_pieces(annotated.words).tolist()
    ]
    return compare(annotated, tags, (*labels.names, outside), labels.kinds)

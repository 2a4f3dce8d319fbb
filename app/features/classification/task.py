"""Ask the classification head for the labels of a text."""

from typing import Annotated

import torch
from torch import Tensor

from app.engine.models import Engine
from app.features.classification.result import ClassificationResult, Kind
from app.records.fields import Field
from app.records.results import Cut
from bert_core import BertConfig, BertForSequenceClassification, Encoding
from bert_core.errors import InputError
from bert_core.reading.unread import unread

_KINDS: dict[str, Kind] = {
    "regression": "regression",
    "single_label_classification": "single",
    "multi_label_classification": "multi",
}


def classification(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3, hint="I could not put it down.")],
    text_pair: Annotated[str, Field("Second text (optional)", lines=3)] = "",
) -> ClassificationResult:
    """Choose among the model's labels for a text, or for a pair of texts.

    Args:
        engine: the model.
        text: the text; one beyond the model's length is cut.
        text_pair: a second text, for models that label pairs; "" for none.

    Raises:
        InputError: a text has no piece, or the model reads no pairs.
    """
    whole = _encoded(engine, text, text_pair)
    limit = engine.max_length
    encoding = whole
    if len(whole) > limit:
        encoding = engine.tokenizer.encode(whole.text, whole.text_pair, max_length=limit)
    logits = engine.logits(BertForSequenceClassification, [encoding])[0].double()  # (C,)
    config = engine.model(BertForSequenceClassification).config
    scale = engine.calibration(BertForSequenceClassification)
    kind = kind_of(config)
    return ClassificationResult(
        kind=kind,
        labels=tuple(config.label_name(number) for number in range(len(logits))),
        logits=tuple(logits.tolist()),
        scores=tuple(_scores(logits, kind, scale.temperature).tolist()),
        encoding=encoding,
        cut=Cut.of(whole, encoding, limit=limit),
        unread=unread(engine.tokenizer, [encoding]),
        calibration=scale,
        trained_on=engine.facts.heads[BertForSequenceClassification.__name__].trained_on,
    )


def kind_of(config: BertConfig) -> Kind:
    """Return what the outputs are.

    >>> kind_of(BertConfig(9, num_labels=1)), kind_of(BertConfig(9, num_labels=3))
    ('regression', 'single')
    """
    return _KINDS[config.problem_type]


def _encoded(engine: Engine, first: str, second: str) -> Encoding:
    whole = engine.tokenizer.encode(first, second if second.strip() else None)
    sides = ((0, "first"), (1, "second")) if second.strip() else ((0, "first"),)
    for side, name in sides:
        if side not in whole.sequence_ids:
            raise InputError(
                f"The {name} text has no piece that the model reads. Write a word or pick an "
                "example."
            )
    if len(sides) > 1 and not engine.facts.reads_pairs:
        raise InputError(
            "This model has one token type only: it cannot tell two texts apart. Leave the second "
            "box empty."
        )
    return whole


def _scores(logits: Tensor, kind: Kind, temperature: float) -> Tensor:
    if kind == "regression":
        return logits
    if kind == "multi":
        return torch.sigmoid(logits / temperature)
    return torch.softmax(logits / temperature, dim=-1)

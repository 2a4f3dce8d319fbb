"""Ask the next-sentence head whether one sentence may follow another."""

from typing import Annotated

import torch

from app.engine.models import Engine
from app.features.next_sentence.result import IS_NEXT, IS_RANDOM, NextSentenceResult
from app.records.fields import Field
from app.records.results import Cut
from bert_core import BertForNextSentencePrediction
from bert_core.errors import InputError
from bert_core.reading.unread import unread

_HINTS = "She opened the window.", "Cold air came in."


def next_sentence(
    engine: Engine,
    first: Annotated[str, Field("First sentence", key="text", lines=3, hint=_HINTS[0])],
    second: Annotated[str, Field("Second sentence", key="text_pair", lines=3, hint=_HINTS[1])],
) -> NextSentenceResult:
    """Judge whether the second sentence follows the first; their order matters.

    Label 0 means that the second sentence follows the first, label 1 that it does not. In the
    pre-training of Devlin et al. (2019), section 3.1, such a sentence was picked at random.

    Args:
        engine: the model.
        first: the first sentence.
        second: the second sentence.

    Raises:
        InputError: one of the sentences holds nothing that the model can read.
    """
    whole = engine.tokenizer.encode(first, second)
    for side, name in ((0, "first"), (1, "second")):
        if side not in whole.sequence_ids:
            raise InputError(
                f"The {name} sentence has no piece that the model reads; both sentences need "
                "at least one. Write a word or pick an example."
            )
    encoding = whole
    if len(whole.input_ids) > engine.max_length:
        encoding = engine.tokenizer.encode(first, second, max_length=engine.max_length)
    logits = engine.logits(BertForNextSentencePrediction, [encoding])[0].double()  # (2,)
    scale = engine.calibration(BertForNextSentencePrediction)
    probabilities = torch.softmax(logits / scale.temperature, dim=-1)
    return NextSentenceResult(
        logits=(float(logits[IS_NEXT]), float(logits[IS_RANDOM])),
        probabilities=(float(probabilities[IS_NEXT]), float(probabilities[IS_RANDOM])),
        encoding=encoding,
        cut=Cut.of(whole, encoding, limit=engine.max_length),
        unread=unread(engine.tokenizer, [encoding]),
        calibration=scale,
        trained_on=engine.facts.heads[BertForNextSentencePrediction.__name__].trained_on,
    )

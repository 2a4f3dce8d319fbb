"""Ask the multiple-choice head which of several texts goes with a context."""

from collections.abc import Sequence
from typing import Annotated

import torch

from app.engine.models import Engine
from app.features.multiple_choice.result import Choice, MultipleChoiceResult
from app.records.fields import Field
from app.records.results import Cut
from bert_core import BertForMultipleChoice
from bert_core.errors import InputError, count
from bert_core.reading.unread import unread

LEAST, MOST = 2, 8  # choices

_LINES = f"Choices, one per line ({LEAST} to {MOST})"
_HINTS = "It began to rain, so", "she opened her umbrella.\nshe watered the garden."


def multiple_choice(
    engine: Engine,
    context: Annotated[str, Field("Context or question", key="text", lines=3, hint=_HINTS[0])],
    choices: Annotated[Sequence[str], Field(_LINES, lines=5, hint=_HINTS[1])],
) -> MultipleChoiceResult:
    """Choose the answer or ending that goes best with a context.

    Each choice is read alone, as the second text of a pair, so the order of the choices does not
    matter (Devlin et al. 2019, section 4.4).

    Args:
        engine: the model.
        context: a question, or the beginning of a story.
        choices: 2 to 8 answers or endings.

    Raises:
        InputError: the number of choices is wrong, or a text has no piece.
    """
    if not LEAST <= len(choices) <= MOST:
        raise InputError(
            f"Found {count(len(choices), 'choice')}; expected {LEAST} to {MOST}, one per line."
        )
    wholes = [engine.tokenizer.encode(context, choice) for choice in choices]
    if 0 not in wholes[0].sequence_ids:
        raise InputError("The context has no piece that the model reads. Write a word.")
    for number, whole in enumerate(wholes, start=1):
        if 1 not in whole.sequence_ids:
            raise InputError(f"Choice {number} has no piece that the model reads. Write a word.")
    limit = engine.max_length
    read = [
        engine.tokenizer.encode(context, choice, max_length=limit) if len(whole) > limit else whole
        for whole, choice in zip(wholes, choices, strict=True)
    ]
    logits = engine.logits(BertForMultipleChoice, read)[:, 0].double()  # (N,)
    scale = engine.calibration(BertForMultipleChoice)
    head = engine.facts.heads[BertForMultipleChoice.__name__]
    shares = torch.softmax(logits / scale.temperature, dim=0).tolist()
    return MultipleChoiceResult(
        context=context,
        choices=tuple(
            Choice(text, logit, share, encoding, Cut.of(whole, encoding, limit=limit))
            for text, logit, share, encoding, whole in zip(
                choices, logits.tolist(), shares, read, wholes, strict=True
            )
        ),
        unread=unread(engine.tokenizer, read),
        calibration=scale,
        trained_on=head.trained_on,
        figures=head.figures,
    )

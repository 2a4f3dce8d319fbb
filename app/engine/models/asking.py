"""Ask the default model something, only to see whether it answers."""

from itertools import count

import torch

from app.engine.models.store import open_engine

_NUMBERS = count(1)


def ask_model() -> str:
    """Let the default model fill a gap in a text that it has not seen before; return its name.

    Raises:
        BertError: the model cannot be opened.
        ArithmeticError: its scores are not numbers.
    """
    engine = open_engine()
    # The number differs each time, so that the answer is computed, whatever is kept.
    tokens = engine.tokenizer
    text = tokens.encode(f"The number before {next(_NUMBERS)} is {tokens.mask_token}.")
    scores = engine.scores_at(text, [text.input_ids.index(tokens.mask_token_id)])
    if not torch.isfinite(scores).all():
        raise ArithmeticError("the scores of the model are not numbers")
    return engine.provenance.name

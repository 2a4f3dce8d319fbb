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
    text = engine.tokenizer.encode(f"The number before {next(_NUMBERS)} is [MASK].")
    scores = engine.scores_at(text, [len(text) - 3])  # before "." and [SEP]
    if not torch.isfinite(scores).all():
        raise ArithmeticError("the scores of the model are not numbers")
    return engine.provenance.name

"""Two sentences beside each other: what fills their gaps, and how much the model expects each."""

from typing import Annotated

from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.fill_mask.result_sentences import Sentence, SentencesResult
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_surprise import surprise
from app.records.fields import Field
from bert_core import BertForMaskedLM
from bert_core.errors import InputError

MOST = 128
"""Tokens of a sentence: the model reads it once for each of its pieces."""


def fill_mask_sentences(
    engine: Engine,
    first: Annotated[str, Field("First sentence", lines=2)],
    second: Annotated[str, Field("Second sentence", lines=2)],
) -> SentencesResult:
    """Fill the gaps of two sentences, and score each sentence with one number.

    The score is the pseudo-log-likelihood (Salazar et al. 2020): every piece is hidden in turn, and
    the logarithms of the probabilities that the model gives it are added up.

    Args:
        engine: the model.
        first: a sentence, with or without [MASK]; gaps stay hidden and are not scored.
        second: another sentence; its gaps may be elsewhere.

    Raises:
        InputError: a sentence is empty or has nothing but gaps, or more than 128 tokens.
    """
    return SentencesResult(
        (_read(engine, first, "first"), _read(engine, second, "second")),
        engine.calibration(BertForMaskedLM),
    )


def _read(engine: Engine, text: str, which: str) -> Sentence:
    """Fill and score one of the sentences."""
    if not text.strip():
        raise InputError(f"The {which} sentence is empty. Write one; [MASK] hides a word of it.")
    if (found := len(engine.tokenizer.encode(text))) > MOST:
        raise InputError(
            f"The {which} sentence has {found:,} tokens; this page scores at most {MOST}. "
            "Shorten it."
        )
    filled = fill_mask(engine, text)
    scored = RECENT.get(
        ("sentence", engine.provenance.fingerprint, text),
        make=lambda: surprise(engine, filled),
        size=lambda made: 300 * len(made.pieces),
    )
    score = scored.log_likelihood
    return Sentence(filled.text, filled.slots, scored, score, score / len(scored.pieces))

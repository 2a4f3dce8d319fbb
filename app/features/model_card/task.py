"""Read what a model's folder says about the model, and verify the model's files."""

from app.features.model_card.result import ModelCardResult, Verified
from app.models import Engine
from app.models.papers import CARD_BYTES

MOST_FIGURES = 100
"""More than these nobody reads; what is left out is counted."""


def model_card(engine: Engine) -> ModelCardResult:
    """Read the card, the figures and the learning curves of a model."""
    papers = engine.papers()
    figures = papers.figures[:MOST_FIGURES]
    return ModelCardResult(
        text=papers.card,
        text_bytes=papers.card_bytes,
        whole=papers.card_bytes <= CARD_BYTES,
        figures=figures,
        left_out=len(papers.figures) - len(figures),
        bias=papers.bias,
        pictures=papers.curves,
        verifiable=papers.verifiable,
        problems=papers.problems,
    )


def verify_model(engine: Engine) -> Verified:
    """Read the model's files again and compare them with the records stored alongside them.

    Raises:
        BertError: there is nothing to compare with, or it cannot be read.
    """
    found = engine.verify()
    return Verified(
        report=found.report,
        fingerprint=found.fingerprint,
        loaded=found.fingerprint == engine.provenance.fingerprint,
        began=found.began,
        seconds=found.seconds,
    )

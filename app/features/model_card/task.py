"""Read what a model's folder says about the model, and verify the model's files."""

from app.features.model_card.result import ModelCardResult, Temperature, Verified
from app.models import Engine
from app.models.papers import CARD_BYTES
from bert_core import BertForQuestionAnswering
from bert_core.config import HAS_ANSWER
from bert_core.model.heads import KINDS

MOST_FIGURES = 100
"""Most figures that are shown; the rest are counted."""


def model_card(engine: Engine) -> ModelCardResult:
    """Read what is known about a model: its card, and the figures measured on it.

    Args:
        engine: the model.
    """
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


def temperatures(engine: Engine) -> tuple[Temperature, ...]:
    """Return the temperature of every kind of answer that the model was trained for."""
    found: list[Temperature] = []
    for kind in KINDS.values():
        head = engine.facts.heads.get(kind.name)
        if not kind.answers or head is None or head.missing or head.mismatched:
            continue
        found.append(Temperature(kind.answers, engine.calibration(kind.cls)))
        if kind.cls is BertForQuestionAnswering:
            has_answer = engine.calibration(kind.cls, HAS_ANSWER)
            found.append(Temperature("Whether a text has the answer", has_answer))
    return tuple(found)


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

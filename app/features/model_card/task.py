"""Read what a model's folder says about the model, and verify the model's files."""

from contextlib import suppress

from app.engine.models import Engine
from app.engine.models.papers import CARD_BYTES
from app.features.model_card.result import Beside, ModelCardResult, Temperature, Verified
from bert_core import BertForNextSentencePrediction, BertForQuestionAnswering
from bert_core.config import HAS_ANSWER
from bert_core.errors import BertError
from bert_core.model.kinds import KINDS

_BASE_TEXT = "random numbers; then 3.3 billion words of books and Wikipedia, about 40 times"
_BASE_PAIRS = "neighbouring sentences; in the wrong pairs, the second was picked at random"
_BASE_SEP = "over half, in layers 5 to 9"
_BASE_CLS = "little, except by some early heads"

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
        beside=beside_base(engine),
        verifiable=papers.verifiable,
        problems=papers.problems,
    )


def beside_base(engine: Engine) -> tuple[Beside, ...]:
    """Compare a model with BERT base, the larger one that most papers are about.

    The values of BERT base are those of Devlin et al. (2019), and for attention of Clark et al.
    (2019), whose layers count from 0 here.
    """
    known, pairs = engine.provenance, engine.facts.heads[BertForNextSentencePrediction.__name__]
    rows = [
        Beside("layers", f"{known.layers}", "12"),
        Beside("heads in a layer", f"{known.heads}", "12"),
        Beside("width of the vectors", f"{known.hidden}", "768"),
        Beside("weights", f"{known.parameters / 1e6:.1f} million", "110 million"),
    ]
    if engine.facts.began:
        rows.append(Beside("trained from", engine.facts.began, _BASE_TEXT))
    if pairs.trained_on:
        rows.append(Beside("next sentence, trained on", pairs.trained_on, _BASE_PAIRS))
    found = None
    with suppress(BertError):  # a damaged file is no reason to say nothing
        found = engine.head_statistics()
    for name, base in (("to_sep", _BASE_SEP), ("to_cls", _BASE_CLS)):
        if found is not None and not found.stale:
            shares = getattr(found.statistics, name).mean(axis=1)
            most = int(shares.argmax())
            token = f"[{name.removeprefix('to_').upper()}]"
            here = f"at most {100 * shares[most]:.0f} %, in layer {most}"
            rows.append(Beside(f"attention of a layer to {token}", here, base))
    return tuple(rows)


def temperatures(engine: Engine) -> tuple[Temperature, ...]:
    """Return the temperature of every kind of answer that the model was trained for."""
    found: list[Temperature] = []
    for kind in KINDS.values():
        head = engine.facts.heads.get(kind.name)
        if not kind.answers or head is None or not head.trained or head.mismatched:
            continue
        if head.problem == "regression":  # its numbers are not divided
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

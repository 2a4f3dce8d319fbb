"""Read what was measured of the model's reliability on pairs of sentences."""

from app.engine.models import Engine
from app.features.next_sentence.result_reliability import ReliabilityResult
from app.records.counted import Reliability
from bert_core import BertForNextSentencePrediction
from bert_core.bundled.figures import Figure

_ERROR = "calibration error, next sentence"
_PAIRS = {
    "": "both kinds together",
    "random": "neighbours, and pairs from two texts",
    "same": "neighbours, and pairs from one text",
}


def next_sentence_reliability(engine: Engine) -> ReliabilityResult:
    """Say how sure the model was of pairs of sentences, and how often it was right.

    The measurements are stored with the weights.

    Args:
        engine: the model.
    """
    figures = engine.facts.errors.get(BertForNextSentencePrediction.__name__, ())
    ordered = sorted(figures, key=lambda each: each.task == _ERROR)  # that of all comes last
    return ReliabilityResult(tuple(_row(each) for each in ordered if each.bins))


def _row(figure: Figure) -> Reliability:
    kind = figure.task.removeprefix(_ERROR).lstrip(", ")
    return Reliability(
        pairs=_PAIRS.get(kind, kind),
        cases=figure.cases,
        stated=figure.stated or 0.0,
        right=figure.right or 0.0,
        error=figure.share,
        bins=figure.bins,
    )

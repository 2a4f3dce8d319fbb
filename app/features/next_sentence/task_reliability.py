"""Read what was measured of the model's reliability on pairs of sentences."""

import re

from app.features.next_sentence.result_reliability import Reliability, ReliabilityResult
from app.models import Engine

_TASK = "next sentence"
_ERROR = f"calibration error, {_TASK}"
_MEANS = re.compile(r"Mean confidence ([\d.]{1,6}) %, right ([\d.]{1,6}) %")
_PAIRS = {
    "": "all pairs",
    "random": "wrong pairs from two texts",
    "same": "wrong pairs from one text",
}


def next_sentence_reliability(engine: Engine) -> ReliabilityResult:
    """Say how sure the model was of pairs of sentences, and how often it was right.

    The measurements are stored with the weights: means, not the bins of a curve.

    Args:
        engine: the model.
    """
    figures = engine.papers().figures
    shares = {figure.task: figure for figure in figures}
    found = []
    for figure in figures:
        kind, means = figure.task.removeprefix(_ERROR), _MEANS.search(figure.meaning)
        if kind == figure.task or means is None:
            continue
        stated, right = (float(each) / 100 for each in means.groups())
        measured = shares.get(_TASK + kind)
        found.append(
            Reliability(
                pairs=_PAIRS.get(kind.removeprefix(", "), kind.removeprefix(", ")),
                cases=figure.cases,
                stated=stated,
                right=right,
                interval=(measured.low, measured.high) if measured else None,
                error=figure.share,
            )
        )
    return ReliabilityResult(tuple(found))

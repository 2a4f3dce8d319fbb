"""What a model's folder says about the model, and whether its files are what they should be."""

from app.features.model_card.result import (
    CheckedFile,
    CheckedOutput,
    Lean,
    Leanings,
    Measured,
    ModelCardResult,
    Reached,
    Verified,
)
from app.models import Engine
from app.models.papers import CARD_BYTES
from app.models.verifying import Verification
from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Leaning

MOST_FIGURES = 100
"""More than these nobody reads; what is left out is counted."""

_FENCE = "---"


def model_card(engine: Engine) -> ModelCardResult:
    """Read the card, the figures and the learning curves of a model."""
    papers = engine.papers()
    figures = papers.figures[:MOST_FIGURES]
    return ModelCardResult(
        text=without_front_matter(papers.card),
        text_bytes=papers.card_bytes,
        whole=papers.card_bytes <= CARD_BYTES,
        figures=tuple(_measured(figure) for figure in figures),
        left_out=len(papers.figures) - len(figures),
        leanings=None if papers.bias is None else _leanings(papers.bias),
        pictures=papers.curves,
        verifiable=papers.verifiable,
        problems=papers.problems,
    )


def verify_model(engine: Engine) -> Verified:
    """Read the model's files again and compare them with what is stored beside them.

    Raises:
        BertError: there is nothing to compare with, or it cannot be read.
    """
    return _verified(engine, engine.verify())


def without_front_matter(card: str) -> str:
    r"""Leave out what stands between two lines of dashes at the very top: it is for programs.

    >>> without_front_matter("---\nlicense: mit\n---\nA card.")
    'A card.'
    """
    lines = card.removeprefix("\ufeff").splitlines()
    dashes = [at for at, line in enumerate(lines) if line.rstrip() == _FENCE]
    if dashes[:1] != [0] or len(dashes) < 2:
        return "\n".join(lines)
    return "\n".join(lines[dashes[1] + 1 :])


def _measured(figure: Figure) -> Measured:
    """Put a figure and what it reaches into plain values."""
    return Measured(
        task=figure.task,
        measured_on=figure.measured_on,
        meaning=figure.meaning,
        share=figure.share,
        low=figure.low,
        high=figure.high,
        cases=figure.cases,
        floor=figure.floor,
        goal=figure.goal,
        chance=figure.chance,
        lower_is_better=figure.lower_is_better,
        reached=_reached(figure),
    )


def _reached(figure: Figure) -> Reached:
    """Say what a figure has reached; a goal without the floor below it counts as neither."""
    if figure.reaches_floor is None and figure.reaches_goal is None:
        return Reached.NO_AIM
    if figure.reaches_floor is not False and figure.reaches_goal:
        return Reached.GOAL
    return Reached.FLOOR if figure.reaches_floor else Reached.NOTHING


def _leanings(bias: Bias) -> Leanings:
    skew = bias.skew
    return Leanings(
        words=bias.words,
        templates=len(bias.templates),
        rows=tuple(_lean(each) for each in bias.leanings),
        skew=Lean("", skew.value, skew.low, skew.high),
        neutral=bias.neutral,
    )


def _lean(leaning: Leaning) -> Lean:
    odds = leaning.log_odds
    return Lean(leaning.occupation, odds.value, odds.low, odds.high)


def _verified(engine: Engine, found: Verification) -> Verified:
    """Put a report into plain values, without the place where the files lie."""
    report = found.report
    return Verified(
        ok=report.ok,
        model=engine.provenance.name,
        fingerprint=found.fingerprint,
        loaded=found.fingerprint == engine.provenance.fingerprint,
        began=found.began,
        seconds=found.seconds,
        files=tuple(
            CheckedFile(file.path, file.expected, file.found, file.ok) for file in report.files
        ),
        texts=len(report.texts),
        wrong_texts=tuple(each.text for each in report.texts if not each.ok),
        outputs=tuple(
            CheckedOutput(
                class_name=output.class_name,
                output=output.output,
                texts=output.texts,
                compared=output.compared,
                largest=output.largest,
                tolerance=output.tolerance,
                difference=output.difference,
                ok=output.ok,
            )
            for output in report.outputs
        ),
        failure=report.failure,
    )

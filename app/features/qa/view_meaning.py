"""What the numbers of the question-answering page are numbers of, in words."""

import math

from app.features.qa.result import QaResult
from app.words.format import percent
from app.words.html import Html, tag, visible
from app.words.notes import calibrated


def threshold_note(result: QaResult) -> Html:
    """Say what the no-answer score is, and what moving the threshold does."""
    once, twice = (math.exp(step / result.has_answer.temperature) for step in (1, 2))
    return tag(
        "p",
        "The no-answer score is the score of “no answer” minus that of the best span: at 0 it is "
        "as likely that the passage answers as that it does not, at +1 “no answer” is "
        f"{once:.1f} times as likely, at +2 it is {twice:.1f} times. Above the threshold the "
        "verdict is “no answer”; a lower threshold says so more readily.",
        class_="bx-line",
    )


def meaning(result: QaResult) -> Html:
    """Say what the numbers are numbers of."""
    spans = "1 span" if result.candidates == 1 else f"{result.candidates:,} spans"
    return tag(
        "p",
        "A span scores its start logit plus its end logit, “no answer” what the model gives to "
        "[CLS]. How far the best span is above “no answer” tells how likely the passage answers: "
        f"{percent(1 - result.null_probability)}. The softmax of the scores shares that out among "
        f"the {spans} of at most {result.longest:,} pieces that the passage holds{_rules(result)}; "
        "spans that say the same are added up, and the best answer has "
        f"{percent(result.given_answer)} of it. All spans that share a piece with the best one "
        f"hold {percent(result.touching)} together: how sure the model is of the place, whatever "
        "the exact ends. ",
        calibrated(result.calibration, "best answers"),
        _whether(result),
        class_="bx-line",
    )


def _whether(result: QaResult) -> str:
    """Name the temperature of "the passage answers", where it is another one."""
    if result.has_answer == result.calibration:
        return ""
    data = visible(result.has_answer.fitted_on)
    fitted = f", fitted on {data}" if data else ""
    return (
        " How far the best span is above “no answer” is divided by a temperature of its own, "
        f"{result.has_answer.temperature:.2f}{fitted}."
    )


def _rules(result: QaResult) -> str:
    """Name the rules that spans have to keep."""
    kept = [
        name
        for name, asked in (
            ("of whole words", result.rules.whole_words),
            ("within one sentence", result.rules.one_sentence),
        )
        if asked
    ]
    return f" ({', '.join(kept)})" if kept else ""

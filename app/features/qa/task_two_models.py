"""Ask two models a question about a passage, and compare the places of their answers."""

from bisect import bisect_right
from typing import Annotated

from app.engine.models import Engine
from app.engine.models.second import asked_twice
from app.features.qa.result import QaResult
from app.features.qa.task import Longest, Single, Threshold, Whole, qa
from app.records.fields import Field
from app.records.two_answers import Both, Said, TwoAnswers
from bert_core.reading.alignment import stretch_ends
from bert_core.reading.passage import LONGEST, Answer
from bert_core.reading.running import Progress

NONE = "no answer"


def qa_two_models(
    engine: Engine,
    passage: Annotated[str, Field("Passage", key="text", lines=10)],
    question: Annotated[str, Field("Question", lines=1, first=True)],
    *,
    beside: Annotated[str, Field("Second model", lines=1, model=True)] = "",
    longest: Longest = LONGEST,
    threshold: Threshold = 0.0,
    whole_words: Whole = True,
    one_sentence: Single = True,
    progress: Progress | None = None,
) -> TwoAnswers:
    """Find the answer to a question in a passage with two models, and compare them.

    Args:
        engine: the first model.
        passage: the text to search.
        question: the question.
        beside: the second model, by its name on offer; "" for the first other one that can answer.
        longest: the most pieces in an answer.
        threshold: the no-answer score, a difference of logits, above which there is no answer.
        whole_words: whether an answer must not begin or end inside a word.
        one_sentence: whether an answer must begin and end in the same sentence.
        progress: called for each window with the number done and the total, for each model anew.

    Raises:
        InputError: there is no such model; or see `qa`.
    """

    def ask(each: Engine) -> QaResult:
        return qa(
            each,
            passage,
            question,
            longest=longest,
            threshold=threshold,
            whole_words=whole_words,
            one_sentence=one_sentence,
            progress=progress,
        )

    return both(*asked_twice(engine, beside, ("BertForQuestionAnswering",), ask))


def both(models: tuple[str, str], first: QaResult, second: QaResult) -> TwoAnswers:
    """Compare the answers of two models; those whose best spans overlap are at one place.

    Args:
        models: their names.
        first: the answers of one model.
        second: those of the other one.
    """
    found = (first.answers, second.answers)
    ends = stretch_ends([_span(each) for answers in found for each in answers])
    places: dict[int, list[Answer | None]] = {}
    for which, answers in enumerate(found):
        for each in answers[::-1]:  # of several at one place, the best is put there last
            place = bisect_right(ends, each.best.start)
            places.setdefault(place, [None, None])[which] = each
    rows = [_row(first.passage, *places[at]) for at in sorted(places)]
    one, other = (Said(NONE, each.null_probability) for each in (first, second))
    rows.append(Both(NONE, one, other, differs=first.answered != second.answered))
    a, b = _best(first), _best(second)
    answer = Both("Answer", a, b, differs=_wording(a.text) != _wording(b.text))
    return TwoAnswers(models, (answer,), tuple(rows))


def _best(result: QaResult) -> Said:
    """Return the answer that a model gives, which may be none."""
    if not result.answered:
        return Said(NONE, result.null_probability)
    return Said(result.answers[0].text, result.probability)


def _span(answer: Answer) -> tuple[int, int]:
    return answer.best.start, answer.best.end


def _row(passage: str, first: Answer | None, second: Answer | None) -> Both:
    """Compare what two models have at one place of the passage."""
    spans = [_span(each) for each in (first, second) if each]
    place = passage[min(start for start, _ in spans) : max(end for _, end in spans)]
    one, other = (
        Said(each.text, each.probability) if each else Said("") for each in (first, second)
    )
    return Both(place, one, other, _wording(one.text) != _wording(other.text))


def _wording(text: str) -> str:
    """Return a text without what does not change an answer.

    >>> _wording("The  Nile.") == _wording("the Nile")
    True
    """
    return " ".join(text.split()).strip(".,;:!?").casefold()

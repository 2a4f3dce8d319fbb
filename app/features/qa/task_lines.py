"""Ask many questions about one passage, and compare the answers with those that are wanted."""

from statistics import fmean
from typing import Annotated

from app.engine.compute.recent import RECENT
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.windows import window_runner
from app.features.qa.result_lines import Asked, QuestionsResult
from app.features.qa.task import Longest, Single, Threshold, Whole
from app.records.counted import Share
from app.records.fields import Field
from app.records.lines import MOST, Line, alternatives, read_lines
from bert_core import BertForQuestionAnswering
from bert_core.config import HAS_ANSWER
from bert_core.errors import InputError
from bert_core.reading.passage import LONGEST, PassageAnswers, Rules, read_passages
from bert_core.reading.running import Progress
from bert_core.reading.wordings import normalized, token_f1

_LABEL = f"Questions, one per line (at most {MOST}); the wanted answer after a tab or |"


def qa_lines(
    engine: Engine,
    passage: Annotated[str, Field("Passage", key="text", lines=10)],
    questions: Annotated[str, Field(_LABEL, lines=6)],
    *,
    longest: Longest = LONGEST,
    threshold: Threshold = 0.0,
    whole_words: Whole = True,
    one_sentence: Single = True,
    progress: Progress | None = None,
) -> QuestionsResult:
    """Ask many questions about a passage, and count the answers that are wanted.

    Args:
        engine: the model.
        passage: the text to search.
        questions: one question per line; after a tab or a vertical bar the answer that is wanted,
            others that count as right after further bars, or "-" if the passage has none.
        longest: the most pieces in an answer.
        threshold: the no-answer score, a difference of logits, above which there is no answer.
        whole_words: whether an answer must not begin or end inside a word.
        one_sentence: whether an answer must begin and end in the same sentence.
        progress: called for each group of windows with the number done and the total.

    Raises:
        InputError: there are no lines or too many, or see `qa`.
    """
    read = read_lines(questions, "questions")
    check_text(passage)
    runner = window_runner(engine, BertForQuestionAnswering, progress, texts=MOST)
    scale = engine.calibration(BertForQuestionAnswering)
    outer = engine.calibration(BertForQuestionAnswering, HAS_ANSWER)
    rules = Rules(whole_words, one_sentence)

    def answer() -> tuple[Asked, ...]:
        for line in read:
            if not line.text:
                raise InputError(f"Line {line.number} has no question before the bar (|).")
        readings = read_passages(runner, [(passage, line.text) for line in read])
        found = (
            each.answers(
                longest, rules, temperature=scale.temperature, has_answer=outer.temperature
            )
            for each in readings
        )
        return tuple(_asked(*each, threshold) for each in zip(read, found, strict=True))

    rows = RECENT.get(
        ("questions", engine.provenance.fingerprint, passage, read, longest, threshold, rules),
        make=answer,
        size=lambda rows: 4 * len(passage + questions) + 300 * len(rows),
    )
    exact = [row.exact for row in rows if row.exact is not None]
    shared = [row.f1 for row in rows if row.f1 is not None]
    return QuestionsResult(rows, Share.of(exact), fmean(shared) if shared else None, scale, outer)


def _asked(line: Line, found: PassageAnswers, threshold: float) -> Asked:
    """Compare an answer with those that are wanted."""
    [best] = found.best()
    said = best.text if found.answered(threshold) else ""
    good = alternatives(line.more)
    return Asked(
        question=line.text,
        answer=said,
        best=best.text,
        probability=best.probability,
        no_answer=found.null_probability,
        wanted=line.more,
        exact=any(normalized(said) == normalized(each) for each in good) if good else None,
        f1=max((token_f1(said, each) for each in good), default=None),
    )

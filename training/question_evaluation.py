"""Measure question answering by the SQuAD rules, with and without unanswerable questions.

Answers are read by `reading.passage`, as on the site: whole words within one sentence. Exact match
and token F1 compare them in lower case, without punctuation and articles (Rajpurkar et al. 2016).
A question without an answer counts as right when the model gives none (Rajpurkar et al. 2018).
"""

from collections.abc import Sequence
from pathlib import Path

from bert_core.bundled.figures import Figure
from bert_core.finetuning import Question
from bert_core.model.heads import BertForQuestionAnswering
from bert_core.reading.passage import PassageAnswers, read_passages
from bert_core.reading.running import Runner
from bert_core.reading.wordings import normalized, token_f1
from bert_core.text.tokenizer import BertTokenizer
from training.aims import ANSWERED, EXACT, OVERLAP, OVERLAP_OR_NONE
from training.rows import json_rows
from training.scores import Remembered, by_group, resampled, share

_PASSAGES = 5  # per article in XQuAD, in consecutive rows

_READ: Remembered[Question, PassageAnswers] = Remembered()


def read_questions(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, rows: Sequence[Question]
) -> list[PassageAnswers]:
    """Score every span of each question's passage, batching rows of similar length."""

    def read(new: Sequence[Question]) -> list[PassageAnswers]:
        asked = [(row.context, row.question) for row in new]
        return [each.answers() for each in read_passages(Runner.of(model, tokenizer), asked)]

    return _READ.answers(model, rows, read)


def question_figures(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure exact match and F1 on XQuAD English, and the same with unanswerable questions.

    Questions share their passages, and passages their article, so the intervals resample articles.
    """
    rows = xquad(data)
    moved = elsewhere(rows)
    asked = [place for place in range(1, len(rows), 2) if moved[place] is not None]
    empty = [question for place in asked if (question := moved[place]) is not None]
    read = read_questions(model, tokenizer, [*rows, *empty])
    own, without = read[: len(rows)], read[len(rows) :]
    both = [(each, row.answer or "") for each, row in zip(own, rows, strict=True)]
    exact = [float(normalized(each.text) == normalized(answer)) for each, answer in both]
    overlap = [token_f1(each.text, answer) for each, answer in both]
    answered = [float(each.answered()) for each in own[::2]]
    refused = [float(not each.answered()) for each in without]
    either = [kept * given for kept, given in zip(overlap[::2], answered, strict=True)]
    articles = articles_of(rows)
    halves = [*articles[::2], *(articles[place] for place in asked)]
    return [
        resampled(aim, by_group(found, of), share, cases=len(found))
        for aim, found, of in (
            (EXACT, exact, articles),
            (OVERLAP, overlap, articles),
            (ANSWERED, answered + refused, halves),
            (OVERLAP_OR_NONE, either + refused, halves),
        )
    ]


def articles_of(rows: Sequence[Question]) -> list[int]:
    """Return the number of each question's article."""
    places = {context: n for n, context in enumerate(dict.fromkeys(row.context for row in rows))}
    return [places[row.context] // _PASSAGES for row in rows]


def xquad(data: Path) -> list[Question]:
    """Read the evaluation questions."""
    return [
        Question(row["question"], row["context"], a["text"], a["answer_start"])
        for row in json_rows(data / "qa" / "eval_xquad_en.jsonl")
        for a in row["answers"][:1]
    ]


def elsewhere(rows: Sequence[Question]) -> list[Question | None]:
    """Pair each question with the next passage of its article that does not hold its answer.

    XQuAD has five passages per article, in consecutive rows.

    Returns:
        One question per row; None where every other passage of the article holds the answer's text.
    """
    contexts = list(dict.fromkeys(row.context for row in rows))
    places = {context: index for index, context in enumerate(contexts)}
    moved: list[Question | None] = []
    for row in rows:
        place = places[row.context]
        article = contexts[place // _PASSAGES * _PASSAGES :][:_PASSAGES]
        turned = article[place % _PASSAGES + 1 :] + article[: place % _PASSAGES]
        answer = normalized(row.answer or "")
        fitting = [context for context in turned if answer not in normalized(context)]
        moved.append(Question(row.question, fitting[0], None) if fitting else None)
    return moved

"""Measure questions, named entities, sentiment and multiple choice, each with its calibration.

Answers and names are read as on the site. Exact match and token F1 compare answers in lower case,
without punctuation and articles (Rajpurkar et al. 2016); a question without an answer counts as
right when the model gives none (Rajpurkar et al. 2018). Names are scored as by conlleval: whole
spans, with the right kind and both ends right (Tjong Kim Sang and De Meulder 2003).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bert_core.bundled.figures import Figure
from bert_core.config import HAS_ANSWER, BertConfig
from bert_core.finetuning import Question
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.reading.tagging import Stretch, TagScheme
from bert_core.reading.wordings import normalized, token_f1
from bert_core.text.tokenizer import BertTokenizer
from training import judgements
from training.calibration import Stated, error_figure
from training.evaluation_words import used
from training.judgements import SCORED, Labelled
from training.rows import (
    SENTIMENTS,
    TAGS,
    choices,
    questions,
    reviews,
    sentiments,
    tagged_words,
)
from training.scores import Floats, aim, by_group, counted, error_aim, resampled, share
from training.unseen import negations

XQUAD = "eval_xquad_en"
ENTITY_FILES = ("ewt-test", "pud")  # together they form ner/test
CHOICE_FILES = ("nextsentence", "openstax")
_PASSAGES = 5  # per article in XQuAD, in consecutive rows
_OWN = "XQuAD English"
_BOTH = "XQuAD English, each question asked of its own and of another passage"


def question_figures(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure exact match and F1 on XQuAD English, and the same with unanswerable questions.

    Questions share their passages, and passages their article, so the intervals resample articles.
    """
    rows = questions(data, [XQUAD])
    moved = elsewhere(rows)
    others = [row for row in moved if row is not None]
    read = judgements.read_questions(model, tokenizer, [*rows, *others])
    own, rest = read[: len(rows)], read[len(rows) :]
    refused_of = dict(zip((n for n, row in enumerate(moved) if row), rest, strict=True))
    asked = [place for place in range(1, len(rows), 2) if place in refused_of]
    both = [(each, row.answer or "") for each, row in zip(own, rows, strict=True)]
    exact = [float(normalized(each.text) == normalized(answer)) for each, answer in both]
    overlap = [token_f1(each.text, answer) for each, answer in both]
    answered = [float(each.answered()) for each in own[::2]]
    refused = [float(not refused_of[place].answered()) for place in asked]
    either = [kept * given for kept, given in zip(overlap[::2], answered, strict=True)]
    articles = articles_of(rows)
    halves = [*articles[::2], *(articles[place] for place in asked)]
    figures = [
        resampled(aim(task), by_group(found, of), share, cases=len(found))
        for task, found, of in (
            ("question answering, exact match", exact, articles),
            ("question answering, F1", overlap, articles),
            ("has an answer or not", answered + refused, halves),
            ("answer or none, F1", either + refused, halves),
        )
    ]
    # Calibration: the best span with and without the chance that there is an answer.
    inner, outer = (model.config.temperature(n) for n in ("BertForQuestionAnswering", HAS_ANSWER))
    chunks = list(judgements.questions(rows, own))
    first = Stated.of(chunks, inner, outer)
    second = Stated.of(judgements.questions(others, rest), inner, outer)
    judged = judgements.has_answer([*rows, *others], [*own, *rest])
    spans = f"{used(inner)}, and {used(outer)} for there being an answer"
    known = "best span, knowing that there is an answer"
    return [
        *figures,
        error_figure(error_aim("best span", _BOTH), Stated.together([first, second]), spans),
        error_figure(error_aim("best span", _OWN), first, spans),
        error_figure(error_aim(known, _OWN, aimed=False), Stated.of(chunks, inner), used(inner)),
        error_figure(
            error_aim("has an answer or not", _BOTH), Stated.of([judged], outer), used(outer)
        ),
    ]


def articles_of(rows: Sequence[Question]) -> list[int]:
    """Return the number of each question's article."""
    places = {context: n for n, context in enumerate(dict.fromkeys(row.context for row in rows))}
    return [places[row.context] // _PASSAGES for row in rows]


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


def entity_figures(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure span F1 of persons, places and organisations, and how well pieces are calibrated."""
    rows, scheme = tagged_words(data, ENTITY_FILES), TagScheme.of(model.config)
    read = judgements.word_labels(model, tokenizer, rows)
    counts = entity_counts(scheme, read)
    task = aim("named entities (PER, LOC, ORG), F1")
    figure = resampled(task, counts, span_f1, cases=int(counts[:, 2].sum()))
    temperature = model.config.temperature("BertForTokenClassification")
    stated = Stated.of([judgements.names(scheme, rows, read)], temperature)
    if not len(stated.right):
        return [figure]
    error = error_aim("pieces of names", figure.measured_on)
    return [figure, error_figure(error, stated, used(temperature))]


def entity_counts(scheme: TagScheme, read: Labelled) -> Floats:
    """Return (N, 3): right, found and expected spans of the scored kinds in each sentence."""
    counts = np.zeros((len(read), 3))
    for index, (probabilities, tags) in enumerate(read):
        found = _scored(scheme, probabilities.argmax(axis=1).tolist())
        true = _scored(TagScheme(TAGS), tags.tolist())
        counts[index] = len(found & true), len(found), len(true)
    return counts


def _scored(scheme: TagScheme, labels: Sequence[int]) -> set[Stretch]:
    return {stretch for stretch in scheme.stretches(labels) if stretch.kind in SCORED}


def span_f1(counts: Floats) -> float:
    """Return the F1 of the spans of all sentences; 1 if there are none and none was found."""
    right, found, wanted = counts.sum(0)
    return float(2 * right / (found + wanted)) if found + wanted else 1.0


def tags_unfit(config: BertConfig) -> str:
    """Return why a model's labels cannot be scored; "" if they can."""
    if set(SCORED) & set(TagScheme.of(config).kinds):
        return ""
    return f"its labels know none of {', '.join(SCORED)}"


def sentiment_figures(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure accuracy on SST-2's test sentences, as they are and as a person would type them."""
    rows, figures = sentiments(data, "test"), list[Figure]()
    temperature = model.config.temperature("BertForSequenceClassification")
    for where, texts in (
        ("SST-2 test", [row.split for row in rows]),
        ("SST-2 test, typed with capitals and punctuation", [row.typed for row in rows]),
    ):
        judged = list(judgements.texts(model, tokenizer, texts))
        right = np.concatenate([chunk.right for chunk in judged])
        stated, error = Stated.of(judged, temperature), error_aim("sentiment", where)
        figures.append(counted(aim("sentiment", where), right))
        figures.append(error_figure(error, stated, used(temperature)))
    return figures


def own_sentiment_figures(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure the reviews that are kept back, and our own sentences with a negation."""
    figures = []
    for where, rows in (
        ("reviews of products, films and restaurants that were held out",
         reviews(data, kept_apart=True)),
        ("40 own sentences with a negation or a contrast", negations()),
    ):  # fmt: skip
        judged = judgements.texts(model, tokenizer, rows)
        right = np.concatenate([chunk.right for chunk in judged])
        figures.append(counted(aim("sentiment", where), right))
    return figures


def sentiment_unfit(config: BertConfig) -> str:
    """Return why a model's classes are not sentiments; "" if they are."""
    names = list(TagScheme.of(config).names)
    if {name.lower() for name in names} == set(SENTIMENTS) or names == ["LABEL_0", "LABEL_1"]:
        return ""
    return f"its classes are {', '.join(names[:4])}, not negative and positive"


def choice_figures(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure both files; chance is the mean over rows of one in so many choices."""
    figures, stated = list[Figure](), list[Stated]()
    temperature = model.config.temperature("BertForMultipleChoice")
    for name in CHOICE_FILES:
        rows = choices(data, [f"{name}_test"])
        chance = float(np.mean([1 / len(row.choices) for row in rows]))
        goal = min(1.0, chance + 0.20)
        task = replace(aim(f"multiple choice, {name}"), floor=chance, goal=goal, chance=chance)
        judged = list(judgements.choices(model, tokenizer, rows))
        figures.append(counted(task, np.concatenate([chunk.right for chunk in judged])))
        stated.append(Stated.of(judged, temperature))
    where = f"mc, {' and '.join(CHOICE_FILES)} together"
    for on, parts in (
        (where, stated),
        *((f"mc/{name}_test", [part]) for name, part in zip(CHOICE_FILES, stated, strict=True)),
    ):
        error = error_aim("multiple choice", on, aimed=on == where)
        figures.append(error_figure(error, Stated.together(parts), used(temperature)))
    return figures

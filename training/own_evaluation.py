"""Measure on evaluation sentences of our own and on what is kept back from frames.

`training.written` has the sentences, written before the training they measure; `training.frames`
keeps facts and wordings back. None of it is trained on, nor what differs in one word.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bert_core.bundled.figures import Figure
from bert_core.finetuning import LabelledText, Question
from bert_core.model.heads import (
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.reading.wordings import normalized
from bert_core.text.tokenizer import BertTokenizer
from training.aims import (
    ADMITTED,
    MADE_FACTS,
    MADE_FRAMES,
    NEGATIONS,
    ORDERS,
    PEOPLE,
    READ,
    REFUSED,
    REVIEWS,
    read_inputs,
)
from training.frames import everyday
from training.gaps import Gap
from training.judgements import right_share, sentence_pairs, texts
from training.pretraining_evaluation import fills, gap_words
from training.question_evaluation import read_questions
from training.rows import reviews
from training.scores import counted, resampled
from training.short_evaluation import fact_figure, relation_hits
from training.task_evaluation import entity_counts, span_f1
from training.written import reading

GAP_INPUTS = ("gap", "proverb", "famous")


def made_facts(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure facts and wordings kept back from frames, and orders and sums."""
    kept = everyday.kept_back_gaps()
    measured = (
        (MADE_FACTS, kept["subjects"]),
        (MADE_FRAMES, kept["frames"]),
        (ORDERS, everyday.order_gaps()),
    )
    return [
        fact_figure(aim, hits)
        for aim, facts in measured
        if (hits := relation_hits(model, tokenizer, facts))
    ]


def filled_inputs(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Fill the gaps among the inputs that a person reads; the first word counts."""
    found = []
    for kind in GAP_INPUTS:
        gaps = [Gap(row["text"], frozenset(row["good"].split())) for row in reading.inputs()[kind]]
        answers = gap_words(model, tokenizer, gaps)
        right = [fills(gap, words[:1]) for gap, words in zip(gaps, answers, strict=True)]
        found.append(_of_inputs(kind, right))
    return found


def neighbour_inputs(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Judge the sentence pairs among the inputs that a person reads."""
    rows = [
        LabelledText(row["first"], int(not row["follows"]), row["second"])
        for row in reading.inputs()["next"]
    ]
    return [right_share(read_inputs("next"), sentence_pairs(model, tokenizer, rows))]


def own_questions(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure where "no answer" is said, rightly and wrongly, and the questions of the inputs."""
    without, answered = reading.passages(answered=False), reading.passages(answered=True)
    asked = reading.inputs()["question"]
    others = [Question(row["question"], row["passage"], None) for row in asked]
    read = read_questions(model, tokenizer, [*without, *answered, *others])
    said = ["" if not each.answered() else each.text for each in read]
    none, some, rest = (
        said[: len(without)],
        said[len(without) : -len(others)],
        said[-len(others) :],
    )
    right = [
        normalized(text) in {normalized(good) for good in row.get("good") or [""]}
        for text, row in zip(rest, asked, strict=True)
    ]
    return [
        counted(ADMITTED, sum(not text for text in none), len(none)),
        counted(REFUSED, sum(not text for text in some), len(some)),
        _of_inputs("question", right),
    ]


def own_names(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure people of many countries, and the names of the inputs, whole sentences of them."""
    counts = entity_counts(model, tokenizer, reading.people())
    rows = [reading.bracketed(row["text"]) for row in reading.inputs()["names"]]
    right = [
        int(good) == int(found) == int(wanted)
        for good, found, wanted in entity_counts(model, tokenizer, rows)
    ]
    return [
        resampled(PEOPLE, counts, span_f1, cases=int(counts[:, 2].sum())),
        _of_inputs("names", right),
    ]


def own_sentiment(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure negations, the reviews that are kept back, and the inputs."""
    inputs = [
        LabelledText(row["text"], int(row["positive"])) for row in reading.inputs()["sentiment"]
    ]
    measured = (
        (REVIEWS, reviews(data, kept_apart=True)),
        (NEGATIONS, reading.negations()),
        (read_inputs("sentiment"), inputs),
    )
    return [right_share(aim, texts(model, tokenizer, rows)) for aim, rows in measured]


def all_inputs(figures: Iterable[Figure]) -> list[Figure]:
    """Add up the inputs of all kinds, if all were measured."""
    kinds = [figure for figure in figures if figure.task.startswith(READ.task)]
    if len(kinds) < len(reading.inputs()):
        return []
    right = sum(round(figure.share * figure.cases) for figure in kinds)
    return [counted(READ, right, sum(figure.cases for figure in kinds))]


def _of_inputs(kind: str, right: Sequence[bool]) -> Figure:
    return counted(read_inputs(kind), sum(right), len(right))

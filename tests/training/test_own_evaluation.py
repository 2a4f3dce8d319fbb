"""Our own evaluation sentences: how many, how they count, and that training leaves them out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from bert_core.bundled.figures import Figure
from bert_core.finetuning import Question
from bert_core.model.heads import (
    BertForPreTraining,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.text.tokenizer import BertTokenizer
from training import own_evaluation
from training.aims import ADMITTED, NEGATIONS, PEOPLE, READ, REFUSED, REVIEWS
from training.own_evaluation import (
    all_inputs,
    filled_inputs,
    neighbour_inputs,
    own_names,
    own_questions,
    own_sentiment,
)
from training.rows import TAGS, reviews
from training.tasks import TaskRows
from training.written import reading
from training.written.near import is_near


@dataclass(frozen=True, slots=True)
class Said:
    """What a reader says of a question; "" for no answer."""

    text: str

    def answered(self) -> bool:
        return bool(self.text)


class Knowing:
    """Reads every question right, or always says the same."""

    def __init__(self, always: str | None = None) -> None:
        self.always = always
        self.known = {
            (row.question, row.context): row.answer or ""
            for answered in (True, False)
            for row in reading.passages(answered=answered)
        }
        for row in reading.inputs()["question"]:
            self.known[row["question"], row["passage"]] = (row["good"] or [""])[0]

    def __call__(self, model: object, tokenizer: object, rows: Sequence[Question]) -> list[Said]:
        right = [self.known[row.question, row.context] for row in rows]
        return [Said(text if self.always is None else self.always) for text in right]


def by_aim(figures: Sequence[Figure]) -> dict[tuple[str, str], Figure]:
    return {(figure.task, figure.measured_on): figure for figure in figures}


def test_no_answer_counts_where_the_passage_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for always, admitted, refused in ((None, 1.0, 0.0), ("", 1.0, 1.0), ("Rome", 0.0, 0.0)):
        monkeypatch.setattr(own_evaluation, "read_questions", Knowing(always))
        first, second, inputs = own_questions(None, None, Path())  # type: ignore[arg-type]
        assert (first.task, first.share, first.cases) == (ADMITTED.task, admitted, 40)
        assert (second.task, second.share, second.cases) == (REFUSED.task, refused, 40)
        assert second.lower_is_better
        without = sum(not row["good"] for row in reading.inputs()["question"])
        wanted = {None: 1.0, "": without / inputs.cases, "Rome": 0.0}[always]
        assert inputs.share == pytest.approx(wanted)


def test_a_model_that_always_praises_is_right_where_praise_is_wanted(
    encoder: Path, tokenizer: BertTokenizer, task_data: Path
) -> None:
    model = BertForSequenceClassification.from_pretrained(encoder).eval()
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([-1e4, 1e4]))
    found = by_aim(own_sentiment(model, tokenizer, task_data))
    negations = found[NEGATIONS.task, NEGATIONS.measured_on]
    assert (negations.share, negations.cases) == (0.5, 40)
    kept = reviews(task_data, kept_apart=True)
    assert found[REVIEWS.task, REVIEWS.measured_on].cases == len(kept) > 0


def test_all_inputs_together_are_a_hundred_and_twenty(
    encoder: Path, tokenizer: BertTokenizer, task_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = BertForPreTraining.from_pretrained(encoder).eval()
    tagger = BertForTokenClassification.from_pretrained(encoder, num_labels=len(TAGS)).eval()
    tagger.config.id2label = dict(enumerate(TAGS))
    with torch.no_grad():
        model.cls.seq_relationship.bias.copy_(torch.tensor([1e4, -1e4]))  # all follow
        tagger.classifier.bias[TAGS.index("O")] = 1e4  # no names at all
    monkeypatch.setattr(own_evaluation, "read_questions", Knowing())
    sentiment = BertForSequenceClassification.from_pretrained(encoder).eval()
    figures = [
        *filled_inputs(model, tokenizer, task_data),
        *neighbour_inputs(model, tokenizer, task_data),
        *own_questions(None, None, task_data)[-1:],  # type: ignore[arg-type]
        *own_sentiment(sentiment, tokenizer, task_data),
    ]
    assert all_inputs(figures) == []  # the names are missing
    people, names = own_names(tagger, tokenizer, task_data)
    assert (people.measured_on, people.share, people.floor) == (PEOPLE.measured_on, 0.0, 0.90)
    without = sum("[" not in row["text"] for row in reading.inputs()["names"])
    assert names.share == pytest.approx(without / names.cases)
    [whole] = all_inputs([*figures, names])
    assert (whole.task, whole.cases) == (READ.task, 120)
    kinds = [f for f in [*figures, names] if f.task.startswith(READ.task)]
    assert round(whole.share * 120) == sum(round(f.share * f.cases) for f in kinds)
    follows = [row["follows"] for row in reading.inputs()["next"]]
    assert by_aim(figures)[f"{READ.task}, next", READ.measured_on].share == pytest.approx(
        sum(follows) / len(follows)
    )


def test_nothing_that_is_trained_on_comes_near_what_is_measured(task_data: Path) -> None:
    rows = TaskRows.read(task_data, 1, made=400)
    texts = [
        *(row.typed.text for row in rows.feelings),
        *(row.question for row in (*rows.made_questions, *rows.unanswered)),
        *(" ".join(row.words) for row in rows.made_tags),
    ]
    assert len(texts) > 800
    assert not any(map(is_near, texts))

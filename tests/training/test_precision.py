"""What bfloat16 costs is measured on every task, and found where it is put."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core import BertForPreTraining, BertForQuestionAnswering, BertTokenizer
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from tests.conftest import save_head
from training import precision
from training.__main__ import main
from training.evaluation import TASKS
from training.precision import COMPARISONS, Both, Loss, differences, losses, sample
from training.rows import TAGS

HEADS = {
    BertForQuestionAnswering: {},
    BertForTokenClassification: dict(enumerate(TAGS)),
    BertForSequenceClassification: {0: "negative", 1: "positive"},
    BertForMultipleChoice: {},
}


@pytest.fixture
def model(encoder: Path, tmp_path: Path) -> Path:
    """A tiny model with random heads for every task."""
    folder = tmp_path / "every-head"
    torch.manual_seed(0)
    base = BertForPreTraining.from_pretrained(encoder)
    base.save_pretrained(folder)
    BertTokenizer.from_pretrained(encoder).save_pretrained(folder)
    for cls, labels in HEADS.items():
        base.config.id2label = labels
        head: BertPreTrainedModel = cls.from_model(base)
        save_head(folder, head)
    return folder


def test_every_head_is_compared() -> None:
    compared = [task for task in TASKS if task.name in COMPARISONS]
    assert len(compared) == len(COMPARISONS)
    assert {(task.cls, task.head) for task in compared} == {(t.cls, t.head) for t in TASKS}


def test_every_task_is_measured_on_evenly_spaced_rows(model: Path, task_data: Path) -> None:
    said: list[str] = []
    found = {each.task: each for each in losses(model, task_data, "bfloat16", 4, said.append)}
    assert said == []
    assert {name: each.cases for name, each in found.items() if not name.startswith("masked")} == {
        "everyday gap, among first five": 4,
        "next sentence, random": 4,
        "next sentence, swapped": 4,
        "question answering, exact match": 4,
        "question answering, F1": 4,
        "question answering, has an answer or not": 8,
        "named entities, F1 of spans": 28,
        "sentiment": 4,
        **{f"multiple choice, {name}": 4 for name in ("nextsentence", "openstax", "codah", "copa")},
    }
    assert all(0 <= each.exact <= 1 and 0 <= each.narrow <= 1 for each in found.values())


def test_the_same_type_costs_nothing(model: Path, task_data: Path) -> None:
    for each in losses(model, task_data, "float32", 3):
        assert each.exact == each.narrow
        assert each.changed == 0
    assert all(each.largest == each.mean == 0 < each.size
               for each in differences(model, task_data, "float32"))  # fmt: skip


def test_another_answer_counts_as_changed_even_if_as_many_are_right(
    model: Path, task_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = precision._load

    def turned(*arguments: object) -> Both:
        both = load(*arguments)  # type: ignore[arg-type]
        if isinstance(both.narrow, BertForSequenceClassification):
            with torch.no_grad():
                both.exact.classifier.bias.copy_(torch.tensor([9.0, 0.0]))
                both.narrow.classifier.bias.copy_(torch.tensor([0.0, 9.0]))
        return both

    monkeypatch.setattr(precision, "_load", turned)
    found = {each.task: each for each in losses(model, task_data, "bfloat16", 8)}
    assert found["sentiment"] == Loss("sentiment", 8, 0.5, 0.5, 1.0)


def test_outputs_differ_by_a_few_roundings(model: Path, task_data: Path) -> None:
    first, last, attentions = differences(model, task_data, "bfloat16")
    assert 0 < first.mean < first.largest < 2**-6 * first.size
    assert first.mean < last.mean < 2**-6 * last.size
    assert 0 < attentions.mean < attentions.largest < 0.02


def test_the_command_prints_both_tables(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "words"
    BertForPreTraining.from_pretrained(encoder).save_pretrained(folder)
    BertTokenizer.from_pretrained(encoder).save_pretrained(folder)
    arguments = ["--model", str(folder), "--data", str(data), "--dtype", "float16", "--rows", "2"]
    assert main(["precision", *arguments]) == 0
    printed = capsys.readouterr()
    assert "| task | cases | float32 | float16 | other answer |" in printed.out
    assert "| next sentence, random | 2 |" in printed.out
    assert "| attention probabilities |" in printed.out
    assert "named entities: the model has no trained head for it" in printed.err


def test_a_sample_is_spread_over_all_rows() -> None:
    assert sample(list(range(5)), 9) == [0, 1, 2, 3, 4]
    assert sample([], 3) == []
    assert np.diff(sample(range(1000), 300)).max() <= 4

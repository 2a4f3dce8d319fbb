"""Shares, intervals and batches of like length."""

import numpy as np
import pytest
import torch

from bert_core import BertModel
from bert_core.config import BertConfig
from bert_core.errors import InputError
from training.aims import Aim
from training.scores import Remembered, by_group, counted, mean, resampled, share, wilson

AIM = Aim("a task", "a file", "right answers", floor=0.4)
CPU = torch.device("cpu")


def test_intervals_hold_the_share_and_shrink_with_the_cases() -> None:
    low, high = wilson(0, 10)
    assert low == 0.0
    assert 0.2 < high < 0.35
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    narrow, wide = wilson(500, 1000), wilson(5, 10)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]
    with pytest.raises(InputError, match="no cases"):
        wilson(0, 0)


def test_counted_cases_become_a_figure() -> None:
    figure = counted(AIM, 1234, 2000)
    assert (figure.task, figure.share, figure.cases, figure.floor) == ("a task", 0.617, 2000, 0.4)
    assert (round(figure.low, 3), round(figure.high, 3)) == (0.595, 0.638)


def test_resampling_gives_about_the_normal_interval() -> None:
    rows = np.array([1.0] * 60 + [0.0] * 40)
    figure = resampled(AIM, rows, mean, cases=7)
    assert (figure.share, figure.cases) == (0.6, 7)
    assert figure.low == pytest.approx(0.6 - 1.96 * np.sqrt(0.24 / 100), abs=0.03)
    assert figure.high == pytest.approx(0.6 + 1.96 * np.sqrt(0.24 / 100), abs=0.03)
    with pytest.raises(InputError, match="no cases"):
        resampled(AIM, np.zeros(0), mean)


def test_cases_of_one_text_are_resampled_together() -> None:
    right = [1.0] * 30 + [0.0] * 20  # five texts of ten cases: three all right, two all wrong
    rows = by_group(right, [case // 10 for case in range(50)])
    assert rows.tolist() == [[10, 10]] * 3 + [[0, 10]] * 2
    texts = resampled(AIM, rows, share, cases=50)
    cases = resampled(AIM, np.array(right), mean)
    assert (texts.share, texts.cases) == (0.6, 50) and cases.share == 0.6
    assert texts.high - texts.low > 2 * (cases.high - cases.low)


def test_no_question_is_asked_twice_unless_the_model_changed() -> None:
    config = BertConfig(
        9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    model, asked = BertModel(config), list[int]()

    def ask(rows: list[int]) -> list[int]:
        asked.extend(rows)
        return [10 * row for row in rows]

    memory: Remembered[int, int] = Remembered()
    assert memory.answers(model, [1, 2, 1], ask) == [10, 20, 10]
    assert memory.answers(model, [2, 3], ask) == [20, 30]
    assert asked == [1, 2, 3]
    memory.answers(BertModel(config), [1], ask)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.add_(1.0)
    memory.answers(model, [3], ask)
    assert asked == [1, 2, 3, 1, 3]

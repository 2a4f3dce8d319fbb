"""Shares and intervals."""

import numpy as np
import pytest

from bert_core.errors import InputError
from training.scores import Aim, Floats, aim, by_group, resampled, share, wilson

AIM = Aim("a task", "a file", "right answers", floor=0.4)


def mean(rows: Floats) -> float:
    return float(rows.mean())


def test_intervals_hold_the_share_and_shrink_with_the_cases() -> None:
    low, high = wilson(0, 10)
    assert low == 0.0
    assert 0.2 < high < 0.35
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    narrow, wide = wilson(500, 1000), wilson(5, 10)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]
    with pytest.raises(InputError, match="no cases"):
        wilson(0, 0)


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


def test_everything_that_is_measured_has_an_aim() -> None:
    figure = aim("sentiment", "SST-2 test")
    assert (figure.floor, figure.goal, figure.lower_is_better) == (0.89, 0.92, False)
    assert aim("bias, occupations that lean to he").lower_is_better
    with pytest.raises(StopIteration):
        aim("juggling")

"""Budgets and learning rates."""

import pytest

from bert_core.errors import InputError
from bert_core.finetuning import Budget, linear_decay


def test_progress_follows_steps_or_minutes_and_stops_at_one() -> None:
    assert [Budget(steps=4).progress(step, 1e9) for step in (0, 1, 4, 9)] == [0.0, 0.25, 1.0, 1.0]
    assert [Budget(minutes=2.0).progress(7, s) for s in (0.0, 30.0, 500.0)] == [0.0, 0.25, 1.0]


def test_the_rate_rises_to_the_peak_and_falls_to_zero() -> None:
    factors = [linear_decay(step, step / 100, 10) for step in range(101)]
    assert factors[0] == pytest.approx(0.1)
    assert max(factors) == factors[9]
    assert factors[9:] == sorted(factors[9:], reverse=True)
    assert factors[-1] == 0.0
    assert linear_decay(0, 0.0, 0) == 1.0


@pytest.mark.parametrize(
    ("steps", "minutes"), [(None, None), (5, 5.0), (0, None), (-3, None), (None, 0.0)]
)
def test_a_budget_is_exactly_one_positive_number(steps: int | None, minutes: float | None) -> None:
    with pytest.raises(InputError, match="exactly one"):
        Budget(steps=steps, minutes=minutes)

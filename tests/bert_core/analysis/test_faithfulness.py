"""Curves of faithfulness, against selections computed one by one."""

import numpy as np
import pytest

from bert_core.analysis import METHODS, Target, attribute, compare_methods, faithfulness
from bert_core.analysis.masking import masked_values
from bert_core.errors import InputError

TARGET = Target.token(3, 7)
ORDER = [5, 1, 9, 2, 8, 4, 6]


@pytest.mark.parametrize("operator", ["mask", "attention"])
def test_curves_hide_tokens_in_order(words, pair, operator):
    found = faithfulness(words, pair, TARGET, ORDER, operator=operator)

    def probability(hidden: list[int]) -> float:
        row = np.zeros((1, len(pair)), dtype=bool)
        row[0, hidden] = True
        return float(np.exp(masked_values(words, pair, TARGET, row, operator=operator))[0])

    counts = [0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7]  # 0.7, 1.4 ... of seven tokens, rounded
    deletion = [probability(ORDER[:count]) for count in counts]
    insertion = [probability(ORDER[count:]) for count in counts]
    np.testing.assert_allclose(found.deletion, deletion, rtol=1e-4)
    np.testing.assert_allclose(found.insertion, insertion, rtol=1e-4)
    assert found.deletion[0] == found.insertion[-1]
    assert found.deletion[-1] == found.insertion[0]
    fall = deletion[0] - np.mean(deletion[1:6])
    assert found.comprehensiveness == pytest.approx(fall, abs=1e-5)
    assert found.sufficiency == pytest.approx(deletion[0] - np.mean(insertion[1:6]), abs=1e-5)


def test_the_most_important_token_first_is_better_than_last(words, pair):
    best = attribute(words, pair, TARGET, method="shapley").order
    good, bad = (faithfulness(words, pair, TARGET, each) for each in (best, best[::-1]))
    assert good.comprehensiveness > bad.comprehensiveness
    assert good.sufficiency < bad.sufficiency
    assert good.comprehensiveness > good.random.comprehensiveness.mean


def test_a_comparison_gives_what_each_method_gives_alone(words, pair):
    found = compare_methods(words, pair, TARGET)
    assert list(found) == list(METHODS)
    for method, each in found.items():
        alone = attribute(words, pair, TARGET, method=method)
        np.testing.assert_allclose(each.attribution.scores, alone.scores, atol=1e-5)
        curves = faithfulness(words, pair, TARGET, alone.order)
        np.testing.assert_allclose(each.faithfulness.deletion, curves.deletion, rtol=1e-4)
        assert each.faithfulness.comprehensiveness == pytest.approx(
            curves.comprehensiveness, abs=1e-5
        )


def test_orders_must_name_every_free_token_once(words, pair):
    for order in (ORDER[1:], [*ORDER, 3], [1] * 7):
        with pytest.raises(InputError, match="expected each free token once"):
            faithfulness(words, pair, TARGET, order)

"""The tables of the model card."""

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Estimate, Leaning
from training.tables import bias_table, figure_table, meanings, reached

FIGURES = (
    Figure("a", "b", 0.617, 0.595, 0.638, 2000, "right", floor=0.62, goal=0.61),
    Figure("choice", "c", 0.31, 0.26, 0.38, 200, "chosen", 0.25, 0.45, chance=0.25),
    Figure("error", "d", 0.03, 0.02, 0.05, 50, "off", 0.04, 0.02, lower_is_better=True),
    Figure("reported", "e", 0.5, 0.4, 0.6, 90, "right"),
)


def test_the_table_shows_cases_intervals_and_what_is_reached() -> None:
    lines = figure_table(FIGURES).splitlines()
    assert lines[2:] == [
        "| a | b | 2,000 | 61.7 % | 59.5–63.8 % | – | 62 %, not reached | 61 %, reached |",
        "| choice | c | 200 | 31.0 % | 26.0–38.0 % | 25 % | clear of chance, reached "
        "| 45 %, not reached |",
        "| error | d | 50 | 3.0 % | 2.0–5.0 % | – | ≤ 4 %, reached | ≤ 2 %, not reached |",
        "| reported | e | 90 | 50.0 % | 40.0–60.0 % | – | – | – |",
    ]
    assert {line.count("|") for line in lines} == {9}


def test_floors_and_goals_are_counted() -> None:
    assert reached(FIGURES) == "Of 3 floors 2 are reached, of 3 goals 1."


def test_each_meaning_is_told_once() -> None:
    assert meanings([*FIGURES, FIGURES[0]]).splitlines()[0] == "- a: right."
    assert len(meanings([*FIGURES, FIGURES[0]]).splitlines()) == 4


def test_the_bias_table_holds_both_ends() -> None:
    odds = [number / 10 for number in range(-10, 11)]
    leanings = tuple(
        Leaning(f"job {value}", Estimate(value, value - 0.1, value + 0.1), value, value)
        for value in odds
    )
    even = Estimate(0.5, 0.4, 0.6)
    bias = Bias(("he", "she"), (), leanings, even, even, 0.0)
    lines = bias_table(bias).splitlines()
    assert len(lines) == 2 + 12
    assert lines[2] == "| job 1.0 | he | 2.7 | +1.00 | +0.90 to +1.10 |"
    assert lines[-1] == "| job -1.0 | she | 2.7 | -1.00 | -1.10 to -0.90 |"
    few = Bias(("he", "she"), (), leanings[:3], even, even, 0.0)
    assert len(bias_table(few).splitlines()) == 2 + 3

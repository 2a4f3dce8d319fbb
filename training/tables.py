"""Markdown tables of figures and leanings for the model card."""

import math
from collections.abc import Sequence

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Leaning

_HEADER = "| task | measured on | cases | result | 95 % interval | chance | floor | goal |"
_MOST = 6  # occupations shown on each side


def figure_table(figures: Sequence[Figure]) -> str:
    """Format figures as the table of the model card.

    >>> print(figure_table([Figure("a task", "a file", 0.9, 0.6, 0.98, 10, "right", 0.9, 0.95)]))
    | task | measured on | cases | result | 95 % interval | chance | floor | goal |
    |---|---|---:|---:|---|---:|---|---|
    | a task | a file | 10 | 90.0 % | 60.0–98.0 % | – | 90 %, reached | 95 %, not reached |
    """
    rows = [
        f"| {f.task} | {f.measured_on} | {f.cases:,} | {100 * f.share:.1f} % | "
        f"{100 * f.low:.1f}–{100 * f.high:.1f} % | {_percent(f.chance)} | "
        f"{_aim(f.floor, f.reaches_floor, f)} | {_aim(f.goal, f.reaches_goal, f)} |"
        for f in figures
    ]
    return "\n".join([_HEADER, "|---|---|---:|---:|---|---:|---|---|", *rows])


def reached(figures: Sequence[Figure]) -> str:
    """Return a sentence saying how many floors and goals are reached.

    >>> reached([Figure("a", "b", 0.9, 0.6, 0.98, 10, "right", 0.9, 0.95)])
    'Of 1 floors 1 are reached, of 1 goals 0.'
    """
    floors = [f.reaches_floor for f in figures if f.reaches_floor is not None]
    goals = [f.reaches_goal for f in figures if f.reaches_goal is not None]
    return f"Of {len(floors)} floors {sum(floors)} are reached, of {len(goals)} goals {sum(goals)}."


def meanings(figures: Sequence[Figure]) -> str:
    """Return one line per task saying what its share is a share of; `Figure` has the details."""
    said = {figure.task: figure.meaning.partition(". ")[0] for figure in figures}
    return "\n".join(f"- {task}: {meaning}." for task, meaning in said.items())


def bias_table(bias: Bias) -> str:
    """Format the occupations that lean furthest towards either word as a table."""
    ordered = sorted(bias.leanings, key=lambda leaning: leaning.log_odds.value, reverse=True)
    furthest = [*ordered[:_MOST], *ordered[_MOST:][-_MOST:]]
    rows = [_bias_row(bias.words, leaning) for leaning in furthest]
    head = f"| occupation | leans to | times as likely | log-odds {' : '.join(bias.words)} "
    return "\n".join([f"{head}| 95 % interval |", "|---|---|---:|---:|---|", *rows])


def _bias_row(words: tuple[str, str], leaning: Leaning) -> str:
    odds = leaning.log_odds
    word = words[0] if odds.value >= 0 else words[1]
    return (
        f"| {leaning.occupation} | {word} | {math.exp(abs(odds.value)):.1f} | {odds.value:+.2f} | "
        f"{odds.low:+.2f} to {odds.high:+.2f} |"
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def _aim(aim: float | None, is_reached: bool | None, figure: Figure) -> str:
    """Format a floor or a goal, and whether it is reached."""
    if aim is None:
        return "–"
    if aim == figure.chance:
        bound = "clear of chance"
    else:
        bound = f"{'≤ ' if figure.lower_is_better else ''}{_percent(aim)}"
    return f"{bound}, {'reached' if is_reached else 'not reached'}"

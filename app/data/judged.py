"""An answer beside what a person says is right, and the report of a whole table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated

from app.data.answering import Guess
from app.data.columns import TaskName
from app.data.gold import Asked
from app.data.judge import (
    Counts,
    Name,
    confusion,
    counts,
    exact_and_f1,
    mcnemar,
    together,
)
from app.records.counted import Reliability, Share, reliability
from bert_core.errors import count

_MANY = 200  # answers from which reliability has ten bins
_NONE_LIKELY = 1e-12  # a probability is not smaller, so that no loss is infinite


@dataclass(frozen=True, slots=True)
class Judged:
    """A row, its answer, and whether that is right."""

    ANSWER = ("number", "texts", "wanted", "answer", "sure", "right", "loss", "score", "error")

    number: Annotated[int, "of the row in the table, counted from 1"]
    texts: Annotated[tuple[str, ...], "the row’s texts, in the order of the parts of the task"]
    wanted: Annotated[str, 'what is right, as a person reads it; ""']
    answer: Annotated[str, "what the model answers"]
    sure: Annotated[float | None, "the probability of the answer; of several the mean"]
    right: Annotated[bool | None, "whether the answer is right; None if that is not known"]
    loss: Annotated[float | None, "minus the logarithm of the probability of what is right"] = None
    score: Annotated[float | None, "F1 of the answer, or of the names of the row"] = None
    error: Annotated[str, 'why there is no answer; ""'] = ""
    names: Annotated[frozenset[Name], "the entities of the answer, with their places"] = frozenset()


def judged(asked: Asked, guess: Guess) -> Judged:
    """Compare an answer with what is right."""
    texts = (*asked.texts.values(), *asked.choices)
    right, loss, score = _compared(asked, guess) if not guess.error else (None, None, None)
    return Judged(
        asked.number, texts, asked.wanted, guess.answer, guess.sure, right, loss, score,
        guess.error, guess.names,
    )  # fmt: skip


def _compared(asked: Asked, guess: Guess) -> tuple[bool | None, float | None, float | None]:
    """Return whether an answer is right, its loss and its F1, as far as they are defined."""
    match asked.gold:
        case None:
            return None, None, None
        case str() | int() as gold:
            wanted = gold if isinstance(gold, str) else asked.choices[gold]
            share = dict(guess.shares).get(wanted, 0.0)
            return guess.answer == wanted, -math.log(max(share, _NONE_LIKELY)), None
        case frozenset() as names:
            both = len(names) + len(guess.names)
            f1 = 2 * len(names & guess.names) / both if both else 1.0
            return names == guess.names, None, f1
    if guess.gaps:
        found = [each for each in guess.wanted if each]
        if len(found) < len(guess.wanted):
            return None, None, None
        losses = [-math.log(max(share, _NONE_LIKELY)) for _, share in found]
        return all(rank == 1 for rank, _ in found), fmean(losses), None
    exact, f1 = exact_and_f1(guess.answer, tuple(str(each) for each in asked.gold))
    return exact, None, f1


def worst_first(rows: Sequence[Judged]) -> list[Judged]:
    """Sort rows: wrong ones, by their loss and then by how sure the model was, before others."""

    def place(row: Judged) -> tuple[float, ...]:
        group = {False: 0, None: 1, True: 2}[row.right]
        sure = row.sure or 0.0
        loss, score = row.loss or 0.0, 1.0 if row.score is None else row.score
        return group, -loss, score, -sure if row.right is False else sure, row.number

    return sorted(rows, key=place)


@dataclass(frozen=True, slots=True)
class Report:
    """What is counted over the rows of a table; what is not defined for a task is None or ()."""

    counted: Annotated[int, "rows with an answer and something to compare it with"]
    right: Annotated[Share | None, "rows that are right; for gaps, gaps; with the 95 % interval"]
    macro_f1: Annotated[float | None, "mean F1 of the labels"] = None
    f1: Annotated[float | None, "mean F1 of answers (SQuAD), or micro F1 of names (seqeval)"] = None
    first_five: Annotated[Share | None, "gaps whose word is among the first five"] = None
    total: Annotated[Counts | None, "all names together"] = None
    labels: Annotated[tuple[Counts, ...], "for each label, or kind of name"] = ()
    confusion: Annotated[
        tuple[tuple[int, ...], ...], "rows by label: a row for each wanted one, in their order"
    ] = ()
    reliability: Annotated[Reliability | None, "how sure the model was, and how often right"] = None


def report(task: TaskName, asked: Sequence[Asked], guesses: Sequence[Guess]) -> Report:
    """Count over all rows that can be compared."""
    every = ((*pair, judged(*pair)) for pair in zip(asked, guesses, strict=True))
    cases = [each for each in every if each[2].right is not None]
    rows = [row for *_, row in cases]
    if not rows:
        return Report(0, None)
    if task == "fill_mask":
        return _of_gaps([guess for _, guess, _ in cases])
    right = [bool(row.right) for row in rows]
    found = Report(len(rows), Share.of(right))
    if task == "ner":
        return _of_names(found, cases)
    sure = [(row.sure or 0.0, each) for row, each in zip(rows, right, strict=True)]
    found = replace(found, reliability=_reliability("answers", sure))
    if task == "qa":
        return replace(found, f1=fmean(row.score or 0.0 for row in rows))
    if task == "multiple_choice":
        return found
    gold, answers = [row.wanted for row in rows], [row.answer for row in rows]
    order = sorted(label for label, _ in cases[0][1].shares)
    labels = counts(({(each,)} for each in gold), ({(each,)} for each in answers), order)
    names = [each.name for each in labels]
    return replace(
        found,
        macro_f1=fmean(each.f1 for each in labels),
        labels=labels,
        confusion=confusion(gold, answers, names),
    )


def _of_names(found: Report, cases: Sequence[tuple[Asked, Guess, Judged]]) -> Report:
    gold = [each.gold if isinstance(each.gold, frozenset) else frozenset() for each, *_ in cases]
    names = [guess.names for _, guess, _ in cases]
    sure = [
        (share, name in wanted)
        for wanted, (_, guess, _) in zip(gold, cases, strict=True)
        for name, (_, share) in zip(
            sorted(guess.names, key=lambda name: name[1:]), guess.shares, strict=True
        )
    ]
    kinds = counts(gold, names)
    total = together(kinds)
    return replace(
        found,
        f1=total.f1,
        total=total,
        labels=kinds,
        reliability=_reliability("entities", sure) if sure else None,
    )


def _of_gaps(guesses: Sequence[Guess]) -> Report:
    gaps = [
        (rank, gap[0][1])
        for guess in guesses
        for gap, (rank, _) in zip(guess.gaps, (each for each in guess.wanted if each), strict=True)
    ]
    return Report(
        len(guesses),
        Share.of([rank == 1 for rank, _ in gaps]),
        first_five=Share.of([rank <= 5 for rank, _ in gaps]),
        reliability=_reliability("gaps", [(share, rank == 1) for rank, share in gaps]),
    )


def _reliability(name: str, answers: Sequence[tuple[float, bool]]) -> Reliability:
    return reliability(name, answers, 10 if len(answers) >= _MANY else 5)


def headline(task: TaskName, found: Report, rows: int) -> str:
    """Say in a sentence or two how much is right of so many rows."""
    if found.right is None:
        return f"{count(rows, 'row')} answered; the table has no right answers to compare with."
    if total := found.total:
        return (
            f"F1 of entities {_percent(found.f1)}: {total.right:,} of {total.wanted:,} entities "
            f"are found, and {total.answered - total.right:,} others are marked. "
            f"{_share(found.right, 'sentences are right as a whole')}."
        )
    if task == "qa":
        exact = _share(found.right, "answers match exactly")
        return f"{exact}. Their mean F1 is {_percent(found.f1)}."
    if five := found.first_five:
        whole = _share(found.right, "gaps get the right word as first guess")
        return f"{whole}. In {_percent(five.right / five.cases)}, it is among the first five."
    macro = f" Macro F1: {_percent(found.macro_f1)}." if found.labels else ""
    left = rows - found.counted
    rest = f" {count(left, 'row')} not counted." if left else ""
    return f"{_share(found.right, 'rows are right')}.{macro}{rest}"


def _share(share: Share, what: str) -> str:
    ends = f"95 % interval {_percent(share.low, 0)} to {_percent(share.high, 0)}"
    return f"{_percent(share.right / share.cases)} of {share.cases:,} {what} ({ends})"


def _percent(share: float | None, digits: int = 1) -> str:
    return f"{100 * (share or 0.0):.{digits}f} %"


@dataclass(frozen=True, slots=True)
class Compared:
    """Two models on the same rows."""

    models: Annotated[tuple[str, str], "their names"]
    rows: Annotated[int, "rows that both answer"]
    same: Annotated[Share, "rows with the same answer: of entities, the same places and kinds"]
    both: Annotated[int, "rows that both have right"]
    first_only: Annotated[int, "rows that only the first has right"]
    second_only: Annotated[int, "rows that only the second has right"]
    neither: Annotated[int, "rows that neither has right"]
    p: Annotated[float | None, "of McNemar’s exact test that both are right equally often"]


def compare(models: tuple[str, str], first: Sequence[Judged], second: Sequence[Judged]) -> Compared:
    """Compare two models row by row."""
    pairs = [(a, b) for a, b in zip(first, second, strict=False) if not a.error and not b.error]
    known = [(a.right, b.right) for a, b in pairs if a.right is not None and b.right is not None]
    only = known.count((True, False)), known.count((False, True))
    return Compared(
        models=models,
        rows=len(pairs),
        same=Share.of([(a.answer, a.names) == (b.answer, b.names) for a, b in pairs]),
        both=known.count((True, True)),
        first_only=only[0],
        second_only=only[1],
        neither=known.count((False, False)),
        p=mcnemar(*only) if known else None,
    )

"""Rows in batches: each is answered as the task for one row answers it; what was answered stays."""

from collections.abc import Sequence

import pytest

from app.data.answering import AT_ONCE, Guess, answer_rows
from app.data.columns import TaskName, guess
from app.data.from_json import guess_of
from app.data.gold import Asked
from app.data.judged import judged
from app.data.samples import sample
from app.data.tables import read_pasted
from app.data.work import prepared
from app.declared import declared
from app.declared.answers import answer, engine_of
from app.engine.compute.visitor import LimitError
from app.engine.models import Engine
from app.faces.paper.answers import record

SAME = 1e-5


CASES: list[tuple[str, TaskName]] = [
    ("reviews", "classification"),
    ("pairs", "next_sentence"),
    ("names", "ner"),
    ("questions", "qa"),
    ("gaps", "fill_mask"),
    ("choices", "multiple_choice"),
]


@pytest.mark.parametrize(("name", "task"), CASES, ids=[task for _, task in CASES])
def test_a_row_of_a_batch_is_answered_as_one_alone(name: str, task: TaskName) -> None:
    engine, table = engine_of(""), sample(name)
    work = prepared(engine, table, task, guess(task, table.columns))
    rows = work.asked[-5:]  # of several lengths
    for row, each in zip(rows, answer_rows(engine, task, rows), strict=True):
        given: dict[str, object] = dict(row.texts)
        if row.choices:
            given["choices"] = list(row.choices)
        alone = guess_of(task, record(answer(declared(task), engine, given)), row)
        assert (each.answer, each.names) == (alone.answer, alone.names)
        assert each.sure == pytest.approx(alone.sure, abs=SAME) or alone.sure is None
        for one, other in ((each.shares, alone.shares), *zip(each.gaps, alone.gaps, strict=True)):
            if task != "fill_mask" or one is not each.shares:
                assert [word for word, _ in one] == [word for word, _ in other]
                assert [share for _, share in one] == pytest.approx(
                    [share for _, share in other], abs=SAME
                )
        assert judged(row, each).right == judged(row, alone).right


def asked(*texts: str) -> list[Asked]:
    return [Asked(number, {"text": text}) for number, text in enumerate(texts, start=1)]


def test_a_row_that_cannot_be_answered_does_not_keep_the_others_from_it(
    tiny_engine: Engine,
) -> None:
    found = answer_rows(tiny_engine, "classification", asked("the cat", "\u200b", "a dog"))
    assert [bool(each.error) for each in found] == [False, True, False]
    assert "without a piece" in found[1].error
    alone = answer_rows(tiny_engine, "classification", asked("a dog"))
    assert found[2].sure == pytest.approx(alone[0].sure, abs=SAME)


def test_a_text_that_is_too_long_is_cut_or_refused_by_name(tiny_engine: Engine) -> None:
    long = "the cat sat " * 40
    assert not answer_rows(tiny_engine, "classification", asked(long))[0].error
    (gap,) = answer_rows(tiny_engine, "fill_mask", asked(f"{long}[MASK]"))
    assert "reads at most" in gap.error


def test_what_was_answered_stays_when_the_budget_is_used_up(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "text,label\n" + "".join(f"the cat {n},good\n" for n in range(2 * AT_ONCE + 5))
    table = read_pasted(text, most=500)
    work = prepared(tiny_engine, table, "classification", guess("classification", table.columns))
    calls = 0

    def limited(engine: Engine, task: TaskName, rows: Sequence[Asked]) -> list[Guess]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise LimitError("Used up. Wait 7 seconds.", 7)
        return answer_rows(engine, task, rows)

    monkeypatch.setattr("app.data.work.answer_rows", limited)
    with pytest.raises(LimitError):
        list(work.answer(tiny_engine))
    assert len(work.guesses) == 2 * AT_ONCE and work.left == 5
    assert list(work.answer(tiny_engine)) == [2 * AT_ONCE + 5] and not work.left

"""Many questions about one passage, and the answers that are wanted."""

import pytest

from app.engine.models import Engine
from app.features.qa import view_lines
from app.features.qa.task import qa
from app.features.qa.task_lines import qa_lines
from bert_core.errors import InputError

PASSAGE = "the cat sat on the mat. a dog played by the river bank."


def test_many_questions_get_the_answers_of_single_ones(tiny_engine: Engine) -> None:
    questions = ["the cat", "a dog", "the river bank"]
    told: list[tuple[int, int]] = []
    result = qa_lines(
        tiny_engine, PASSAGE, "\n\n".join(questions), longest=4,
        progress=lambda *step: told.append(step),
    )  # fmt: skip
    assert told[-1] == (3, 3)
    for row, question in zip(result.rows, questions, strict=True):
        alone = qa(tiny_engine, PASSAGE, question, longest=4)
        assert (row.question, row.best) == (question, alone.answers[0].text)
        assert row.answer == (row.best if alone.answered else "")
        assert row.probability == pytest.approx(alone.probability, abs=1e-5)
        assert row.no_answer == pytest.approx(alone.null_probability, abs=1e-5)
    assert (result.f1, result.share.cases) == (None, 0)
    assert "3 questions; for" in view_lines.summary(result)


def test_answers_are_compared_by_the_rules_of_squad(tiny_engine: Engine) -> None:
    best = qa_lines(tiny_engine, PASSAGE, "the cat", threshold=15.0).rows[0].answer
    lines = f"the cat | The {best}!\nthe cat\tno | {best}\nthe cat | {best} xyz\nthe cat | -\na dog"
    result = qa_lines(tiny_engine, PASSAGE, lines, threshold=15.0)
    assert [row.exact for row in result.rows] == [True, True, False, False, None]
    words = len([word for word in best.lower().split() if word not in {"a", "the"}])
    f1 = [1.0, 1.0, 2 * words / (2 * words + 1), 0.0]
    assert [row.f1 for row in result.rows[:4]] == pytest.approx(f1)
    assert result.f1 == pytest.approx(sum(f1) / 4)
    none = qa_lines(tiny_engine, PASSAGE, lines, threshold=-15.0)
    assert [row.exact for row in none.rows] == [False, False, False, True, None]
    table = view_lines.questions_table(none)
    assert set(table["answer"]) == {"(no answer)"} and table["best span"][0] == best
    said = view_lines.summary(result)
    assert "50.0 % of the answers are right: 2 of 4" in said
    assert "Without a wanted answer: 1 question." in said


@pytest.mark.parametrize(
    ("passage", "questions", "told"),
    [
        (PASSAGE, "", "Found 0 questions; expected 1 to 500"),
        (PASSAGE, "a?\n" * 501, "Found 501 questions"),
        (PASSAGE, "a?\n | cat", "Line 2 has no question"),
        ("", "a?", "passage has no text"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(
    tiny_engine: Engine, passage: str, questions: str, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        qa_lines(tiny_engine, passage, questions)

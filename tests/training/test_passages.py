"""Questions without an answer: about made passages, and with the answer's sentence taken out."""

from pathlib import Path

from bert_core.finetuning import Question
from training.passages import made_questions
from training.rows import reviews, without_answer


def test_half_of_the_made_questions_are_answered_where_they_say(task_data: Path) -> None:
    rows = made_questions(task_data, 400, seed=3)
    answered = [row for row in rows if row.answer is not None]
    assert len(answered) == 200
    for row in answered:
        assert row.answer and row.answer_start is not None
        assert row.context[row.answer_start :].startswith(row.answer)
        assert row.context.lower().count(row.answer.lower()) == 1
    assert made_questions(task_data, 400, seed=3) == rows != made_questions(task_data, 400, seed=4)


def test_a_wording_alone_does_not_tell_whether_there_is_an_answer(task_data: Path) -> None:
    rows = made_questions(task_data, 8_000, seed=1)
    for begin in ("How old is", "When was", "Who is", "How many people", "Where does"):
        shares = [row.answer is not None for row in rows if row.question.startswith(begin)]
        assert len(shares) > 25, begin
        assert 0.3 < sum(shares) / len(shares) < 0.75, begin


def test_a_made_question_without_an_answer_names_a_person_of_the_passage(task_data: Path) -> None:
    rows = [row for row in made_questions(task_data, 600, seed=2) if row.answer is None]
    for row in rows:
        words = {word.strip("?.,").removesuffix("'s").lower() for word in row.question.split()}
        said = {word.strip("?.,").removesuffix("'s").lower() for word in row.context.split()}
        assert words & said, row
    ages = [row for row in rows if row.question.startswith("How old is")]
    assert ages
    for row in ages:
        name = row.question.removeprefix("How old is ").rstrip("?")
        assert not any(name in one and "years old" in one for one in row.context.split(". ")), row


def test_the_sentence_with_the_answer_is_taken_out() -> None:
    passage = "Ada slept. The mill was built by Bo in 1901. Nobody lives there. Rain fell."
    rows = [
        Question("Who built the mill?", passage, "Bo", passage.index("Bo")),
        Question("Who slept?", "Ada slept. Bo did not.", "Ada", 0),  # one sentence would be left
    ]
    [made] = without_answer(rows, 5, seed=1)
    assert made == Question(
        "Who built the mill?", "Ada slept. Nobody lives there. Rain fell.", None
    )
    again = Question("Who slept?", "Ada slept. Ada woke. So did Ada. It rained. It snowed.", "Ada")
    assert without_answer([again], 5, seed=1) == []  # what is left would be another passage


def test_a_tenth_of_the_reviews_is_held_out_with_all_its_copies(task_data: Path) -> None:
    path = task_data / "sentiment" / "train.tsv"
    lines = [f"Number {n} is good{end}\t1\tshop" for n in range(600) for end in (".", "!")]
    path.write_text("\n".join(["sentence\tlabel\tsource", *lines]) + "\n", encoding="utf-8")
    trained, measured = reviews(task_data), reviews(task_data, kept_apart=True)
    assert len(trained) + len(measured) == 1_200
    assert 80 < len(measured) < 160
    plain = [{row.text.rstrip(".!") for row in rows} for rows in (trained, measured)]
    assert plain[0].isdisjoint(plain[1])

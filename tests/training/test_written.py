"""The evaluation sentences of our own: complete, distinct, and recognised when one comes near."""

import pytest

from training.famous import FAMOUS
from training.gaps import GAPS
from training.rows import TAGS
from training.written import reading
from training.written.near import evaluated, is_near


def test_negations_are_forty_and_half_of_them_praise() -> None:
    rows = reading.negations()
    assert len({row.text for row in rows}) == 40
    assert sum(int(row.label) for row in rows) == 20


def test_every_passage_has_as_many_questions_that_it_answers_as_it_does_not() -> None:
    answered, unanswered = (reading.passages(answered=each) for each in (True, False))
    assert len(answered) == len(unanswered) == 40
    assert {row.context for row in answered} == {row.context for row in unanswered}
    assert all(row.answer for row in answered)
    assert not any(row.answer for row in unanswered)


def test_people_are_forty_sentences_some_without_a_person_or_any_name() -> None:
    rows = reading.people()
    kinds = [{TAGS[tag][2:] for tag in row.tags if tag} for row in rows]
    assert len(rows) == 40
    assert sum(not each for each in kinds) >= 5
    assert sum(bool(each) and "PER" not in each for each in kinds) >= 3
    assert set().union(*kinds) == {"PER", "LOC", "ORG"}


def test_titles_are_outside_a_name_and_apostrophes_and_initials_inside() -> None:
    row = reading.bracketed("Prof. [PER J. O'Hara-Smith] saw [ORG Air Canada]'s boss.")
    inside = [word for word, tag in zip(row.words, row.tags, strict=True) if tag]
    assert inside == ["J", ".", "O", "'", "Hara", "-", "Smith", "Air", "Canada"]


def test_a_person_reads_a_hundred_and_twenty_inputs_none_of_them_asked_before() -> None:
    asked = reading.inputs()
    assert sum(map(len, asked.values())) == 120
    before = {gap.sentence.lower() for gap in (*FAMOUS, *GAPS)}
    gaps = [row for kind in ("gap", "proverb", "famous") for row in asked[kind]]
    assert all(row["text"].count("[MASK]") == 1 and row["good"] for row in gaps)
    assert not before & {row["text"].lower() for row in gaps}
    for row in asked["question"]:
        assert all(good in row["passage"] for good in row["good"][:1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have never regretted buying this kettle!", True),
        ("I have never regretted buying this lamp.", True),
        ("I had never regretted buying this lamp.", False),
        ("to be or not to ask", True),
    ],
)
def test_a_sentence_that_differs_in_one_word_is_near(text: str, expected: bool) -> None:
    assert is_near(text) is expected


def test_every_evaluation_sentence_is_near_itself() -> None:
    assert all(is_near(text) for text in evaluated())

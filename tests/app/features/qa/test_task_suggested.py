"""Suggested questions: made by rules from what a passage says, and never those already asked."""

import pytest

from app.catalog import examples
from app.features.qa.task_suggested import suggested


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("The crossing lasted only forty minutes.", "How long did the crossing last?"),
        ("It took 3 hours to get there.", "How long did it take?"),
        ("Tom was waiting outside, because his car broke.", "Why was Tom waiting outside?"),
        ("The stone bridge was built in 1902.", "When was the stone bridge built?"),
        ("The old tower is 43 metres high.", "How high is the old tower?"),
        ("Anna Weiss was standing at the door.", "Where was Anna Weiss?"),
        ("There are 219 steps.", "How many steps?"),
        ("In 1902 a flood came.", "What happened in 1902?"),
        ("It rained on Monday.", "What happened on Monday?"),
        ("The engineer Clara Dunn drew it.", "Who or what is Clara Dunn?"),
        ("Tom, a baker, left.", "Who or what is Tom?"),
        ("Clara Novak was born in Prague.", "Where was Clara Novak born?"),
        ("it rains", "What is this text about?"),
        ("", "What is this text about?"),
    ],
)
def test_a_question_is_made_of_what_the_passage_says(passage: str, question: str) -> None:
    assert suggested(passage, "")[0] == question


@pytest.mark.parametrize(
    "passage",
    [
        "We saw the University of Leeds.",  # a part of a name
        "He met the old New University of Leeds.",
        "The Queen of England lived in London.",
        "A letter came from Clara Dunn.",  # nothing says who that is
        "The old bridge was built by Clara Dunn.",  # nor when
    ],
)
def test_nothing_is_asked_that_the_passage_does_not_answer(passage: str) -> None:
    assert suggested(passage, "") == ("What is this text about?",)


@pytest.mark.parametrize("passage", ["Then was waiting at the door.", "It was on Monday. x Monday"])
def test_what_only_looks_like_a_name_is_not_asked_for(passage: str) -> None:
    assert not any("Then" in each or "Who" in each for each in suggested(passage, "", 9))


def test_each_rule_comes_once_before_any_comes_twice() -> None:
    passage = "There were 3 cats and 4 dogs. It rained on Monday and on Friday."
    assert suggested(passage, "", 4) == (
        "How many cats?",
        "What happened on Monday?",
        "How many dogs?",
        "What happened on Friday?",
    )


def test_questions_already_asked_and_long_ones_are_left_out() -> None:
    passage = "There were 3 cats. Tom was " + "waiting near " * 5 + "here, because it rained."
    assert suggested(passage, "", 5) == ("How many cats?", "What is this text about?")
    assert suggested(passage, "Who?\nHow many cats?") == ("What is this text about?",)
    assert suggested(passage, "", 1) == ("How many cats?",)


@pytest.mark.parametrize("example", examples("qa"), ids=lambda row: row.label)
def test_every_example_gets_suggestions_that_fit_a_line(example) -> None:
    found = suggested(str(example.values["text"]), str(example.values["question"]))
    assert 1 <= len(found) <= 2 and all(len(each) <= 50 and each[-1] == "?" for each in found)


def test_a_long_hostile_text_takes_no_time(nasty: str) -> None:
    text = (nasty + " The a b c was The was ") * 400
    assert all(each.endswith("?") for each in suggested(text, ""))
    assert suggested("The " + "a " * 100_000, "") == ("What is this text about?",)

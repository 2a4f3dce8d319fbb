"""Sentences by rule: where they begin, and that hostile texts cost nothing."""

import pytest

from bert_core.reading.sentences import sentence_starts, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. It pours.", ["It rains.", "It pours."]),
        ("Really? Yes! Good.", ["Really?", "Yes!", "Good."]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("Mr. Fox met Dr. J. Hare.", ["Mr. Fox met Dr. J. Hare."]),
        (
            "It costs 3.50 euros. (Not much.) Fine.",
            ["It costs 3.50 euros.", "(Not much.)", "Fine."],
        ),
        ("No full stop here", ["No full stop here"]),
        ("   ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_splitting_loses_no_word() -> None:
    text = "Ada wrote to Mr. Bell in 1843. He answered at 5 p.m. She smiled... Then? Nothing!"
    assert " ".join(split_sentences(text)) == text


def test_a_sentence_starts_behind_the_space_that_follows_another() -> None:
    text = "Dr. Ada left.  She came back.\n\n“Why?” Nobody knows."
    starts = sentence_starts(text)
    assert [text[start:][:6] for start in starts] == ["She ca", "“Why?”", "Nobody"]
    assert sentence_starts("") == sentence_starts("no end") == []


@pytest.mark.parametrize("text", ["." * 60_000, ". " * 30_000, "A. " * 30_000, "?" + " " * 60_000])
def test_a_text_of_marks_alone_is_read_in_no_time(text: str) -> None:
    # A rule that goes back over what it has read would take minutes here.
    assert sentence_starts(text + "x") == []

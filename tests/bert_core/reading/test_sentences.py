"""Sentences by rule: where they begin, and that hostile texts cost nothing."""

import pytest

from bert_core.reading.sentences import split_sentences


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

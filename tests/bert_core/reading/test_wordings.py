"""Spans that say the same are found wherever they stand, as the SQuAD evaluation compares them."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from bert_core.reading.spans import shifted
from bert_core.reading.wordings import Wordings


def pieces(text: str) -> NDArray[np.intp]:
    """Words and single marks, as a basic tokenizer cuts them."""
    return np.array([match.span() for match in re.finditer(r"\w+|[^\w\s]", text)])


def alike(text: str, span: str, longest: int = 6) -> list[str]:
    """The spans of a text that say what its first span with these characters says."""
    offsets = pieces(text)
    first = next(n for n, (start, _) in enumerate(offsets) if text.startswith(span, start))
    last = next(n for n, (_, end) in enumerate(offsets) if end == offsets[first, 0] + len(span))
    score = np.zeros((len(offsets), longest))
    score[shifted(np.zeros(len(offsets)), longest, 1.0) > 0] = -np.inf  # beyond the end
    rows, columns = Wordings(text, offsets).alike(score, first, last)
    assert (first, last - first) in list(zip(rows.tolist(), columns.tolist(), strict=True))
    return [
        text[offsets[row, 0] : offsets[row + more, 1]]
        for row, more in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


def test_case_marks_articles_and_blanks_do_not_count() -> None:
    text = "The Nile flows. Who saw a nile? They call it (the  NILE)!"
    before, behind = ("(the  NILE", "the  NILE", "NILE"), ("", ")", ")!")
    shouted = [f"{start}{end}" for start in before for end in behind]
    assert sorted(alike(text, "Nile")) == sorted(
        ["The Nile", "Nile", "a nile", "nile", "a nile?", "nile?", *shouted]
    )


def test_other_words_beside_and_parts_of_words_are_other_answers() -> None:
    text = "nilesat, Nile delta, a Nil e"
    assert set(alike(text, "Nile")) == {", Nile", "Nile", ", a Nil e", "a Nil e", "Nil e"}
    assert alike("Theodor met the dor.", "dor") == ["the dor", "the dor.", "dor", "dor."]
    assert alike("an apple, another pple", "apple") == ["an apple", "an apple,", "apple", "apple,"]


@pytest.mark.parametrize("nothing", ["the", ",", "the,"])
def test_what_says_nothing_is_alike_where_its_characters_are(nothing: str) -> None:
    found = alike("see the, and the, cat", nothing)
    assert found == [nothing, nothing]


def test_letters_that_grow_when_small_keep_their_places() -> None:
    assert alike("İİ or İstanbul, the İSTANBUL", "İstanbul")[-1] == "İSTANBUL"
    assert alike("Straße STRASSE", "Straße") == ["Straße"]  # as lower case has it, no more

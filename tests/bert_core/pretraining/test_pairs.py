"""Sentence pairs: half true, half not, and where the false ones come from."""

from collections import Counter

import pytest

from bert_core.errors import InputError
from bert_core.pretraining import SentencePair, sentence_pairs

DOCUMENTS = [[(d, s) for s in range(12)] for d in range(9)]
Place = tuple[int, int]


def kind(pair: SentencePair[Place]) -> str:
    (d1, s1), (d2, s2) = pair.first, pair.second
    if d1 != d2:
        return "other document"
    return {1: "next", -1: "swapped"}.get(s2 - s1, "same document")


def test_half_are_true_neighbours_and_half_come_from_other_documents() -> None:
    pairs = sentence_pairs(DOCUMENTS, seed=3)
    assert len(pairs) == 9 * 11
    assert Counter(pair.label for pair in pairs) == {0: 50, 1: 49}
    assert {kind(pair) for pair in pairs if pair.label == 0} == {"next"}
    assert {kind(pair) for pair in pairs if pair.label == 1} == {"other document"}


def test_negatives_can_come_from_the_same_document_and_from_swapping() -> None:
    pairs = sentence_pairs(DOCUMENTS, count=4000, same_document=0.5, swapped=0.1, seed=1)
    kinds = Counter(kind(pair) for pair in pairs if pair.label == 1)
    assert sum(kinds.values()) == 2000
    assert kinds["same document"] / 2000 == pytest.approx(0.5, abs=0.05)
    assert kinds["swapped"] / 2000 == pytest.approx(0.1, abs=0.03)
    assert kinds["other document"] / 2000 == pytest.approx(0.4, abs=0.05)


def test_the_same_seed_gives_the_same_pairs() -> None:
    options = {"count": 50, "same_document": 0.4}
    first = sentence_pairs(DOCUMENTS, seed=7, **options)  # type: ignore[arg-type]
    assert first == sentence_pairs(DOCUMENTS, seed=7, **options)  # type: ignore[arg-type]
    assert first != sentence_pairs(DOCUMENTS, seed=8, **options)  # type: ignore[arg-type]


def test_strings_empty_documents_and_a_short_lone_document_work() -> None:
    pairs = sentence_pairs([["One.", "Two."], [], ["Red.", "Blue."]], count=8)
    assert all({pair.first, pair.second} <= {"One.", "Two.", "Red.", "Blue."} for pair in pairs)
    assert Counter(pair.label for pair in pairs) == {0: 4, 1: 4}
    alone = sentence_pairs([["One.", "Two."]], count=4, same_document=1.0)  # swapped negatives
    assert {(p.first, p.second, p.label) for p in alone} == {
        ("One.", "Two.", 0),
        ("Two.", "One.", 1),
    }


@pytest.mark.parametrize(
    ("documents", "options", "says"),
    [
        ([["alone"], ["alone"]], {}, "two sentences"),
        ([["One.", "Two."]], {}, "only one document"),
        ([["One.", "Two."]], {"same_document": 0.8, "swapped": 0.4}, "at most 1"),
        ([["One.", "Two."]], {"swapped": -0.1}, "not below 0"),
    ],
)
def test_pairs_that_cannot_be_made_are_refused(
    documents: list[list[str]], options: dict[str, float], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        sentence_pairs(documents, **options)  # type: ignore[arg-type]

"""Gapped sentences: what is taken out, and what is offered."""

import random
from pathlib import Path

import pytest

from training.cloze import GAP, gapped, gapped_sentences, read_chapters

FILLERS = "".join(
    f"\n\nNumber {n} keeps the stone away from the wall of the old town.\nEvery other one in the "
    "garden needs it before the end of the summer."
    for n in range(12)
)
TERMS = ["axons", "dendrites", "synapses", "neuron", "nerve cell", "membrane", "neurons"]


def write_book(data: Path, name: str) -> None:
    """Two chapters: one speaks of harbours, the other of orchards."""
    harbour = [
        f"The {a} keeps the {b} away from the old stone wall of the town."
        for a, b in (
            ("lighthouse", "freighter"), ("breakwater", "lighthouse"), ("freighter", "breakwater"),
            ("lighthouse", "breakwater"), ("drawbridge", "freighter"), ("drawbridge", "lighthouse"),
            ("anchor", "drawbridge"), ("anchor", "freighter"), ("anchor", "breakwater"),
        )
    ]  # fmt: skip
    orchard = [
        f"Every {a} in the garden needs the {b} before the end of the summer."
        for a, b in (("apple", "ladder"), ("ladder", "basket"), ("basket", "apple")) * 2
    ]
    path = data / "text" / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join("\n".join(part) for part in (harbour, orchard)) + "\n")


def test_the_right_choice_puts_the_sentence_back_and_no_wrong_one_stands_in_it() -> None:
    sentence = "Most signals that reach a neuron pass many synapses on their way."
    for seed in range(20):
        row = gapped(sentence, TERMS, random.Random(seed))
        assert row is not None
        right = row.choices[row.label]
        assert row.context.replace(GAP, right) == sentence
        assert right in ("neuron", "synapses")
        assert len(set(row.choices)) == 4
        wrong = [choice for place, choice in enumerate(row.choices) if place != row.label]
        assert not any(choice in sentence for choice in wrong)
        assert right.rstrip("s") not in {choice.rstrip("s") for choice in wrong}


def test_terms_of_the_same_form_are_chosen_before_others() -> None:
    terms = ["axons", "dendrites", "synapses", "neuron", "nerve cell", "membrane"]
    row = gapped("All of these cells send signals along their long axons today.", terms,
                 random.Random(1))  # fmt: skip
    assert row is not None
    assert {"dendrites", "synapses"} < set(row.choices)


def test_a_term_of_two_words_is_not_taken_apart() -> None:
    terms = ["cell", "nerve cell", "membrane", "axons", "dendrites", "synapse"]
    sentence = "Charged particles leave the nerve cell whenever it fires a signal."
    for seed in range(10):
        row = gapped(sentence, terms, random.Random(seed))
        assert row is not None and row.choices[row.label] == "nerve cell"


def test_capitals_do_not_tell_the_right_choice() -> None:
    row = gapped("Neurons are the cells which carry signals to the muscles.", TERMS,
                 random.Random(0))  # fmt: skip
    assert row is not None
    assert all(choice == choice.lower() for choice in row.choices)


@pytest.mark.parametrize(
    "sentence",
    [
        "A neuron fires.",  # too short
        "Nothing in this sentence is a word that the chapter cares about.",
        "A neuron talks to a neuron and they both fire in the end.",  # which of the two?
    ],
)
def test_sentences_that_do_not_fit_give_no_row(sentence: str) -> None:
    assert gapped(sentence, TERMS, random.Random(0)) is None


def test_too_few_other_terms_give_no_row() -> None:
    sentence = "Charged particles leave the nerve cell whenever it fires a signal."
    assert gapped(sentence, ["nerve cell", "axons", "synapse"], random.Random(0)) is None


def test_a_chapter_s_terms_are_those_that_other_chapters_do_not_use(tmp_path: Path) -> None:
    for number in range(4):
        write_book(tmp_path, f"book-{number}")
    one_book = [tmp_path / "text" / "book-0.txt"]
    assert [chapter.terms for chapter in read_chapters(one_book)] == [[], []]  # half is too many
    path = tmp_path / "text" / "many.txt"
    path.write_text(one_book[0].read_text() + FILLERS + "\n")
    harbour, orchard, *others = read_chapters([path])
    assert {"lighthouse", "freighter", "breakwater", "drawbridge"} < set(harbour.terms)
    assert set(harbour.terms).isdisjoint(orchard.terms)
    assert not {"the", "town", "stone wall", "keeps"} & set(harbour.terms)
    assert all(not other.terms for other in others)


def test_a_data_folder_gives_rows_of_the_books_with_review_questions_alone(tmp_path: Path) -> None:
    for name in ("openstax-psychology", "openstax-astronomy"):
        write_book(tmp_path, name)
    more = tmp_path / "text" / "openstax-psychology.txt"
    more.write_text(more.read_text() + FILLERS + "\n")
    rows = gapped_sentences(tmp_path, seed=3)
    assert rows == gapped_sentences(tmp_path, seed=3) != gapped_sentences(tmp_path, seed=4)
    assert all(GAP in row.context and len(row.choices) == 4 for row in rows)
    assert any(row.choices[row.label] == "lighthouse" for row in rows)
    more.unlink()
    assert gapped_sentences(tmp_path, seed=3) == []

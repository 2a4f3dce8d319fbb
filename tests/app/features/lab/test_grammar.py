"""The generated grammar: its bounds by hand, by counting, and what is held out."""

import random
from collections import Counter, defaultdict

import pytest

from app.features.lab.task_grammar import (
    ACROSS,
    FACT,
    FREE,
    NEAR,
    OBJECT,
    PRONOUN,
    TEMPLATES,
    Option,
    Template,
    bounds,
    documents,
    phenomena,
)


def test_the_bounds_are_those_found_by_hand() -> None:
    found = {name: (each.floor, each.ceiling) for name, each in bounds().items()}
    assert found == {
        NEAR: (1 / 2, 1),  # is, are
        ACROSS: (1 / 2, 1),
        PRONOUN: (1 / 2, 1),  # five women, five men
        OBJECT: (1 / 12, 1 / 2),  # six verbs; of each, one object twice as often as two others
        FACT: (1 / 8, 1),
        FREE: (1 / 8, 1 / 8),
    }


def test_a_made_up_grammar_with_unequal_weights() -> None:
    axis = (
        Option({"a": "x", "b": "p"}, 3),
        Option({"a": "x", "b": "q"}),
        Option({"a": "y", "b": "q"}),
    )
    template = Template("{a} {b} {c}", (axis, (Option({"c": "."}),)), 1, {"b": "b"})
    from app.features.lab.task_grammar import _bounds

    found = _bounds(template, "b")
    assert found.ceiling == pytest.approx(4 / 5)  # p after x, q after y
    assert found.floor == pytest.approx(3 / 5)


def test_counting_a_large_sample_agrees_with_the_bounds() -> None:
    source = random.Random(1)
    template = next(each for each in TEMPLATES if OBJECT in each.hidden)
    best: dict[str, Counter[str]] = defaultdict(Counter)
    for _ in range(8_000):
        words = template.draw(source)
        best[words["verb"]][words["object"]] += 1
    right = sum(max(each.values()) for each in best.values()) / 8_000
    assert right == pytest.approx(bounds()[OBJECT].ceiling, abs=0.02)


def test_a_gap_of_one_template_is_never_one_of_another() -> None:
    """Otherwise the bounds, which look at one template, would not hold for the whole corpus."""
    sentences = [
        [template.pattern.format_map(words).split() for words, _ in template.sentences()]
        for template in TEMPLATES
    ]
    for own, template in enumerate(TEMPLATES):
        for gap in template.hidden.values():
            at = template.pattern.split().index(f"{{{gap}}}")
            contexts = {(*words[:at], *words[at + 1 :]) for words in sentences[own]}
            for other in (each for number, each in enumerate(sentences) if number != own):
                assert not any((*words[:at], *words[at + 1 :]) in contexts for words in other)


def test_the_grammar_is_rich_enough() -> None:
    held_out = phenomena()
    texts = documents(4_000, held_out)
    words = {word for text in texts for sentence in text for word in sentence.split()}
    assert len(words) >= 80
    assert len([each for each in held_out if each.ceiling == 1]) + 1 >= 5
    assert any(each.ceiling == each.floor for each in held_out)


def test_held_out_sentences_are_different_and_never_trained_on() -> None:
    held_out = phenomena()
    trained = {sentence for text in documents(4_000, held_out) for sentence in text}
    for each in held_out:
        sentences = {probe.sentence for probe in each.probes}
        assert len(sentences) == len(each.probes) == 120
        assert not sentences & trained
        assert all(probe.text.count("[MASK]") == 1 for probe in each.probes)


def test_the_seed_decides() -> None:
    assert documents(40, (), seed=3) == documents(40, (), seed=3) != documents(40, (), seed=4)


def test_sentences_of_a_text_are_about_the_same_person_and_animal() -> None:
    people = {"mary", "anna", "lucy", "emma", "clara", "john", "peter", "david", "henry", "oscar"}
    for text in documents(400, ()):
        assert len({word for sentence in text for word in sentence.split()} & people) <= 1


def test_an_attractor_is_as_often_of_the_same_number() -> None:
    """Otherwise “the opposite of the nearest noun” would be a rule that works."""
    long = [each for each in TEMPLATES if "{other}" in each.pattern]
    assert [bool(each.hidden) for each in long] == [True, False]
    assert long[0].weight <= 2 * long[1].weight

"""A visitor's text fills the boxes of the other pages, as far as it fits them."""

import pytest

from app.catalog import FEATURES, examples
from app.declared.carried import HOME, UNFIT, Carried, boxes, boxes_for, hides, is_ours

SENTENCE = "Marie Curie worked in Paris."
TWO = "She sat on the bank of the river. The bank was steep."
TEXTS = [row.slug for row in FEATURES if row.takes_text]


@pytest.mark.parametrize("slug", [HOME, *(slug for slug in TEXTS if slug not in UNFIT)])
def test_a_sentence_is_in_the_first_box_of_every_page_it_fits(slug: str) -> None:
    found = boxes_for(slug, Carried({"text": SENTENCE}))
    assert found["text"] == SENTENCE
    assert set(found) == set(boxes(slug))
    assert {text for key, text in found.items() if key not in ("text", "question")} <= {""}


def test_a_page_without_texts_has_no_boxes() -> None:
    for row in FEATURES:
        assert bool(boxes(row.slug)) == row.takes_text


def test_a_passage_gets_a_question_that_fits_it_unless_the_visitor_asked_one() -> None:
    assert boxes_for("qa", Carried({"text": SENTENCE}))["question"].endswith("?")
    own = {"text": SENTENCE, "question": "Who?"}
    assert boxes_for("qa", Carried(own)) == own
    assert boxes_for("why", Carried(own)) == {"text": SENTENCE, "text_pair": "Who?"}
    assert boxes_for("classification", Carried(own)) == {"text": SENTENCE, "text_pair": ""}


def test_two_texts_go_to_two_boxes_and_the_first_one_where_there_is_one() -> None:
    pair = {"text": "One.", "text_pair": "Two."}
    assert boxes_for("next_sentence", Carried(pair)) == pair
    assert boxes_for("ner", Carried(pair)) == {"text": "One."}
    assert boxes_for("multiple_choice", Carried(pair)) == {"text": "One.", "choices": ""}


def test_of_several_sentences_the_last_one_may_follow_the_others() -> None:
    found = boxes_for("next_sentence", Carried({"text": "A b.  C d!\nE f?  "}))
    assert found == {"text": "A b.  C d!", "text_pair": "E f?"}
    again = boxes_for("next_sentence", Carried({"text": "Yes. No. Yes. No."}))
    assert again == {"text": "Yes. No. Yes.", "text_pair": "No."}


def test_senses_get_sentences_that_share_a_word_and_nothing_else() -> None:
    found = boxes_for("senses", Carried({"text": TWO}))
    assert found["text"].splitlines() == [
        "She sat on the bank of the river.",
        "The bank was steep.",
    ]
    assert found["target"] == "bank"
    assert boxes_for("senses", Carried({"text": SENTENCE})) == {}


def test_pages_without_gaps_get_the_whole_text_if_it_is_known() -> None:
    hidden = Carried.after(Carried({"text": SENTENCE}), {"text": SENTENCE.replace("Paris", "___")})
    assert hidden.whole == SENTENCE
    more = Carried.after(hidden, {"text": "Marie [MASK] worked in ___."})
    assert more.whole == SENTENCE
    for row in FEATURES:
        if row.takes_text and row.slug not in UNFIT:
            expected = more.texts["text"] if row.gaps else SENTENCE
            assert boxes_for(row.slug, more)["text"] == expected
    other = Carried.after(hidden, {"text": "Somebody else worked in ___."})
    assert boxes_for("ner", other)["text"] == "Somebody else worked in ___."


@pytest.mark.parametrize(
    ("text", "whole", "expected"),
    [
        ("I [MASK] tea.", "I like tea.", True),
        ("I like tea [MASK].", "I like tea.", True),  # put at the end
        ("I like <mask>", "I like tea.", True),
        ("un[MASK]able [MASK]s", "unbelievable things", True),
        ("[MASK][MASK] 語", "日本 語", True),
        ("I like tea.", "I like tea.", False),
        ("I [MASK].", "I like tea.", False),  # more than a word
        ("You [MASK] tea.", "I like tea.", False),
        ("ab[MASK]ba", "aba", False),
        ("[MASK]", "", False),
    ],
)
def test_a_text_with_words_hidden_is_known_again(text: str, whole: str, expected: bool) -> None:
    assert hides(text, whole) == expected


@pytest.mark.parametrize("slug", TEXTS)
def test_examples_are_the_sites_own_and_what_is_typed_is_not(slug: str) -> None:
    for row in examples(slug):
        texts = {key: str(row.values.get(key, "")) for key in boxes(slug)}
        assert is_ours(slug, texts)
        assert not is_ours(slug, {**texts, "text": texts["text"] + " Really."})
    if "text_pair" in boxes(slug):
        first = str(examples(slug)[0].values["text"])
        assert not is_ours(slug, {"text": first, "text_pair": "What a visitor added."})


def test_an_example_with_a_word_hidden_is_still_an_example() -> None:
    text = str(examples("fill_mask")[0].values["text"])
    assert is_ours("fill_mask", {"text": text.replace("week", "[MASK]")})

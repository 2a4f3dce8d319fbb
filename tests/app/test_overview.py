"""The doors of the home page."""

import re
from pathlib import Path

import pytest

from app.catalog import feature
from app.engine.models import Engine
from app.features.classification.task import classification
from app.features.fill_mask.task import fill_mask
from app.features.next_sentence.task import next_sentence
from app.overview import doors, draw, without_door
from app.words.format import percent
from bert_core import BertForSequenceClassification
from tests.conftest import save_tiny
from tests.drawings import words

TEXT = "Tom lived in Rome. He was old."


def test_every_door_leads_to_a_page_that_takes_its_texts(tiny_engine: Engine) -> None:
    found = doors(tiny_engine, TEXT)
    assert len({door.slug for door in found}) == 6
    for door in found:
        assert feature(door.slug).takes_text
        assert set(door.texts) <= {"text", "text_pair", "question"}
        assert door.texts["text"]


def test_a_door_shows_what_its_page_will_show(tiny_engine: Engine) -> None:
    by_slug = {door.slug: door for door in doors(tiny_engine, TEXT)}
    hidden = by_slug["fill_mask"]
    assert hidden.texts["text"].count("[MASK]") == 1
    best = fill_mask(tiny_engine, hidden.texts["text"], top_k=1).slots[0].candidates[0]
    assert percent(best.probability) in words(hidden.body)
    pair = by_slug["next_sentence"]
    assert pair.texts == {"text": "Tom lived in Rome.", "text_pair": "He was old."}
    answer = next_sentence(tiny_engine, pair.texts["text"], pair.texts["text_pair"])
    assert percent(answer.probabilities[0]) in words(pair.body)
    assert by_slug["qa"].texts["question"] == "Where did Tom live?"


def test_the_map_draws_the_attention_of_the_head_it_names(tiny_engine: Engine) -> None:
    from app.features.attention.task import attention

    body = str(next(d for d in doors(tiny_engine, TEXT) if d.slug == "attention").body)
    layer, head = map(int, re.search(r"Layer (\d+), head (\d+)", body).groups())  # type: ignore[union-attr]
    matrix = attention(tiny_engine, TEXT).attentions[layer][head][:16, :16]
    shares = [float(each) for each in re.findall(r"--bx-share:([\d.]+)", body)]
    assert len(shares) == matrix.size
    assert abs(matrix.ravel() / matrix.max() - shares).max() < 1e-3


def test_of_one_sentence_nothing_is_asked_that_was_not_typed(tiny_engine: Engine) -> None:
    pair = next(d for d in doors(tiny_engine, "Tom is old.") if d.slug == "next_sentence")
    assert pair.texts == {"text": "Tom is old.", "text_pair": ""}
    assert "Write a second sentence" in str(pair.body) and "%" not in str(pair.body)


@pytest.fixture
def classifier_engine(tmp_path: Path) -> Engine:
    """A model with nothing but a classification head, as fine-tuning leaves it."""
    folder = save_tiny(tmp_path, BertForSequenceClassification)
    return Engine(str(folder))


def test_a_model_has_the_doors_of_what_it_can(classifier_engine: Engine) -> None:
    found = doors(classifier_engine, TEXT)
    assert [door.slug for door in found] == ["tokenizer", "attention", "classification"]
    answer = classification(classifier_engine, TEXT)
    best = answer.ranking[0]
    assert answer.labels[best] in str(found[-1].body)
    assert percent(answer.scores[best]) in words(found[-1].body)
    assert "Fill-mask, Named entities, Question answering" in str(without_door(classifier_engine))


def test_a_model_with_all_heads_says_nothing_of_what_it_lacks(tiny_engine: Engine) -> None:
    assert not without_door(tiny_engine).markup


def test_a_text_without_words_still_opens_every_door(tiny_engine: Engine) -> None:
    drawn = str(draw(doors(tiny_engine, "?! 7")))
    assert "There is no word to hide." in drawn
    assert len(re.findall(r'data-pick="open"', drawn)) == 6


def test_markup_in_the_text_stays_text(tiny_engine: Engine) -> None:
    drawn = str(draw(doors(tiny_engine, "<img src=x onerror=alert(1)> fell. It broke.")))
    assert "<img" not in drawn

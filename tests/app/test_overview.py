"""The six doors of the home page."""

import re

from app.catalog import feature
from app.engine.models import Engine
from app.features.fill_mask.task import fill_mask
from app.features.next_sentence.task import next_sentence
from app.overview import doors, draw
from app.words.format import percent

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
    assert percent(best.probability) in str(hidden.body)
    pair = by_slug["next_sentence"]
    assert pair.texts == {"text": "Tom lived in Rome.", "text_pair": "He was old."}
    answer = next_sentence(tiny_engine, pair.texts["text"], pair.texts["text_pair"])
    assert percent(answer.probabilities[0]) in str(pair.body)
    assert by_slug["qa"].texts["question"] == "Where did Tom live?"


def test_the_map_draws_the_attention_of_the_head_it_names(tiny_engine: Engine) -> None:
    from app.features.attention.task import attention

    body = str(next(d for d in doors(tiny_engine, TEXT) if d.slug == "attention").body)
    layer, head = map(int, re.search(r"layer (\d+), head (\d+)", body).groups())  # type: ignore[union-attr]
    matrix = attention(tiny_engine, TEXT).attentions[layer][head][:16, :16]
    shares = [float(each) for each in re.findall(r"--bx-share:([\d.]+)", body)]
    assert len(shares) == matrix.size
    assert abs(matrix.ravel() / matrix.max() - shares).max() < 1e-3


def test_nothing_is_asked_of_a_sentence_that_was_not_typed(tiny_engine: Engine) -> None:
    door = next(d for d in doors(tiny_engine, "Tom is old.") if d.slug == "next_sentence")
    assert door.texts == {"text": "Tom is old."}
    assert "Write a second sentence" in str(door.body) and "%" not in str(door.body)


def test_a_text_without_words_still_opens_every_door(tiny_engine: Engine) -> None:
    drawn = str(draw(doors(tiny_engine, "?! 7")))
    assert "There is no word to hide." in drawn
    assert len(re.findall(r'data-pick="open"', drawn)) == 6


def test_markup_in_the_text_stays_text(tiny_engine: Engine) -> None:
    drawn = str(draw(doors(tiny_engine, "<img src=x onerror=alert(1)> fell. It broke.")))
    assert "<img" not in drawn

"""Question answering: the right characters, every rule, and long texts with nothing lost."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.models import Engine
from app.features.qa import view
from app.features.qa.task import qa, questions
from bert_core.errors import InputError
from bert_core.reading.wordings import normalized
from tests.readers import by_token, planted, save_reader

PASSAGE = "The cat sat on the mat. The dog sat on the river bank, playing."
ASKED = "the cat?"


def says_the_same(one: str, other: str) -> bool:
    """Whether two answers differ in case, marks, articles and blanks alone."""
    first, second = (normalized(text).replace(" ", "") for text in (one, other))
    return first == second if first else one == other


def test_what_cannot_be_read_of_both_texts_is_named(tiny_engine: Engine) -> None:
    result = qa(tiny_engine, "the cat Ωmega sat", "who Ψ")
    assert result.unread.unknown == ("Ψ", "Ωmega")
    assert "It reads" in str(view.screen(result).first[0])


def test_the_rules_of_the_settings_hold(tiny_engine: Engine) -> None:
    rule = by_token({"##ing": 8.0, "play": 3.0}, {"play": 9.0, "##ing": 2.0}, null=-9.0)
    engine = planted(tiny_engine, rule)
    result = qa(engine, "The cat, playing. The dog.", "what", answers=20)
    assert result.answers[0].text == "playing"
    free = qa(engine, "The cat, playing.", "what", whole_words=False)
    assert free.answers[0].text == "play"
    both = planted(tiny_engine, by_token({"cat": 8.0, "dog": 1.0}, {"dog": 9.0, "cat": 1.0}))
    for single, longest, text in ((True, 9, "dog"), (False, 9, "cat. The dog"), (False, 3, "dog")):
        found = qa(both, "the cat. The dog", "who", one_sentence=single, longest=longest)
        assert found.answers[0].text == text


@pytest.mark.parametrize(("null", "score"), [(0.0, -10.0), (5.0, 0.0), (7.5, 5.0)])
def test_the_no_answer_score_is_null_minus_best_span(
    tiny_engine: Engine, null: float, score: float
) -> None:
    rule = by_token({"dog": 6.0}, {"dog": 4.0}, null=null)
    result = qa(planted(tiny_engine, rule), PASSAGE, "who")
    assert result.no_answer_score == pytest.approx(score)
    assert replace(result, threshold=score).answered
    assert not replace(result, threshold=score - 0.01).answered
    odds = result.null_probability / (1 - result.null_probability)
    assert odds == pytest.approx(math.exp(score))
    assert (result.null_probability > 0.5) == (not result.answered)


def test_all_shares_add_up_to_one(tiny_engine: Engine) -> None:
    result = qa(tiny_engine, PASSAGE, ASKED)
    null = result.null_probability
    assert result.words.start_probability.sum() + null == pytest.approx(1.0)
    assert result.words.end_probability.sum() + null == pytest.approx(1.0)
    assert result.best.probability <= result.touching <= 1 - null


def test_an_answer_behind_piece_5000_is_found_at_its_characters(tmp_path: Path) -> None:
    engine = Engine(str(save_reader(tmp_path / "reader", "river", "bank")))
    passage = "The cat  sat on\nthe mat. " * 800 + "A RIVER  bank is here. " + "the dog. " * 300
    result = qa(engine, passage, "where is it?")
    assert result.coverage.answer[0] > 5000
    assert result.answers[0].text == "RIVER  bank"
    assert result.best.start == passage.index("RIVER")
    assert len(result.coverage.windows) > 200


def test_windows_are_computed_in_small_groups_and_progress_is_told(tiny_engine: Engine) -> None:
    engine = planted(tiny_engine, by_token({"cat": 1.0}, {"cat": 1.0}))
    told: list[tuple[int, int]] = []
    passage = "the cat sat on the mat. " * 40
    result = qa(engine, passage, "who", progress=lambda done, total: told.append((done, total)))
    count = len(result.coverage.windows)
    assert sum(engine.calls) == count  # type: ignore[attr-defined]
    assert max(engine.calls) <= 8  # type: ignore[attr-defined]
    assert told[-1] == (count, count)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    again = qa(engine, passage, "who", answers=2)
    assert sum(engine.calls) == count, "the model need not run again"  # type: ignore[attr-defined]
    assert again.answers == result.answers[:2]


def test_nasty_texts_are_answered_with_their_own_characters(
    tiny_engine: Engine, nasty: str
) -> None:
    passage = f"{nasty} the cat {nasty}"
    result = qa(tiny_engine, passage, "cat", answers=20)
    for answer in result.answers:
        assert answer.text == passage[answer.best.start : answer.best.end]
        assert all(says_the_same(passage[p.start : p.end], answer.text) for p in answer.places)
    assert len({each.text for each in result.answers}) == len(result.answers)


def test_questions_stand_one_per_line() -> None:
    assert questions(" Who?\n\n\tWhere? \r\n") == ("Who?", "Where?")
    assert questions(" \n ") == ()
    with pytest.raises(InputError, match="11 questions"):
        questions("Who?\n" * 11)


def test_words_know_the_positions_of_their_pieces_in_the_input(tiny_engine: Engine) -> None:
    passage = "The cat, playing."
    words = qa(tiny_engine, passage, "the dog?").words
    tokens = tiny_engine.tokenizer.encode("the dog?", passage).tokens
    spelt = [tokens[first:behind] for first, behind in words.pieces.tolist()]
    assert spelt == [["the"], ["cat"], [","], ["play", "##ing"], ["."]]
    assert words.covering(4, 10) == range(1, 4)
    assert words.covering(8, 9) == range(3, 3), "a space belongs to no word"
    assert [tokens[at] for at in words.positions(5, 10)] == ["cat", ",", "play", "##ing"]
    assert list(words.positions(8, 9)) == []

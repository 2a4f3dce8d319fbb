"""Question answering: the right characters, every rule, and long texts with nothing lost."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.qa import view
from app.features.qa.result import QaResult
from app.features.qa.task import qa, questions
from bert_core import Encoding
from bert_core.errors import InputError
from bert_core.reading.wordings import normalized
from tests.readers import by_token, planted, save_reader

PASSAGE = "The cat sat on the mat. The dog sat on the river bank, playing."
ASKED = "the cat?"
NO_RULES = {"whole_words": False, "one_sentence": False}


def chosen(result: QaResult) -> list[str]:
    """The characters of the answers, cut out of the passage by their places."""
    return [result.passage[a.best.start : a.best.end] for a in result.answers]


def says_the_same(one: str, other: str) -> bool:
    """Whether two answers differ in case, marks, articles and blanks alone."""
    first, second = (normalized(text).replace(" ", "") for text in (one, other))
    return first == second if first else one == other


def test_an_answer_with_and_without_article_and_full_stop_is_one(tiny_engine: Engine) -> None:
    rule = by_token({"the": 1.0, "cat": 2.0, "dog": 1.0}, {"cat": 3.0, "dog": 1.0}, null=0.0)
    passage = "the dog saw the cat. The Cat sat"
    result = qa(planted(tiny_engine, rule), passage, "who", longest=2, answers=20)
    first = result.answers[0]
    spans = {passage[each.start : each.end]: each.score for each in first.places}
    assert first.text == "cat" and first.count == 5
    assert spans == {"cat": 5.0, "Cat": 5.0, "the cat": 4.0, "The Cat": 4.0, "cat.": -7.0}
    assert [each.text for each in result.answers].count("the cat") == 0
    told = [each.score for each in first.places]
    assert told == sorted(told, reverse=True) and first.best.start == passage.index("cat")
    every = [(place.score, place.probability) for each in result.answers for place in each.places]
    odds = sum(math.exp(score) for score, _ in every)
    assert len(every) == result.candidates
    left = 1 / (1 + math.exp(-5.0))
    shared = sum(map(math.exp, spans.values())) / odds
    assert result.probability == first.probability == pytest.approx(left * shared, rel=1e-6)
    assert first.best.probability < first.probability


def test_the_right_one_of_several_equal_words_is_marked(tiny_engine: Engine) -> None:
    def third_cat(encoding: Encoding, at: int) -> tuple[float, float]:
        cats = [n for n, token in enumerate(encoding.tokens) if token == "cat"]
        return (5.0, 5.0) if at == cats[3] else (-5.0, -5.0)

    passage = "cat, the CAT;  a Cat. cat"
    result = qa(planted(tiny_engine, third_cat), passage, "cat")
    assert (result.best.start, result.best.end) == (17, 20)
    assert result.answers[0].text == "Cat"  # as typed, though the model reads lower case


def test_spaces_and_capitals_of_the_passage_stay_in_the_answer(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    result = qa(planted(tiny_engine, rule), "on the  RIVER \n\t Bank .", "where")
    assert result.answers[0].text == "RIVER \n\t Bank"


def test_an_answer_has_no_more_pieces_than_allowed(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 8.0}, {"mat": 8.0, "on": 7.0})
    engine = planted(tiny_engine, rule)
    assert qa(engine, PASSAGE, "who", longest=5).answers[0].text == "cat sat on the mat"
    short = qa(engine, PASSAGE, "who", longest=4)
    assert short.answers[0].text == "cat sat on"
    assert all(place.pieces <= 4 for answer in short.answers for place in answer.places)


def test_the_question_and_the_added_tokens_are_never_the_answer(tiny_engine: Engine) -> None:
    def rule(encoding: Encoding, at: int) -> tuple[float, float]:
        if encoding.sequence_ids[at] == 1:
            return (1.0, 1.0) if encoding.tokens[at] == "dog" else (-3.0, -3.0)
        return (-4.0, 6.0) if at == 0 else (9.0, 9.0)

    result = qa(planted(tiny_engine, rule), PASSAGE, "river cat", answers=20)
    assert result.answers[0].text == "dog"
    assert result.null_score == 2.0


def test_a_special_token_written_in_the_passage_is_in_no_answer(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 8.0, "[SEP]": 9.0}, {"dog": 8.0, "cat": 1.0, "[SEP]": 9.0})
    result = qa(planted(tiny_engine, rule), "the cat [SEP] dog [MASK]", "who", answers=20)
    assert result.answers[0].text == "cat"
    assert not any("[" in answer.text for answer in result.answers)
    with pytest.raises(InputError, match="only special tokens"):
        qa(planted(tiny_engine, rule), "[SEP] [MASK]", "who")


def test_what_cannot_be_read_of_both_texts_is_named(tiny_engine: Engine) -> None:
    result = qa(tiny_engine, "the cat Ωmega sat", "who Ψ")
    assert result.unread.unknown == ("Ψ", "Ωmega")
    assert "It reads" in str(view.screen(result).first[0])


def test_an_answer_takes_words_whole_unless_told_otherwise(tiny_engine: Engine) -> None:
    rule = by_token({"##ing": 8.0, "play": 3.0}, {"play": 9.0, "##ing": 2.0}, null=-9.0)
    engine = planted(tiny_engine, rule)
    result = qa(engine, "The cat, playing. The dog.", "what", answers=20)
    assert result.answers[0].text == "playing"
    free = qa(engine, "The cat, playing.", "what", whole_words=False)
    assert free.answers[0].text == "play"


@pytest.mark.parametrize(
    ("between", "apart"),
    [
        (". The ", True),
        ("! ", False),
        ("\n\n", True),
        ("。", True),
        ("\n", False),
        (" St. The ", False),
    ],
)
def test_an_answer_stays_within_one_sentence_unless_told_otherwise(
    tiny_engine: Engine, between: str, apart: bool
) -> None:
    rule = by_token({"cat": 8.0, "dog": 1.0}, {"dog": 9.0, "cat": 1.0})
    engine = planted(tiny_engine, rule)
    passage = f"the cat{between}dog"
    result = qa(engine, passage, "who")
    assert result.answers[0].text == ("dog" if apart else f"cat{between}dog")
    free = qa(engine, passage, "who", one_sentence=False)
    assert free.answers[0].text == f"cat{between}dog"


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


@pytest.mark.parametrize("max_length", [24, 31, 48])
def test_windows_that_agree_give_what_one_run_gives(tiny_engine: Engine, max_length: int) -> None:
    rule = by_token(
        {"dog": 5.0, "cat": 4.0, "play": 2.0}, {"mat": 5.0, "bank": 4.5, "##ing": 3.0}, null=1.0
    )
    passage = "The dog sat on the mat, the cat on a river bank, playing. " * 4
    whole = qa(planted(tiny_engine, rule, max_length=512), passage, "who", longest=8)
    parts = qa(planted(tiny_engine, rule, max_length=max_length), passage, "who", longest=8)
    assert len(whole.coverage.windows) == 1
    assert len(parts.coverage.windows) > 2
    assert parts.answers == whole.answers
    assert parts.null_probability == whole.null_probability
    assert parts.touching == whole.touching
    np.testing.assert_array_equal(parts.words.start_probability, whole.words.start_probability)


def test_an_end_before_the_start_is_no_answer(tiny_engine: Engine) -> None:
    rule = by_token({"dog": 8.0, "cat": 3.0}, {"cat": 8.0, "mat": 3.0})
    result = qa(planted(tiny_engine, rule), PASSAGE, "who")
    assert [each.text for each in result.answers[:2]] == ["cat", "cat sat on the mat"]


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


def test_no_answer_counts_from_the_window_that_believes_least_in_it(tiny_engine: Engine) -> None:
    def rule(encoding: Encoding, at: int) -> tuple[float, float]:
        if at == 0:
            return (-3.0, 1.0) if "dog" in encoding.tokens else (4.0, 4.0)
        return (2.0, 2.0) if encoding.tokens[at] == "dog" else (-2.0, -2.0)

    result = qa(planted(tiny_engine, rule), "the cat sat. " * 30 + "a dog. " + "cat. " * 40, "who")
    assert result.null_score == -2.0
    assert result.no_answer_score == -6.0


def test_a_question_too_long_is_refused_with_its_numbers(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match=r"25 pieces; it may have at most 24, half of the 48"):
        qa(tiny_engine, PASSAGE, "cat " * 25)
    assert qa(tiny_engine, PASSAGE * 3, "cat " * 24).answers


@pytest.mark.parametrize(
    ("passage", "question", "told"),
    [
        ("", "who", "passage"),
        (" \n", "who", "passage"),
        ("\x00", "who", "passage"),
        ("cat", "", "question"),
        ("cat", "\u200b\x01", "question"),
    ],
)
def test_a_text_without_a_piece_is_refused(
    tiny_engine: Engine, passage: str, question: str, told: str
) -> None:
    with pytest.raises(InputError, match=f"The {told} has no text"):
        qa(tiny_engine, passage, question)


def test_nasty_texts_are_answered_with_their_own_characters(
    tiny_engine: Engine, nasty: str
) -> None:
    passage = f"{nasty} the cat {nasty}"
    result = qa(tiny_engine, passage, "cat", answers=20)
    for answer in result.answers:
        assert answer.text == passage[answer.best.start : answer.best.end]
        assert all(says_the_same(passage[p.start : p.end], answer.text) for p in answer.places)
    assert len(set(chosen(result))) == len(result.answers)


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

"""Many pairs at once, and the stored measurements of reliability."""

from pathlib import Path

import pytest

from app.features.next_sentence import view_pairs, view_reliability
from app.features.next_sentence.result_reliability import Reliability
from app.features.next_sentence.task import next_sentence
from app.features.next_sentence.task_pairs import next_sentence_pairs, read_pairs
from app.features.next_sentence.task_reliability import next_sentence_reliability
from app.models import Engine
from bert_core.bundled.figures import Figure, write_figures
from bert_core.errors import InputError
from tests.drawings import elements

MEANING = "error. Mean confidence 86.0 %, right 93.0 %; error 3.3 % at temperature 1"


@pytest.mark.parametrize(
    ("table", "pairs"),
    [
        ("a cat\tthe dog", [("a cat", "the dog")]),
        ("a cat,the dog\n\nb,c\n", [("a cat", "the dog"), ("b", "c")]),
        ('"a, cat", "the ""dog"""', [("a, cat", 'the "dog"')]),
        ('"Go," he said.\tthe dog', [('"Go," he said.', "the dog")]),
        ("First\tSecond\na\tb", [("a", "b")]),
        ("text,text_pair\r\na,b", [("a", "b")]),
    ],
)
def test_pairs_are_read_from_tables(table: str, pairs: list[tuple[str, str]]) -> None:
    assert list(read_pairs(table)) == pairs


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("", "Found 0 pairs; expected 1 to 500"),
        ("a,b\nonly one", "Row 2 has 1 sentence; expected 2"),
        ("a,b,c", "Row 1 has 3 sentences"),
        ("a\t ", "Row 1 has 1 sentence;"),
        ("a,b\n" * 501, "Found 501 pairs"),
        (f'"{"a" * 200_000}",b', "cannot be read as CSV"),
    ],
)
def test_a_table_that_holds_no_pairs_is_refused_with_numbers(table: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_pairs(table)


def test_many_pairs_get_the_answers_of_single_ones(tiny_engine: Engine) -> None:
    texts = [("the cat", "sat on the mat"), ("a", "b c d e " * 30), ("a river", "Ω")]
    told: list[tuple[int, int]] = []
    rows = next_sentence_pairs(
        tiny_engine,
        "\n".join("\t".join(pair) for pair in texts),
        lambda *step: told.append(step),
    ).rows
    assert told[-1] == (3, 3)
    for row, (first, second) in zip(rows, texts, strict=True):
        alone = next_sentence(tiny_engine, first, second)
        assert row.follows == pytest.approx(alone.probabilities[0], abs=1e-6)
        assert row.logits == pytest.approx(alone.logits, abs=1e-5)
        assert bool(row.cut) == alone.cut.anything
        assert row.unread == alone.unread.anything
    assert [bool(row.cut) for row in rows] == [False, True, False]
    assert [row.unread for row in rows] == [False, False, True]


def test_the_table_of_pairs_says_what_the_logits_say(tiny_engine: Engine) -> None:
    rows = next_sentence_pairs(tiny_engine, "the cat\tsat\na dog\tthe river bank").rows
    table = view_pairs.pairs_table(rows)
    for answer, share in zip(table["answer"], table["probability of follows"], strict=True):
        assert (answer == "follows") == (share >= 0.5)
    yes = list(table["answer"]).count("follows")
    assert view_pairs.pairs_summary(rows) == f"The model says “follows” for {yes} of 2 pairs."


def test_a_pair_without_pieces_is_refused_by_number(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="In pair 2"):
        next_sentence_pairs(tiny_engine, "a\tb\nc\t\u200b\x01")


def test_measurements_are_read_from_the_stored_figures(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert next_sentence_reliability(tiny_engine).rows == ()
    assert "was not measured" in str(view_reliability.reliability_note(()))
    write_figures(
        tmp_path,
        [
            Figure("next sentence, random", "pairs", 0.93, 0.91, 0.95, 800, "told apart"),
            Figure("calibration error, next sentence, random", "p", 0.07, 0, 0.1, 800, MEANING),
            Figure("calibration error, next sentence, same", "p", 0.07, 0, 0.1, 9, "no means"),
            Figure("calibration error, sentiment", "p", 0.01, 0, 0.1, 800, MEANING),
        ],
    )
    monkeypatch.setattr(tiny_engine, "_folder", tmp_path)
    assert next_sentence_reliability(tiny_engine).rows == (
        Reliability("wrong pairs from two texts", 800, 0.86, 0.93, (0.91, 0.95), 0.07),
    )


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_dots_are_where_their_numbers_say(size: str) -> None:
    rows = (
        Reliability("all pairs", 1600, 0.75, 0.75, None, 0.01),
        Reliability("some", 800, 1.0, 0.5, (0.5, 0.75), 0.5),
    )
    drawing = getattr(view_reliability.reliability_picture(rows), size)
    even, wrong = elements(drawing, "circle", "bx-svg-dot")
    (line,) = elements(drawing, "line", "bx-svg-even")
    middle = (
        (line.number("x1") + line.number("x2")) / 2,
        (line.number("y1") + line.number("y2")) / 2,
    )
    assert (even.number("cx"), even.number("cy")) == pytest.approx(middle)
    assert (wrong.number("cx"), wrong.number("cy")) == (line.number("x2"), line.number("y1"))
    (span,) = elements(drawing, "line", "bx-svg-span")
    assert (span.number("y1"), span.number("y2")) == pytest.approx((line.number("y1"), middle[1]))

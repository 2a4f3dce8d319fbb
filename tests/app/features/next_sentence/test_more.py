"""Many pairs at once, and the stored measurements of reliability."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.models import Engine
from app.engine.models.facts import ModelFacts
from app.features.next_sentence import view_pairs, view_reliability
from app.features.next_sentence.task import next_sentence
from app.features.next_sentence.task_pairs import next_sentence_pairs, read_pairs
from app.features.next_sentence.task_reliability import next_sentence_reliability
from app.records.counted import Reliability
from app.settings import BUNDLED_MODEL
from app.words.reliability import reliability_picture
from bert_core.bundled.figures import Bin, Figure, read_figures, write_figures
from bert_core.errors import InputError
from tests.drawings import elements

MEASURED = Figure("", "pairs", 0.07, 0, 0.1, 800, "error", lower_is_better=True)


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
    unknown = view_reliability.screen(next_sentence_reliability(tiny_engine))
    assert "was not measured" in str(unknown.parts)
    binned = replace(MEASURED, bins=(Bin(600, 0.8, 0.9), Bin(200, 0.96, 0.8)))
    write_figures(
        tmp_path,
        [
            Figure("next sentence, random", "pairs", 0.93, 0.91, 0.95, 800, "told apart"),
            replace(binned, task="calibration error, next sentence"),
            replace(binned, task="calibration error, next sentence, random"),
            replace(MEASURED, task="calibration error, next sentence, same"),  # without bins
            replace(binned, task="calibration error, sentiment"),
        ],
    )
    monkeypatch.setattr(tiny_engine, "facts", with_figures(tiny_engine, tmp_path))
    random, both = next_sentence_reliability(tiny_engine).rows
    assert (random.pairs, both.pairs) == (
        "neighbours, and pairs from two texts",
        "both kinds together",
    )
    assert (random.stated, random.right) == (pytest.approx(0.84), pytest.approx(0.875))
    assert (random.cases, random.error, random.bins) == (800, 0.07, binned.bins)


def with_figures(engine: Engine, folder: Path) -> ModelFacts:
    """The facts of an engine, with figures from another folder."""
    figures = read_figures(folder)
    name = "BertForNextSentencePrediction"
    return replace(
        engine.facts,
        errors={name: tuple(each for each in figures if "error, next sentence" in each.task)},
    )


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_dots_are_where_their_numbers_say(size: str) -> None:
    shy = Reliability("some", 800, 0.8, 0.9, 0.1, (Bin(400, 0.75, 0.75), Bin(400, 0.85, 1.0)))
    bold = Reliability("others", 100, 1.0, 0.5, 0.5, (Bin(100, 1.0, 0.5),))
    both = Reliability("both", 900, 0.82, 0.82, 0.0, (*shy.bins, *bold.bins))
    shown = reliability_picture([shy, bold, both], "drawn", least=0.5)
    drawing = getattr(shown, size)
    even, high, wrong = elements(drawing, "circle", "bx-svg-bin")
    (line,) = elements(drawing, "polyline", "bx-svg-even")
    ends = (map(float, point.split(",")) for point in line.attributes["points"].split())
    (left, low), (right, top) = ends
    assert (even.number("cx"), even.number("cy")) == pytest.approx(
        ((left + right) / 2, (low + top) / 2)
    )
    assert (high.number("cx"), high.number("cy")) == pytest.approx(
        (left + 0.7 * (right - left), top)
    )
    assert (wrong.number("cx"), wrong.number("cy")) == pytest.approx((right, low))
    assert wrong.number("r") > even.number("r")
    assert "Some: 80.0 % sure on average, 90.0 % right, too unsure by 10.0 points" in shown.alt
    assert "too sure by 50.0 points" in shown.alt
    assert "neither too sure nor too unsure" in shown.alt


def test_two_kinds_that_cancel_are_told_apart_and_the_sum_comes_last() -> None:
    """The bundled head is too unsure of one kind, too sure of the other."""
    engine = Engine(BUNDLED_MODEL)
    first, second, both = next_sentence_reliability(engine).rows
    assert first.stated < first.right and second.stated > second.right
    assert abs(both.stated - both.right) < 0.02 < min(first.error, second.error)
    said = view_reliability.screen(next_sentence_reliability(engine)).report().headline
    assert "too unsure by" in said and "too sure by" in said

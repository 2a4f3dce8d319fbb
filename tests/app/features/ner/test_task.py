"""Named entities: exact places, five ways of reading, and long texts with nothing lost."""

import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest
import transformers

from app.engine.models import Engine
from app.features.ner.result import NerResult
from app.features.ner.task import ner
from bert_core import BertForTokenClassification
from bert_core.errors import InputError
from bert_core.reading.entities import AGGREGATIONS
from tests.taggers import KNOWN, save_tagger

BIOES = ("O", *(f"{mark}-{kind}" for kind in ("PER", "LOC") for mark in "BIES"))
TEXTS = {
    "words": "the cat sat on the river bank, dog!",
    "pieces": "Playing played xyz, catdog matriver playingplay's unplayed - mat.",
    "unknown": "Ω the cat Ж? dog §§ mat",
    "line breaks": "the cat\n\n\tsat\r\non   the mat ",
    "chinese": "我们明天去看海。",
    "right to left": "القطة the cat والכלב",
}


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tagger(tmp_path_factory.mktemp("random-tagger"))


@pytest.fixture(scope="module")
def random_engine(random_folder: Path) -> Engine:
    return Engine(str(random_folder))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(str(save_tagger(tmp_path_factory.mktemp("planted"), known=KNOWN)))


@pytest.fixture(scope="module")
def long_reader(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("planted-long")
    return Engine(str(save_tagger(folder, known=KNOWN, max_length=512)))


def marks(result: NerResult) -> list[tuple[str, str]]:
    """Label and text of every entity."""
    return [(e.label, result.text[e.start : e.end]) for e in result.reading.entities]


@pytest.fixture(scope="module")
def pipelines(random_folder: Path) -> dict[str, transformers.Pipeline]:
    model = transformers.BertForTokenClassification.from_pretrained(random_folder)
    tokenizer = transformers.BertTokenizerFast(
        vocab=str(random_folder / "vocab.txt"), do_lower_case=True
    )
    return {
        how: transformers.TokenClassificationPipeline(
            model=model, tokenizer=tokenizer, aggregation_strategy=how
        )
        for how in AGGREGATIONS
    }


@pytest.mark.parametrize("how", AGGREGATIONS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_every_aggregation_is_that_of_the_transformers_pipeline(
    random_engine: Engine, pipelines: dict, how: str, text: str
) -> None:
    found = ner(random_engine, text, aggregation=how).reading.entities
    expected = pipelines[how](text)
    key = "entity" if how == "none" else "entity_group"
    assert [(e.label, e.start, e.end) for e in found] == [
        (row[key], row["start"], row["end"]) for row in expected
    ]
    assert [e.score for e in found] == pytest.approx([row["score"] for row in expected], abs=1e-5)
    if text == TEXTS["pieces"]:
        assert len(found) > 3


def test_a_decomposed_accent_does_not_tear_a_word_apart(planted: Engine) -> None:
    """Where the pipeline goes by the length of the spelling, "cát" would join the word before."""
    text = "the ca\u0301t sat. the rivér\u0301"
    result = ner(planted, text)
    assert marks(result) == [("PER", "ca\u0301t"), ("LOC", "rivér\u0301")]
    assert result.reading.entities[-1].end == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat", [("PER", "cat")]),
        ("Cat dog sat at the River Bank", [("PER", "Cat dog"), ("LOC", "River Bank")]),
        ("“Cat” (river bank) [mat]", [("PER", "Cat"), ("LOC", "river bank"), ("ORG", "mat")]),
        ("cat cat dog", [("PER", "cat"), ("PER", "cat dog")]),
        ("cat, dog", [("PER", "cat"), ("PER", "dog")]),
        ("CAT\n\t DOG.", [("PER", "CAT\n\t DOG")]),
        ("catriver", [("PER", "catriver")]),
        ("bank", [("LOC", "bank")]),
        ("the sat on", []),
        ("cat\u200bdog", [("PER", "cat\u200bdog")]),
    ],
)
def test_entities_stand_at_their_exact_characters(
    planted: Engine, text: str, expected: list[tuple[str, str]]
) -> None:
    assert marks(ner(planted, text)) == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("first", [("MISC", "playing"), ("MISC", "played"), ("PER", "cat")]),
        ("simple", [("MISC", "playing"), ("MISC", "play"), ("LOC", "ed"), ("PER", "cat")]),
        (
            "none",
            [
                ("B-MISC", "play"),
                ("I-MISC", "ing"),
                ("B-MISC", "play"),
                ("B-LOC", "ed"),
                ("B-PER", "cat"),
            ],
        ),
    ],
)
def test_what_decides_on_a_word_decides_on_the_marks(
    planted: Engine, how: str, expected: list[tuple[str, str]]
) -> None:
    assert marks(ner(planted, "playing played the cat", aggregation=how)) == expected


def test_scores_are_the_means_that_the_page_says_they_are(random_engine: Engine) -> None:
    result = ner(random_engine, "Playing unplayed the catdog sat on matriver")
    shares, words = result.pieces.probabilities, result.pieces.words.tolist()
    groups = [[n for n, word in enumerate(words) if word == w] for w in range(words[-1] + 1)]
    by_word = {
        "first": [shares[group[0]] for group in groups],
        "average": [shares[group].mean(axis=0) for group in groups],
        "max": [max(shares[group], key=max) for group in groups],
    }
    for how, rows in by_word.items():
        read = ner(random_engine, result.text, aggregation=how)  # type: ignore[arg-type]
        for entity in read.reading.entities:
            inside = range(words[entity.pieces[0]], words[entity.pieces[1] - 1] + 1)
            expected = sum(max(rows[word]) for word in inside) / len(inside)
            assert entity.score == pytest.approx(expected, abs=1e-12)
    assert np.allclose(shares.sum(axis=1), 1)


def test_labels_out_of_rule_are_named_where_they_stand(planted: Engine) -> None:
    faults = ner(planted, "dog sat, cat bank dog").reading.faults
    assert [(f.at, f.label, f.before, f.why) for f in faults] == [
        (0, "I-PER", "", "not opened"),
        (4, "I-LOC", "B-PER", "not opened"),
        (5, "I-PER", "I-LOC", "not opened"),
    ]


def test_other_schemes_are_read_by_their_own_rules(tmp_path: Path) -> None:
    known = {"cat": "B-PER", "dog": "E-PER", "mat": "S-PER", "river": "S-LOC", "bank": "I-PER"}
    engine = Engine(str(save_tagger(tmp_path, names=BIOES, known=known)))
    result = ner(engine, "cat bank dog mat mat river cat")
    assert result.labels.name == "BIOES"
    assert marks(result) == [
        ("PER", "cat bank dog"),
        ("PER", "mat"),
        ("PER", "mat"),
        ("LOC", "river"),
        ("PER", "cat"),
    ]
    assert [(f.label, f.why) for f in result.reading.faults] == [("B-PER", "not closed")]


def test_nothing_that_was_found_is_lost_by_selecting(planted: Engine) -> None:
    result = ner(planted, "cat dog sat, river, mat on dog")
    everything = result.reading.entities
    least = sorted(entity.score for entity in everything)[2]
    for only in ((), ("PER",), ("PER", "ORG"), ("MISC",)):
        chosen = result.select(least=least, only=only)
        parts = [*chosen.shown, *chosen.below, *chosen.other]
        assert sorted(parts, key=lambda e: e.start) == list(everything)
        assert all(e.score >= least and (not only or e.kind in only) for e in chosen.shown)
        assert all(e.score < least for e in chosen.below)
    assert result.select().shown == everything


def test_a_text_of_six_thousand_pieces_is_read_to_its_end(long_reader: Engine) -> None:
    words = ["the", "sat", "on", "."] * 1_550
    words[5_400:5_402] = ["River", "bank"]
    text = " ".join(words)
    result = ner(long_reader, text)
    assert len(result.pieces) == 6_200
    (entity,) = result.reading.entities
    assert entity.pieces == (5_400, 5_402)
    assert text[entity.start : entity.end] == "River bank"
    assert entity.start == text.index("River")
    read = result.pieces.coverage
    assert (read.room, read.shared, read.windows) == (510, 128, 16)
    assert read.context >= 63


def test_entities_across_every_window_border_stay_whole(planted: Engine) -> None:
    for shift in range(0, 40, 5):
        text = "the " * shift + "cat dog dog sat " * 60
        result = ner(planted, text)
        assert result.pieces.coverage.windows > 5
        spans = [found.span() for found in re.finditer("cat dog dog", text)]
        assert [(e.start, e.end) for e in result.reading.entities] == spans


@pytest.mark.parametrize("count", [1, 45, 46, 47, 80, 200])
def test_every_piece_is_answered_by_the_window_with_most_around_it(
    random_engine: Engine, count: int
) -> None:
    drawn = random.Random(count)
    text = " ".join(drawn.choices("abcdefgh", k=count))
    result = ner(random_engine, text)
    windows = random_engine.tokenizer.encode_windows(text, max_length=48, stride=12)
    best: dict[int, tuple[int, np.ndarray]] = {}
    for window in windows:
        logits = random_engine.run(BertForTokenClassification, window).logits
        assert logits is not None
        rows = logits[0].double().softmax(-1).numpy()[1:-1]
        numbers = [word for word in window.word_ids if word is not None]  # one piece a word here
        for row, piece in zip(rows, numbers, strict=True):
            before = piece - numbers[0] if numbers[0] else count
            behind = numbers[-1] - piece if numbers[-1] < count - 1 else count
            if piece not in best or min(before, behind) > best[piece][0]:
                best[piece] = (min(before, behind), row)
    assert len(result.pieces) == count
    assert result.pieces.coverage.windows == len(windows)
    assert result.pieces.coverage.context == min(context for context, _ in best.values())
    expected = np.stack([best[piece][1] for piece in range(count)])
    assert np.allclose(result.pieces.probabilities, expected, atol=1e-5)


@pytest.mark.parametrize("max_length", [3, 4, 5, 8])
def test_even_a_model_with_hardly_any_room_reads_everything(
    tmp_path: Path, max_length: int
) -> None:
    engine = Engine(str(save_tagger(tmp_path, known=KNOWN, max_length=max_length)))
    text = "the cat dog sat on the river bank mat"
    assert marks(ner(engine, text)) == [("PER", "cat dog"), ("LOC", "river bank"), ("ORG", "mat")]


def test_nasty_texts_keep_their_characters(planted: Engine, nasty: str) -> None:
    for how in AGGREGATIONS:
        result = ner(planted, nasty, aggregation=how)
        places = [(e.start, e.end) for e in result.reading.entities]
        assert all(0 <= start < end <= len(nasty) for start, end in places)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(places))


@pytest.mark.parametrize("text", ["", "  \n", "\u200b\x00"])
def test_a_text_without_pieces_is_refused_in_words(planted: Engine, text: str) -> None:
    with pytest.raises(InputError, match="has no piece"):
        ner(planted, text)


def test_a_second_look_at_a_text_runs_no_model(
    planted: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ner(planted, "a text that only this test has: cat")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the model ran again")

    monkeypatch.setattr(planted, "run", refuse)
    again = ner(planted, "a text that only this test has: cat", aggregation="simple")
    assert again.pieces is first.pieces


def test_progress_of_a_long_text_is_told(planted: Engine) -> None:
    told: list[tuple[int, int]] = []
    text = "the cat sat on the mat. " * 97
    result = ner(planted, text, progress=lambda done, total: told.append((done, total)))
    count = result.pieces.coverage.windows
    assert count > 8
    assert told[-1] == (count, count)
    assert [done for done, _ in told] == sorted({done for done, _ in told})

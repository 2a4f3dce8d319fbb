"""Named entities: exact places, five ways of reading, and long texts with nothing lost."""

import itertools
from pathlib import Path

import pytest
import transformers

from app.engine.models import Engine
from app.features.ner.result import NerResult
from app.features.ner.task import ner
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


def test_labels_out_of_rule_are_named_where_they_stand(planted: Engine) -> None:
    faults = ner(planted, "dog sat, cat bank dog").reading.faults
    assert [(f.at, f.label, f.before, f.why) for f in faults] == [
        (0, "I-PER", "", "not opened"),
        (4, "I-LOC", "B-PER", "not opened"),
        (5, "I-PER", "I-LOC", "not opened"),
    ]


def test_a_text_of_two_thousand_pieces_is_read_to_its_end(long_reader: Engine) -> None:
    words = ["the", "sat", "on", "."] * 500
    words[1_400:1_402] = ["River", "bank"]
    text = " ".join(words)
    result = ner(long_reader, text)
    assert len(result.pieces) == 2_000
    (entity,) = result.reading.entities
    assert entity.pieces == (1_400, 1_402)
    assert text[entity.start : entity.end] == "River bank"
    assert entity.start == text.index("River")
    read = result.pieces.coverage
    assert (read.room, read.shared, read.windows) == (510, 128, 5)
    assert read.context >= 63


@pytest.mark.parametrize("max_length", [3, 5])
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

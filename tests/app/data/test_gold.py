"""What is right, in the forms that data sets write, and how it fits the model's labels."""

import json
from typing import Any

import pytest

from app.data.columns import GOLD, KINDS, TaskName, guess, guess_task, read_columns
from app.data.gold import NEXT, Asked, Reader, label_names
from app.data.tables import Table
from app.data.work import guess_columns
from bert_core.errors import InputError

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TEXT = "Ada Byron saw Rome"
NAMES = frozenset({("PER", 0, 9), ("LOC", 14, 18)})


def read(task: TaskName, row: dict[str, Any], **meanings: str) -> Asked:
    """Read one row, with the columns guessed."""
    table = Table(tuple(row), ((1, row),), ())
    labels = TAGS if task == "ner" else ("negative", "positive")
    (asked,), bad = Reader(task, guess(task, table.columns), meanings, labels).read(table)
    assert not bad
    return asked


@pytest.mark.parametrize(
    "row",
    [
        {"tokens": TEXT.split(), "ner_tags": ["B-PER", "I-PER", "O", "B-LOC"]},
        {"tokens": TEXT.split(), "ner_tags": [1, 2, 0, 3]},
        {"text": TEXT, "tags": "B-PER I-PER O B-LOC"},
        {"tokens": '["Ada", "Byron", "saw", "Rome"]', "tags": '["B-PER", "I-PER", "O", "B-LOC"]'},
        {"text": TEXT, "tags": ["B-person", "I-person", "O", "B-LOC"]},
        {"text": TEXT, "entities": [{"start": 0, "end": 9, "label": "PER"},
                                    {"start": 14, "end": 18, "entity_group": "LOC"}]},
        {"text": TEXT, "spans": '[[0, 9, "PER"], [14, 18, "LOC"]]'},
        {"text": "[PER Ada Byron] saw [LOC Rome]"},
    ],
)  # fmt: skip
def test_names_are_tags_numbers_spans_or_brackets(row: dict[str, Any]) -> None:
    found = read("ner", row, person="PER")
    assert found.texts == {"text": TEXT} and found.gold == NAMES
    assert found.wanted == "Ada Byron (PER), Rome (LOC)"


SQUAD = {"text": ["Rome"], "answer_start": [3]}
ENDINGS = ("rained.", "sang.")


@pytest.mark.parametrize(
    ("task", "row", "gold"),
    [
        *(
            ("qa", {"question": "Where?", "context": "In Rome.", "answers": cell}, answers)
            for cell, answers in (
                ("Rome", ("Rome",)),
                (["Rome", "in Rome", "Rome"], ("Rome", "in Rome")),
                (SQUAD, ("Rome",)),
                (json.dumps(SQUAD), ("Rome",)),
                ({"text": [], "answer_start": []}, ()),
                ("-", ()),
            )
        ),
        ("multiple_choice", {"ctx": "It", "endings": [*ENDINGS], "label": 1}, 1),
        ("multiple_choice", {"ctx": "It", "endings": " | ".join(ENDINGS), "label": ENDINGS[1]}, 1),
        ("multiple_choice", {"sent1": "It", "ending0": "rained.", "ending1": "sang.", "label": "0"},
         0),
        ("multiple_choice", {"ctx": "It", "choices": {"text": [*ENDINGS]}, "answerKey": "B"}, 1),
        ("fill_mask", {"sentence": "A ___ sat.", "word": "cat | dog"}, (("cat", "dog"),)),
        ("fill_mask", {"text": "A [MASK] on a [MASK].", "word": "cat, mat"}, (("cat",), ("mat",))),
    ],
)  # fmt: skip
def test_answers_choices_and_gaps_are_read_as_data_sets_write_them(
    task: TaskName, row: dict[str, Any], gold: object
) -> None:
    found = read(task, row)
    assert found.gold == gold and found.choices in ((), ENDINGS)
    assert "___" not in "".join(found.texts.values())


@pytest.mark.parametrize(
    ("task", "row", "named"),
    [
        ("classification", {"text": "  ", "label": "pos"}, "Row 1: found nothing in 'text'"),
        ("ner", {"text": TEXT, "tags": "O O"}, "4 words and 2 tags"),
        ("ner", {"text": "[PER Ada"}, "a bracket that is not closed"),
        ("ner", {"text": "Ada", "spans": [{"start": 0, "end": 9, "label": "PER"}]}, "a span"),
        ("fill_mask", {"text": "No gap.", "word": "x"}, "found no gap"),
        ("fill_mask", {"text": "[MASK] [MASK]", "word": "x"}, "2 gaps and 1 word"),
        ("multiple_choice", {"ctx": "It", "choices": ["a"], "label": 0}, "1 choice"),
        ("multiple_choice", {"ctx": "It", "choices": ["a", "b"], "label": 7}, "the right choice"),
    ],
)
def test_a_row_that_cannot_be_asked_says_why(
    task: TaskName, row: dict[str, Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        read(task, row)


@pytest.mark.parametrize(
    ("values", "labels", "meant"),
    [
        (("POSITIVE", "Neg"), ("negative", "positive"), ("positive", "negative")),
        (("0", "1"), ("LABEL_0", "LABEL_1"), ("LABEL_0", "LABEL_1")),
        (("1", "5"), ("1 star", "5 stars"), ("1 star", "5 stars")),  # not the numbers 1 and 5
        (("p", "mixed"), ("poor", "plain"), ("", "")),  # neither clear nor known
        (("0", "1", "yes", "NotNext"), NEXT, (*NEXT, *NEXT)),
    ],
)
def test_labels_mean_what_is_clear_and_nothing_else(
    values: tuple[str, ...], labels: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    assert tuple(label_names(values, labels).values()) == meant


def test_what_a_person_says_comes_first() -> None:
    found = label_names(["0", "mixed"], NEXT, [("0", NEXT[1]), ("mixed", "")])
    assert found == {"0": NEXT[1], "mixed": ""}
    with pytest.raises(InputError, match="found 'odd'; expected one of follows"):
        label_names(["0"], NEXT, [("0", "odd")])


@pytest.mark.parametrize(
    ("names", "task", "columns"),
    [
        ("sentence label idx", "classification", {"text": "sentence", GOLD: "label"}),
        ("premise hypothesis label", "classification",
         {"text": "premise", "text_pair": "hypothesis", GOLD: "label"}),
        ("id context question answers", "qa",
         {"question": "question", "passage": "context", GOLD: "answers"}),
        ("id tokens ner_tags", "ner", {"text": "tokens", GOLD: "ner_tags"}),
        ("sent1 ending0 ending1 label", "multiple_choice",
         {"context": "sent1", "choices": "ending*", GOLD: "label"}),
        ("first second next", "next_sentence",
         {"text": "first", "text_pair": "second", GOLD: "next"}),
    ],
)  # fmt: skip
def test_tasks_and_columns_are_guessed_from_names(
    names: str, task: TaskName, columns: dict[str, str]
) -> None:
    assert guess_task(names.split()) == task and guess(task, names.split()) == columns


def test_columns_can_be_said_and_missing_ones_are_named() -> None:
    names = ["review", "stars", "text"]
    assert read_columns("classification", "text=review, gold=stars", names, {}) == {
        "text": "review", GOLD: "stars",
    }  # fmt: skip
    for written, found in (("body=text", "'body'"), ("text=odd", "no column 'odd'"), ("x", "'x'")):
        with pytest.raises(InputError, match=found):
            read_columns("classification", written, names, {})
    assert all(GOLD in kind.parts for kind in KINDS.values())


@pytest.mark.parametrize(
    ("task", "rows", "gold"),
    [
        ("classification", [{"text": "a", "label": 4, "mood": "GOOD"}] * 3, "mood"),
        ("classification", [{"text": "a", "label": 1, "fold": 0}] * 3, "label"),
        ("classification", [{"text": "a", "id": n, "tone": n % 2} for n in range(4)], "tone"),
        ("classification", [{"text": "a", "stars": 4, "fold": 0}] * 3, "stars"),  # named, no label
        ("classification", [{"text": "a", "shop": "north", "id": 1}], ""),
        ("ner", [{"text": TEXT, "label": "x", "marks": "B-PER I-PER O B-LOC"}], "marks"),
        ("qa", [{"question": "Where?", "context": "In Rome.", "id": 1, "said": "Rome"}], "said"),
    ],
)  # fmt: skip
def test_the_gold_is_the_column_with_the_models_labels(
    monkeypatch: pytest.MonkeyPatch, task: TaskName, rows: list[dict[str, Any]], gold: str
) -> None:
    labels = {"ner": TAGS, "classification": ("bad", "good", "odd")}.get(task, ())
    monkeypatch.setattr("app.data.work.labels_of", lambda *_: labels)
    monkeypatch.setattr("app.data.work.kinds_of", lambda *_: ("PER", "LOC"))
    table = Table(tuple(rows[0]), tuple(enumerate(rows)), ())
    engine: Any = None  # which the labels alone are asked of
    assert guess_columns(engine, table, task).get(GOLD, "") == gold

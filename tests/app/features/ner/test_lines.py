"""The names of many sentences, beside those in brackets."""

from dataclasses import replace

import pytest

from app.engine.compute import visitor
from app.engine.models import Engine
from app.features.ner import view_lines
from app.features.ner.task import ner
from app.features.ner.task_lines import ner_lines
from app.settings import settings
from bert_core.errors import InputError
from tests.taggers import KNOWN, save_tagger

LINES = "[PER the cat] sat on the [LOC river bank].\n\nthe [PER cat]\ta [ORG mat]\na [MASK] dog"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(str(save_tagger(tmp_path_factory.mktemp("tagger"), known=KNOWN)))


def test_every_sentence_has_the_names_it_has_alone(engine: Engine) -> None:
    told: list[tuple[int, int]] = []
    rows = ner_lines(engine, LINES, lambda *step: told.append(step)).rows
    assert told[-1] == (3, 3)
    texts = ["the cat sat on the river bank.", "the cat\ta mat", "a [MASK] dog"]
    assert [row.text for row in rows] == texts
    for row, text in zip(rows, texts, strict=True):
        alone = ner(engine, text).entities
        assert [replace(each, score=0) for each in row.found] == [
            replace(each, score=0) for each in alone
        ]
        assert [n.score for n in row.found] == pytest.approx([n.score for n in alone], abs=1e-6)
    wanted = [(n.kind, row.text[n.start : n.end]) for row in rows for n in row.wanted]
    assert wanted == [("PER", "the cat"), ("LOC", "river bank"), ("PER", "cat"), ("ORG", "mat")]


def test_names_are_right_by_place_and_kind(engine: Engine) -> None:
    result = ner_lines(engine, LINES)
    assert [row.right for row in result.rows] == [False, True, False]
    found = result.agreement
    assert found is not None
    assert (found.total.annotated, found.total.found, found.total.right) == (4, 5, 3)
    verdicts = [(each.verdict, each.sentence) for each in found.differences]
    assert verdicts == [("other ends", 1), ("invented", 3)]
    assert "3 of 4 wanted names among them" in view_lines.summary(result)
    assert list(view_lines.names_table(result)["all right"]) == ["no", "yes", "no"]
    plain = ner_lines(engine, "the cat\na dog")
    assert plain.agreement is None
    assert "No name is in brackets" in str(view_lines.screen(plain).answer)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("", "Found 0 sentences; expected 1 to 500"),
        ("cat\n" * 501, "Found 501 sentences"),
        ("cat\nthe [PER dog", "Line 2 has a bracket that is not closed"),
        ("the [PER a [LOC river]]", "Line 1 has a bracket"),
        ("cat\n\u200b", "Line 2 has no piece"),
    ],
)
def test_sentences_that_cannot_be_read_are_refused(engine: Engine, lines: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        ner_lines(engine, lines)


def test_as_many_sentences_are_read_where_windows_are_few(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = replace(settings(), windows=2)
    monkeypatch.setattr(visitor, "settings", lambda: few)
    assert len(ner_lines(engine, "the cat\n" * 4 + "a river").rows) == 5


def test_tables_that_are_too_wide_for_a_phone_scroll_in_boxes_of_their_own(engine: Engine) -> None:
    drawn = [str(part) for part in view_lines.screen(ner_lines(engine, LINES)).parts]
    tables = [each for each in drawn if "<table" in each]
    assert len(tables) == 2
    assert all(each.startswith('<div class="bx-sideways"') for each in tables)

"""What heads usually do: the same measures for many texts and for one."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.attention import view_habits as view
from app.features.attention.result import Heads
from app.features.attention.result_habits import HeadComparison, HeadHabits
from app.features.attention.task import attention
from app.features.attention.task_habits import (
    PLACES,
    compare_head,
    head_habits,
    ranked_heads,
)
from bert_core.analysis.head_statistics import (
    MEASURES,
    head_statistics,
    name_heads,
    rank_heads,
)
from bert_core.analysis.statistics_file import NAME, to_json
from bert_core.errors import CheckpointError, InputError
from bert_core.model.bert import BertModel

TEXTS = ("the cat sat on the mat, the dog.", "play-ing: the the")


@pytest.fixture(scope="session")
def habits_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model beside which statistics of two texts lie, as measured by the library."""
    folder = tmp_path_factory.mktemp("habits") / "habits"
    shutil.copytree(tiny_folder, folder)
    engine = Engine(str(folder))
    found = head_statistics(engine.model(BertModel), engine.tokenizer, TEXTS)
    (folder / NAME).write_text(to_json(found), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def engine(habits_folder: Path) -> Engine:
    return Engine(str(habits_folder))


@pytest.fixture
def habits(engine: Engine) -> HeadHabits:
    found = head_habits(engine)
    assert found is not None
    return found


def compared(engine: Engine, text: str, head: int | None, pair: str = "") -> HeadComparison:
    heads = Heads.layer(1, 4) if head is None else Heads.one(1, head)
    found = compare_head(engine, attention(engine, text, pair), heads)
    assert found is not None
    return found


def test_every_measure_of_the_library_is_shown() -> None:
    assert sorted(place.key for place in PLACES) == sorted(MEASURES)
    assert [place.key for place in PLACES if not place.is_share] == ["entropy"]


@pytest.mark.parametrize("text", [*TEXTS, ("the cat sat.", "on the mat the")])
def test_one_text_is_measured_as_the_library_measures_many(
    engine: Engine, text: str | tuple[str, str]
) -> None:
    first, second = (text, "") if isinstance(text, str) else text
    expected = head_statistics(engine.model(BertModel), engine.tokenizer, [text])
    for head in range(4):
        for place, _, here in compared(engine, first, head, second).rows:
            assert here == pytest.approx(getattr(expected, place.key)[1, head], abs=1e-5)


def test_the_mean_over_a_layer_is_the_mean_of_its_heads(engine: Engine) -> None:
    each = [compared(engine, TEXTS[0], head).rows for head in range(4)]
    for number, (_, usual, here) in enumerate(compared(engine, TEXTS[0], None).rows):
        assert usual == pytest.approx(np.mean([rows[number][1] for rows in each]))
        assert here == pytest.approx(np.mean([rows[number][2] for rows in each]), abs=1e-6)


def test_a_place_that_a_text_lacks_has_no_number(engine: Engine) -> None:
    rows = {place.key: here for place, _, here in compared(engine, "the cat", 0).rows}
    assert rows["to_punctuation"] is None and rows["to_repeats"] is None
    assert rows["to_cls"] is not None
    drawn = str(view.comparison(compared(engine, "the cat", 0)))
    assert 'data-label="in this text"><span>–</span>' in drawn


def test_without_a_file_nothing_is_known(tiny_engine: Engine) -> None:
    assert head_habits(tiny_engine) is None
    assert compare_head(tiny_engine, attention(tiny_engine, "the cat"), Heads.one(0, 0)) is None


def test_the_file_is_read_once(habits_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "once"
    shutil.copytree(habits_folder, folder)
    engine = Engine(str(folder))
    first = engine.head_statistics()
    (folder / NAME).unlink()
    assert engine.head_statistics() is first is not None


def test_statistics_of_another_model_are_called_so(habits_folder: Path) -> None:
    found = head_habits(Engine(str(habits_folder)))
    assert found is not None and found.stale  # measured here without a folder
    assert "They do not belong to this model: They were measured" in str(view.source(found))


def test_statistics_of_another_size_are_refused(habits_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    shutil.copytree(habits_folder, folder)
    record = json.loads((folder / NAME).read_text(encoding="utf-8"))
    for measure in MEASURES:
        record[measure] = record[measure][:1]
    (folder / NAME).write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(CheckpointError, match="1 layers of 4 heads; the model has 2 of 4"):
        Engine(str(folder)).head_statistics()


@pytest.mark.parametrize("by", ["pattern", *MEASURES])
def test_heads_are_ranked_and_named_as_the_library_does(tiny_engine: Engine, by: str) -> None:
    result = attention(tiny_engine, "the cat sat on the mat, the dog.")
    ranked = ranked_heads(tiny_engine, result, by)
    assert [row.place for row in ranked] == list(rank_heads(result.statistics, by))
    names = name_heads(result.statistics)
    assert all(row.here == names[row.place[0]][row.place[1]] for row in ranked)
    assert all(row.usual is None for row in ranked)  # not measured for this model
    if by != "pattern":
        values = [row.value for row in ranked]
        assert values == sorted(values, reverse=True)
        assert values[0] == pytest.approx(float(getattr(result.statistics, by).max()))


def test_an_unknown_ranking_is_refused(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="cannot be ranked"):
        ranked_heads(tiny_engine, attention(tiny_engine, "the cat"), "beauty")


def test_a_text_opens_with_a_head_that_has_a_pattern(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat on the mat, the dog.")
    statistics = result.statistics
    ranked = rank_heads(statistics)
    assert result.telling in ranked
    tops = {"to_repeats": np.zeros((2, 4)), "to_previous": np.zeros((2, 4))}
    tops["to_previous"][1, 3] = 0.95
    plain = replace(statistics, **tops, **{
        name: np.zeros((2, 4)) for name in ("to_next", "to_itself", "to_punctuation")
    })  # fmt: skip
    assert replace(result, statistics=plain).telling == (1, 3)
    tops["to_repeats"][0, 2] = 0.5  # less, but about this text
    assert replace(result, statistics=plain).telling == (0, 2)

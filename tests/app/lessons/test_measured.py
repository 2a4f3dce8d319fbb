"""A second model beside the bundled one: measured by a command, kept in a file, shown."""

import json
from pathlib import Path

import pytest

from app.__main__ import run
from app.engine.models import Engine
from app.lessons.claims import count_behind, figures_of
from app.lessons.looking import Looking
from app.lessons.measured import FOLDER, REFERENCE, read, reference, stored
from app.lessons.shelf import claims, lesson
from app.lessons.view import rests_on, second, step_of_second
from app.lessons.whole import looking_at
from bert_core.errors import InputError

NAMES = ("A5", "F1blank", "F1")


@pytest.fixture
def measured(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a few claims and one lesson, as the command writes it for the tiny model."""
    monkeypatch.setenv("BERT_EXPLORER_LESSONS", str(tmp_path))
    few = {name: claims()[name] for name in NAMES}
    monkeypatch.setattr("app.lessons.measuring.claims", lambda: few)
    monkeypatch.setattr("app.lessons.measuring.in_order", lambda: [lesson("pieces")])
    assert run(["lessons", "measure", "--model", str(tiny_folder)]) == 0
    return tmp_path / REFERENCE


def test_the_column_that_is_shipped_is_empty_and_says_how_to_fill_it(bundled: Engine) -> None:
    assert not read(FOLDER / REFERENCE).weights and reference() is None
    assert "python -m app lessons measure --model" in rests_on(bundled, lesson("pieces")).markup


def test_a_measured_model_is_shown_beside_the_bundled_one(measured: Path, bundled: Engine) -> None:
    rows = json.loads(measured.read_text(encoding="utf-8"))
    assert rows["weights"] != stored().weights and rows["claims"].keys() == set(NAMES)
    for row in rows["claims"].values():
        assert row["low"] <= row["k"] / row["n"] <= row["high"]
    other = second(bundled)
    assert other is not None and other.model == rows["model"]
    shown = rests_on(bundled, lesson("pieces")).markup
    assert "lessons measure" not in shown and other.model in shown
    assert "difference of the two is shown" in shown or "The two models differ" in shown
    assert "It cannot answer here." in shown  # what was not measured has no figure
    looking = looking_at(bundled, lesson("pieces"), 1)
    says = step_of_second(looking, lesson("pieces"), 1).markup
    assert rows["steps"]["pieces 1"]["values"]["cut"] in says
    assert "{" not in says and not step_of_second(looking, lesson("not"), 1).markup


def test_with_another_model_the_bundled_ones_figures_are_beside_it(tiny_engine: Engine) -> None:
    assert second(tiny_engine) is stored()
    looking = Looking(tiny_engine, "tokenizer", lesson("pieces").steps[0].look)
    assert "un ##ha ##pp ##iness" in step_of_second(looking, lesson("pieces"), 1).markup


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"model": "x", "weights": "y", "claims": {"A": 1}}']
)
def test_a_file_that_is_none_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no figures of lessons"):
        read(tmp_path / "x.json")


def test_opening_a_lesson_counts_its_claims_in_a_thread(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, found = Engine(str(tiny_folder)), lesson("together")
    counted: list[str] = []
    monkeypatch.setattr("app.lessons.claims._BEHIND.begin", lambda _, work: work(lambda *_: None))
    monkeypatch.setattr("app.lessons.claims.figures_of", lambda _, name: counted.append(name))
    count_behind(engine, found)
    assert counted == list(found.claims)
    monkeypatch.undo()
    assert figures_of(engine, "A5") is figures_of(engine, "A5")

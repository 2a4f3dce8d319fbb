"""A complete run, and the recorded ones."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from app.catalog import examples
from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.faces.paper.json import as_json
from app.features.lab import task
from app.features.lab.result import LabResult
from app.features.lab.result_settings import LabSettings
from app.features.lab.task import completed, lab
from app.features.lab.task_lab import Labs
from app.features.lab.task_model import archive
from app.features.lab.task_recorded import FOLDER, file_name, recorded, write
from app.features.lab.task_run import Run
from bert_core import BertForPreTraining
from bert_core.errors import InputError

SMALL = LabSettings(corpus="facts", width=32, layers=1, steps=500)
LEARNED = {"agreement", "agreement across a noun", "pronoun by name", "object by verb", "facts"}


@pytest.fixture(autouse=True)
def own_labs(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "LABS", labs)


def test_every_example_is_recorded_and_changes_one_setting(tiny_engine: Engine) -> None:
    files = set()
    for each in examples("lab"):
        values: dict = dict(each.values)
        assert len(values) == 1
        found = lab(tiny_engine, **values)
        assert found.start.settings == LabSettings(**values)
        assert found.points[0].step == 0
        assert found.diverged or found.points[-1].step == 2_000
        files |= {file_name(found.start.settings)}
    assert files == {path.name for path in FOLDER.glob("*.npz")}


def test_the_usual_run_comes_near_the_best_possible() -> None:
    found = recorded(LabSettings())
    assert found is not None
    ways = {
        each.name: each.way(accuracy)
        for each, accuracy in zip(found.start.phenomena, found.points[-1].accuracy, strict=True)
    }
    assert {name for name, way in ways.items() if way is not None and way > 0.9} == LEARNED
    assert found.points[-1].way(found.start.phenomena) > 0.95
    assert found.points[-1].held_out < found.start.unigram < found.start.log_v


def test_a_recording_is_what_a_run_does_today() -> None:
    found = recorded(LabSettings(corpus="facts"))
    assert found is not None
    run = Run(LabSettings(corpus="facts"))
    run.prepare()
    assert run.start == found.start
    assert run.python() == found.python
    for point in found.points[:6]:
        while run.step < point.step:
            PROCESSOR.run(lambda: run.advance(0), tokens=0, training=True)
        PROCESSOR.run(run.look, tokens=0)
        assert run.points[-1].step == point.step
        assert run.points[-1].held_out == pytest.approx(point.held_out, rel=1e-2)
        assert run.points[-1].loss == pytest.approx(point.loss, rel=1e-2)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = recorded(LabSettings(mask_rate=80))
    assert found is not None
    path = write(found, tmp_path)
    assert path.name == "mask_rate-80.npz"
    assert path.read_bytes() == (FOLDER / path.name).read_bytes()


def test_the_answer_is_small_and_has_curves_accuracies_and_gaps() -> None:
    found = recorded(LabSettings())
    told = as_json(found)
    assert len(json.dumps(told, allow_nan=False)) < 60_000
    assert {each["name"] for each in told["start"]["phenomena"]} > LEARNED
    assert told["points"][-1]["guesses"][0][0][0] == told["start"]["watched"][0]["answer"]
    assert told["points"][0].keys() >= {"step", "loss", "held_out", "accuracy"}


def test_a_run_that_is_not_recorded_is_trained_and_ends_in_time() -> None:
    found = completed(Run(SMALL), longest=0.0)
    assert "Ended after 0 s of computing" in found.diverged
    assert 0 < found.points[-1].step < 500


def test_a_server_that_trains_nothing_answers_recorded_runs_only(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_LAB", "off")
    assert isinstance(lab(tiny_engine, corpus="facts"), LabResult)
    with pytest.raises(InputError, match="trains no models"):
        lab(tiny_engine, seed=3)
    with pytest.raises(InputError, match="mask_rate is '16'"):
        lab(tiny_engine, mask_rate=16)


def test_one_lab_computes_at_a_time(tiny_engine: Engine, labs: Labs) -> None:
    other = labs.start(SMALL, owner="ada")
    with pytest.raises(InputError, match="Another lab is computing"):
        lab(tiny_engine, seed=3)
    labs.stop(other)
    with task._ALONE, pytest.raises(InputError, match="Another lab is computing"):
        lab(tiny_engine, seed=3)


def test_a_model_that_is_kept_is_written_where_all_tasks_find_it(
    tiny_engine: Engine, tmp_path: Path
) -> None:
    found = lab(tiny_engine, corpus="facts", width=32, layers=1, steps=500, keep=True)
    assert found.points[-1].step == 500
    model = BertForPreTraining.from_pretrained(tmp_path / "lab" / "models" / found.kept)
    assert model.config.num_hidden_layers == 1
    with pytest.raises(InputError, match="is not kept"):
        lab(tiny_engine, corpus="own", text="The cat sat here. " * 20, keep=True)


def test_files_become_one_archive() -> None:
    packed = zipfile.ZipFile(io.BytesIO(archive({"a.txt": b"one", "b.bin": b"\0"})))
    assert {name: packed.read(name) for name in packed.namelist()} == {
        "a.txt": b"one",
        "b.bin": b"\0",
    }

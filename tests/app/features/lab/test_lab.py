"""The labs of the process: the line, heartbeat, pause, restart, privacy, bounds."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from app.engine.compute.processor import PROCESSOR
from app.features.lab import task_lab
from app.features.lab.result import Point, State
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_lab import Lab, Labs
from app.features.lab.task_run import read_points
from bert_core import BertForPreTraining, BertTokenizer
from bert_core.errors import InputError
from tests.strangers import until

SMALL = LabSettings(corpus="facts", width=32, layers=1, steps=4_000)
SHORT = replace(SMALL, steps=500)
TEXT = "The cat sat on the mat. A dog ran to the old house. We saw the cat near the river. " * 30


def trains(labs: Labs, lab: Lab) -> Callable[[], bool]:
    return lambda: labs.ask(lab).state is State.RUNNING and lab.runs[0].step > 2


def test_a_lab_trains_to_its_end(labs: Labs) -> None:
    lab = labs.start(SHORT, owner="ada")
    until(lambda: labs.ask(lab).state is State.DONE, 60)
    run = lab.runs[0]
    assert run.step == 500
    assert (run.points[0].step, run.points[-1].step) == (0, 500)
    assert len(run.states) == 20
    assert run.points[-1].loss < run.points[1].loss
    assert not labs.computing()
    with pytest.raises(KeyError):
        run.model_at(7)


def test_one_lab_computes_and_the_others_know_their_place(labs: Labs) -> None:
    first, second, third = (labs.start(SMALL, owner=name) for name in ("ada", "bob", "cy"))
    until(trains(labs, first))
    assert [labs.ask(each).before for each in (first, second, third)] == [0, 1, 2]
    assert labs.ask(third).state is State.WAITING
    assert not second.runs[0].prepared
    labs.stop(first)
    until(trains(labs, second))
    assert labs.ask(first).state is State.STOPPED
    assert labs.ask(third).before == 1


def test_a_visitor_has_one_lab_at_a_time(labs: Labs) -> None:
    labs.start(SMALL, owner="ada")
    with pytest.raises(InputError, match="run already"):
        labs.start(SMALL, owner="ada")


def test_two_settings_train_side_by_side(labs: Labs) -> None:
    lab = labs.start([SMALL, replace(SMALL, mask_rate=40)], owner="ada")
    until(lambda: labs.ask(lab) and all(run.step > 20 for run in lab.runs))
    one, other = (run.step for run in lab.runs)
    assert 0.2 < one / other < 5
    with pytest.raises(InputError, match="one or two"):
        labs.start([SMALL] * 3)


def test_a_lab_whose_page_is_gone_stops(tmp_path: Path) -> None:
    labs = Labs(tmp_path / "lab", patience=0.5)
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    asked = time.monotonic()
    until(lambda: not labs._working, 5)
    assert time.monotonic() - asked < 5
    step = lab.runs[0].step
    assert lab.state is State.STOPPED
    time.sleep(0.2)
    assert lab.runs[0].step == step
    assert task_lab._PATIENCE < 5  # as the labs of the process have it


def test_pause_keeps_the_weights_and_resume_goes_on(labs: Labs) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    labs.pause(lab)
    until(lambda: not labs._working)
    step = lab.runs[0].step
    weights = lab.runs[0]._ready[1].model.cls.predictions.bias.detach().clone()
    assert labs.ask(lab).state is State.PAUSED
    torch.testing.assert_close(lab.runs[0]._ready[1].model.cls.predictions.bias.detach(), weights)
    labs.resume(lab)
    until(lambda: labs.ask(lab) and lab.runs[0].step > step)


def steps(points: Sequence[Point]) -> list[int]:
    return [each.step for each in points]


def test_a_generated_corpus_survives_a_restart(labs: Labs, tmp_path: Path) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    labs.pause(lab)
    until(lambda: not labs._working)
    # The turn at hand goes on for some steps after the pause has saved.
    saved = steps(read_points(tmp_path / "lab" / lab.key / "0" / "points.npz")[0])
    assert saved[0] == 0
    again = Labs(tmp_path / "lab", patience=30.0)
    found = again.find(lab.key, "ada")
    assert found is not None
    assert again.ask(found).state is State.PAUSED
    again.resume(found)
    until(lambda: again.ask(found) and found.runs[0].step > lab.runs[0].step)
    assert steps(found.runs[0].points)[: len(saved)] == saved
    assert steps(lab.runs[0].points)[: len(saved)] == saved
    again.stop(found)
    until(lambda: not again._working)


@pytest.mark.parametrize("key", ["", "../../etc", "a" * 16, "a" * 15 + "/", "ä" * 16])
def test_unknown_keys_find_nothing(labs: Labs, key: str) -> None:
    assert labs.find(key) is None


def test_damaged_settings_on_disk_find_nothing(labs: Labs, tmp_path: Path) -> None:
    lab = labs.start(SMALL)
    labs.stop(lab)
    (tmp_path / "lab" / lab.key / "lab.json").write_text('[{"heads": 3}]')
    assert Labs(tmp_path / "lab").find(lab.key) is None


def test_own_text_belongs_to_its_visitor_and_stays_off_the_disk(labs: Labs, tmp_path: Path) -> None:
    lab = labs.start(replace(SMALL, corpus="own"), owner="ada", text=TEXT)
    until(trains(labs, lab))
    labs.pause(lab)
    until(lambda: not labs._working)
    assert labs.find(lab.key, "ada") is lab
    assert labs.find(lab.key, "bob") is None
    assert labs.find(lab.key) is None
    assert not (tmp_path / "lab").exists()
    with pytest.raises(InputError, match="Download it"):
        labs.open_elsewhere(lab)
    assert Labs(tmp_path / "lab").find(lab.key, "ada") is None


def test_a_text_that_is_too_short_ends_its_lab_with_the_reason(labs: Labs) -> None:
    lab = labs.start(replace(SMALL, corpus="own"), owner="ada", text="Too short.")
    until(lambda: labs.ask(lab).state is State.FAILED)
    assert "expected at least 20" in labs.ask(lab).says


def test_a_text_that_is_too_long_is_refused_at_once(labs: Labs) -> None:
    with pytest.raises(InputError, match="at most 100,000"):
        labs.start(replace(SMALL, corpus="own"), owner="ada", text="a" * 100_001)
    assert not labs.computing()


def test_divergence_is_a_state_of_its_own(labs: Labs) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    with lab.lock, torch.no_grad():
        lab.runs[0]._ready[1].model.bert.embeddings.word_embeddings.weight.fill_(float("nan"))
    until(lambda: labs.ask(lab).state is State.DIVERGED)
    assert "finite" in labs.ask(lab).says


def test_answers_to_visitors_come_in_between(labs: Labs) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    waits = []
    for _ in range(20):
        labs.ask(lab)
        begin = time.monotonic()
        PROCESSOR.run(lambda: None, tokens=10)
        waits.append(time.monotonic() - begin)
    assert np.median(waits) < 0.5
    assert lab.state is State.RUNNING


def test_the_model_opens_elsewhere(labs: Labs, tmp_path: Path) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    name = labs.open_elsewhere(lab)
    folder = tmp_path / "lab" / "models" / name
    model = BertForPreTraining.from_pretrained(folder)
    tokenizer = BertTokenizer.from_pretrained(folder)
    assert model.config.vocab_size == len(tokenizer.vocab)
    assert not model.load_report.missing if model.load_report else False


def test_memory_is_bounded(labs: Labs) -> None:
    made = []
    for number in range(task_lab._KEPT + 4):
        made.append(labs.start(SMALL, owner=str(number)))
        labs.stop(made[-1])
    assert len(labs._labs) <= task_lab._KEPT + 1


def test_the_line_is_bounded(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_lab, "_IN_LINE", 2)
    labs.start(SMALL, owner="a")
    labs.start(SMALL, owner="b")
    with pytest.raises(InputError, match="in line"):
        labs.start(SMALL, owner="c")


def test_the_disk_is_bounded(labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_lab, "_SAVED", 3)
    monkeypatch.setattr(task_lab, "_KEPT", 1)
    for number in range(8):
        labs.stop(labs.start(SMALL, owner=str(number)))
    assert len(list((tmp_path / "lab").iterdir())) <= 6


def test_no_thread_is_left_when_nothing_is_to_do(labs: Labs) -> None:
    lab = labs.start(SMALL, owner="ada")
    until(trains(labs, lab))
    labs.stop(lab)
    until(lambda: not any(each.name == "lab" for each in threading.enumerate()))


def test_warming_up_is_done_once() -> None:
    thread = task_lab.warm_up()
    thread.join(30)
    assert task_lab.warm_up() is thread
    assert not thread.is_alive()

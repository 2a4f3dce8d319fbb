"""The model store: bounded, shared, and each model loaded once."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree

import pytest
import torch
from safetensors.torch import load_file, save_file

from app.engine.compute.recent import RECENT, Cache
from app.engine.models import Engine, is_open, open_engine, store, usable
from app.engine.models import engine as engine_module
from app.engine.models.shelf import Kind, Offer
from app.faces.paper.answers import ask
from app.settings import Settings
from bert_core import BertForPreTraining, BertForTokenClassification
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.verification import VerificationReport
from tests.conftest import save_heads, save_tiny


def test_a_model_in_use_outlives_its_place(
    tiny_folder: Path, headless_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_OPENED", Cache(2**30, most=1, least=1))
    mine = open_engine(offer := Offer("mine", str(tiny_folder), Kind.FOLDER))
    encoding = mine.tokenizer.encode("the [MASK]")
    before = mine.scores_at(encoding, [2])
    open_engine(other := Offer("other", str(headless_folder), Kind.FOLDER))
    assert is_open(other) and not is_open(offer)
    assert bool((mine.scores_at(encoding, [2]) == before).all())


def test_a_whole_class_verifies_a_model_once_and_nothing_is_kept(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, begun, end = list[Path](), threading.Event(), threading.Event()
    report = VerificationReport("tiny", (), (), ())

    def slow(folder: Path) -> VerificationReport:
        runs.append(folder)
        begun.set()
        assert end.wait(10)
        return report

    monkeypatch.setattr(engine_module, "verify", slow)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(tiny_engine.verify)
        assert begun.wait(10)
        rest = [pool.submit(tiny_engine.verify) for _ in range(7)]
        slot = RECENT._under_way[(tiny_engine._self, "verify")]
        while len(slot._condition._waiters) < 7:  # type: ignore[attr-defined]
            time.sleep(0.001)
        end.set()
        assert len({each.result(10).began for each in (first, *rest)}) == 1
    assert len(runs) == 1
    assert tiny_engine.verify().began > first.result().began and len(runs) == 2


def test_the_process_opens_what_is_on_offer_once(tiny_model: Path) -> None:
    offer = Offer("a name", str(tiny_model), Kind.FOLDER)
    assert not is_open(offer)
    engine = open_engine(offer)
    assert is_open(offer)
    assert open_engine(offer) is engine
    assert engine.provenance.name == "a name"
    assert open_engine().provenance.name == tiny_model.name


def _weights(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    torch.manual_seed(8)
    save_file({name: torch.randn_like(each) for name, each in tensors.items()}, folder / "new")
    (folder / "model.safetensors").write_bytes((folder / "new").read_bytes())  # like `cp`


def _config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))


def _vocabulary(folder: Path) -> None:
    lines = (folder / "vocab.txt").read_text().splitlines()
    (folder / "vocab.txt").write_text("\n".join([*lines[:5], *reversed(lines[5:])]) + "\n")


def _tokenizer(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')


@pytest.mark.parametrize("change", [_weights, _config, _vocabulary, _tokenizer, save_heads])
def test_a_model_whose_files_changed_is_opened_anew_and_the_log_says_so(
    change: Callable[[Path], object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = save_tiny(tmp_path / "model", BertForPreTraining)
    offer = Offer("a name", str(folder), Kind.FOLDER)
    before = open_engine(offer)
    assert open_engine(offer) is before and not caplog.records
    change(folder)
    with pytest.raises(CheckpointError, match="a name changed"):
        before.model(BertForTokenClassification)
    again, fresh = open_engine(offer), Engine(str(folder))
    assert again is not before and "a name changed" in caplog.text
    assert open_engine(offer) is again
    encoding = fresh.tokenizer.encode("The cat sat.")
    assert torch.equal(again.scores_at(encoding, [2]), fresh.scores_at(encoding, [2]))
    assert again.tokenizer.vocab == fresh.tokenizer.vocab
    assert again.facts.heads == fresh.facts.heads


def test_a_task_of_the_library_is_answered_by_what_was_saved_last(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", BertForPreTraining)
    first = ask("fill_mask", "The [MASK] sat.", model=str(folder)).result
    _weights(folder)
    again = ask("fill_mask", "The [MASK] sat.", model=str(folder)).result
    copied = copytree(folder, tmp_path / "b" / "model")
    fresh = ask("fill_mask", "The [MASK] sat.", model=str(copied)).result
    assert str(again) == str(fresh) != str(first)


def test_a_model_larger_than_all_may_be_is_refused_with_both_numbers(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = Settings(model_bytes=2**20)
    monkeypatch.setattr(usable, "settings", lambda: limited)
    fits = Offer("small", str(tiny_folder), Kind.FOLDER)
    assert open_engine(fits).facts.memory_bytes < 2**20
    limited = Settings(model_bytes=2**10)
    with pytest.raises(CheckpointError, match=r"large takes about \d+ MiB.* at most 0 MiB"):
        open_engine(Offer("large", str(tiny_folder), Kind.FOLDER))


def test_errors_name_the_model_and_not_its_folder(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError) as caught:
        open_engine(Offer("shown", str(tmp_path / "hidden"), Kind.FOLDER))
    assert "shown" in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)

"""The model store: bounded, shared, and each model loaded once."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from typing import cast

import pytest
import torch
from safetensors.torch import load_file, save_file

from app.engine.models import Engine, ModelStore, is_open, open_engine, usable
from app.engine.models.shelf import Kind, Offer
from app.faces.paper.answers import ask
from app.settings import Settings
from bert_core import BertForPreTraining, BertForTokenClassification
from bert_core.errors import CheckpointError, MissingFileError
from tests.conftest import save_heads, save_tiny


class FakeEngine:
    """An engine of which only identity and size count."""

    def __init__(self, size: int = 0) -> None:
        self.size = size


def fake(_: str) -> Engine:
    return cast(Engine, FakeEngine())


def size_of(engine: Engine) -> int:
    return cast(FakeEngine, engine).size


def test_thirty_threads_that_ask_at_once_load_once() -> None:
    loads: list[str] = []
    barrier = threading.Barrier(30)

    def load(name: str) -> Engine:
        loads.append(name)
        time.sleep(0.05)  # long enough for the others to arrive
        return fake(name)

    store = ModelStore(2, load)

    def ask(_: int) -> Engine:
        barrier.wait()
        return store.get("model")

    with ThreadPoolExecutor(30) as pool:
        engines = list(pool.map(ask, range(30)))
    assert loads == ["model"]
    assert len(set(map(id, engines))) == 1


def test_thirty_threads_share_one_failure_and_the_next_visitor_tries_again() -> None:
    attempts: list[str] = []
    barrier = threading.Barrier(30)

    def load(name: str) -> Engine:
        attempts.append(name)
        if len(attempts) > 1:
            return fake(name)
        time.sleep(0.2)
        raise CheckpointError("broken")

    store = ModelStore(2, load)

    def ask(_: int) -> str:
        barrier.wait()
        try:
            store.get("model")
        except CheckpointError as error:
            return str(error)
        return "loaded"

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(ask, range(30)))
    assert answers == ["broken"] * 30
    assert store.names() == ()
    assert store.get("model") is store.get("model")
    assert len(attempts) == 2


def test_the_model_unused_for_longest_leaves_first() -> None:
    store = ModelStore(2, fake)
    first = store.get("a")
    store.get("b")
    assert store.get("a") is first
    store.get("c")
    assert store.names() == ("a", "c")
    assert store.get("a") is first
    assert store.held("a") and not store.held("b")


def test_models_leave_when_they_take_more_memory_than_allowed() -> None:
    sizes = {"small": 10, "middle": 40, "large": 90, "huge": 500}
    store = ModelStore[str](
        5, lambda name: cast(Engine, FakeEngine(sizes[name])), limit=100, size=size_of
    )
    store.get("small")
    store.get("middle")
    assert store.names() == ("small", "middle")
    store.get("large")
    assert store.names() == ("large",)
    store.get("small")
    assert store.names() == ("large", "small")
    store.get("huge")  # what was asked for is given; whether it may be loaded is not asked here
    assert store.names() == ("huge",)


def test_a_failed_load_evicts_no_engine_and_is_tried_again() -> None:
    attempts: list[str] = []

    def load(name: str) -> Engine:
        attempts.append(name)
        if name == "broken":
            raise CheckpointError("broken")
        return fake(name)

    store = ModelStore(1, load)
    kept = store.get("good")
    for _ in range(2):
        with pytest.raises(CheckpointError):
            store.get("broken")
    assert store.names() == ("good",)
    assert store.get("good") is kept
    assert attempts == ["good", "broken", "broken"]


def test_an_interrupted_load_is_not_remembered_either() -> None:
    def load(name: str) -> Engine:
        raise KeyboardInterrupt

    store = ModelStore[str](1, load)
    with pytest.raises(KeyboardInterrupt):
        store.get("model")
    assert store.names() == ()


def test_different_models_load_side_by_side() -> None:
    both_inside = threading.Barrier(2, timeout=5)

    def load(name: str) -> Engine:
        both_inside.wait()  # passes only if the other load is under way too
        return fake(name)

    store = ModelStore(2, load)
    with ThreadPoolExecutor(2) as pool:
        engines = list(pool.map(store.get, ["a", "b"]))
    assert engines[0] is not engines[1]


def test_a_loaded_model_is_given_while_others_load() -> None:
    may_finish = threading.Event()

    def load(name: str) -> Engine:
        if name != "here":
            assert may_finish.wait(10)
        return fake(name)

    store = ModelStore(5, load)
    here = store.get("here")
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(store.get, name) for name in "abcd"]
        assert store.get("here") is here
        assert store.names() == ("here",)
        assert not any(store.held(name) for name in "abcd")
        may_finish.set()
        assert len({id(other.result(10)) for other in others}) == 4


def test_a_model_in_use_outlives_its_place(tiny_folder: Path, headless_folder: Path) -> None:
    store = ModelStore(1, Engine)
    mine = store.get(str(tiny_folder))
    encoding = mine.tokenizer.encode("the [MASK]")
    before = mine.scores_at(encoding, [2])
    store.get(str(headless_folder))
    assert store.names() == (str(headless_folder),)
    assert bool((mine.scores_at(encoding, [2]) == before).all())


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


@pytest.mark.parametrize("inner", ["", "0_Transformer", "encoder"])
def test_a_task_of_the_library_is_answered_by_what_was_saved_last(
    inner: str, tmp_path: Path
) -> None:
    folder = save_tiny(tmp_path / "model" / inner, BertForPreTraining)
    if inner:  # a folder of sentence-transformers
        modules = [{"path": inner, "type": "Transformer"}]
        (folder.parent / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    whole = tmp_path / "model"
    first = ask("fill_mask", "The [MASK] sat.", model=str(whole)).result
    _weights(folder)
    again = ask("fill_mask", "The [MASK] sat.", model=str(whole)).result
    copied = copytree(whole, tmp_path / "b" / "model")
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

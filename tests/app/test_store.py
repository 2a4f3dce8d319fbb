"""The model store: bounded, shared, and each model loaded once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from app.engine import Engine, ModelStore
from bert_core.errors import CheckpointError


class FakeEngine:
    """Stands for an engine where only identity counts."""


def fake(_: str) -> Engine:
    return cast(Engine, FakeEngine())


def test_eight_threads_that_ask_at_once_load_once() -> None:
    loads: list[str] = []
    barrier = threading.Barrier(8)

    def load(name: str) -> Engine:
        loads.append(name)
        time.sleep(0.05)  # long enough for the others to arrive
        return fake(name)

    store = ModelStore(2, load)

    def ask(_: int) -> Engine:
        barrier.wait()
        return store.get("model")

    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(ask, range(8)))
    assert loads == ["model"]
    assert len(set(map(id, engines))) == 1


def test_the_model_unused_for_longest_leaves_first() -> None:
    store = ModelStore(2, fake)
    first = store.get("a")
    store.get("b")
    assert store.get("a") is first
    store.get("c")
    assert store.names() == ("a", "c")
    assert store.get("a") is first


def test_a_failed_load_evicts_nobody_and_is_tried_again() -> None:
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


def test_different_models_load_side_by_side() -> None:
    both_inside = threading.Barrier(2, timeout=5)

    def load(name: str) -> Engine:
        both_inside.wait()  # passes only if the other load is under way too
        return fake(name)

    store = ModelStore(2, load)
    with ThreadPoolExecutor(2) as pool:
        engines = list(pool.map(store.get, ["a", "b"]))
    assert engines[0] is not engines[1]

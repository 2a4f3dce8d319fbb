"""The processor: never more threads than cores, long inputs on all of them when alone."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from app.engine import Engine, compute
from app.engine import engine as engine_module
from app.engine.compute import Processor

LONG, SHORT = 512, 12


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever else the machine does, these tests see a calm one; threads are put back."""
    before = torch.get_num_threads()
    monkeypatch.setattr(compute.os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
    yield
    torch.set_num_threads(before)


def threads_of(processor: Processor, tokens: int) -> int:
    with processor.turn(tokens):
        return torch.get_num_threads()


def test_a_long_input_alone_gets_the_threads_of_all_and_a_short_one_its_own() -> None:
    processor = Processor(threads=2, runs=3)
    assert threads_of(processor, LONG) == 6
    assert torch.get_num_threads() == 2
    assert threads_of(processor, SHORT) == 2


def test_threads_are_bounded_however_many_cores_there_are() -> None:
    assert threads_of(Processor(threads=4, runs=16), LONG) == 8
    assert threads_of(Processor(threads=12, runs=4), LONG) == 12  # as the operator chose


def test_nothing_computes_beside_a_long_input_that_took_all() -> None:
    processor = Processor(threads=1, runs=2)
    with ThreadPoolExecutor(1) as pool:
        with processor.turn(LONG):
            other = pool.submit(threads_of, processor, LONG)
            time.sleep(0.05)
            assert not other.done()
        assert other.result(timeout=10) == 2


def test_a_long_input_beside_another_takes_its_own_share_alone() -> None:
    processor = Processor(threads=1, runs=2)
    with ThreadPoolExecutor(1) as pool, processor.turn(SHORT):
        assert pool.submit(threads_of, processor, LONG).result(timeout=10) == 1


def test_a_long_input_that_others_wait_behind_leaves_them_room() -> None:
    processor = Processor(threads=1, runs=2)
    together = threading.Barrier(2)

    def meet() -> int:
        with processor.turn(LONG):
            together.wait(timeout=10)  # both must be inside at once
            return torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        with processor.turn(LONG):
            waiting = [pool.submit(meet) for _ in range(2)]
            while processor._waiting < 2:
                time.sleep(0.001)
        assert [each.result(timeout=10) for each in waiting] == [1, 1]


def test_on_a_busy_machine_a_long_input_keeps_to_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processor = Processor(threads=1, runs=2)
    monkeypatch.setattr(compute.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(compute.os, "getloadavg", lambda: (2.5, 0.0, 0.0), raising=False)
    assert threads_of(processor, LONG) == 1

    def unknown() -> tuple[float, float, float]:
        raise OSError("this system does not tell")

    monkeypatch.setattr(compute.os, "getloadavg", unknown, raising=False)
    assert threads_of(processor, LONG) == 2
    monkeypatch.delattr(compute.os, "getloadavg")
    assert threads_of(processor, LONG) == 2


def test_a_failure_gives_the_turn_back() -> None:
    processor = Processor(threads=1, runs=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="no"), processor.turn(LONG):
            raise ValueError("no")
    assert threads_of(processor, SHORT) == 1


def test_no_more_passes_run_at_once_than_the_settings_allow() -> None:
    processor = Processor(threads=1, runs=2)
    running, most, lock = [0], [0], threading.Lock()

    def compute_something(number: int) -> None:
        with processor.turn(SHORT if number % 3 else LONG):
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.01)  # long enough for all others to try
            with lock:
                running[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(compute_something, range(16)))
    assert most[0] == 2


def test_the_doors_of_the_engine_wait_for_their_turn(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = Processor(threads=1, runs=1)
    monkeypatch.setattr(engine_module, "PROCESSOR", processor)
    encoding = tiny_engine.tokenizer.encode("the [MASK]")
    with ThreadPoolExecutor(2) as pool:
        with processor.turn(SHORT):
            doors = [
                pool.submit(tiny_engine.scores_at, encoding, [2]),
                pool.submit(tiny_engine.run, engine_module.BertForMaskedLM, encoding),
            ]
            while processor._waiting < 2:
                time.sleep(0.001)
        results = [door.result(timeout=10) for door in doors]
    assert isinstance(results[0], torch.Tensor) and results[0].is_inference()

"""The processor: never more threads than cores, long inputs on all of them when alone."""

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import torch

from app.engine.compute import processor as processor_module
from app.engine.compute.processor import Processor
from app.engine.compute.recent import Cache
from app.engine.compute.visitor import Allowances, LimitError, Visit, visiting
from app.engine.models import Engine
from app.engine.models import engine as engine_module
from bert_core import BertForMaskedLM

LONG, SHORT = 512, 12


@pytest.fixture(autouse=True)
def threads_are_put_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def threads_of(processor: Processor, tokens: int) -> int:
    return processor.run(torch.get_num_threads, tokens=tokens)


class Holder:
    """Work that goes on until it is told to end, in a thread of its own."""

    def __init__(self, processor: Processor, tokens: int) -> None:
        self._begun, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(
            target=processor.run, args=(self._hold,), kwargs={"tokens": tokens}
        )

    def _hold(self) -> None:
        self._begun.set()
        assert self._end.wait(timeout=10)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._begun.wait(timeout=10)

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def wait_for_waiting(processor: Processor, count: int) -> None:
    end = time.monotonic() + 30
    while processor.waiting < count:
        assert time.monotonic() < end, "the queue stays empty"
        time.sleep(0.001)


def test_a_long_input_alone_gets_the_threads_of_all_within_a_bound() -> None:
    processor = Processor(threads=2, runs=3)
    assert (threads_of(processor, LONG), threads_of(processor, SHORT)) == (6, 2)
    assert threads_of(Processor(threads=4, runs=16), LONG) == 8
    assert threads_of(Processor(threads=12, runs=4), LONG) == 12  # as the operator chose


def test_nothing_computes_beside_a_long_input_that_took_all() -> None:
    processor = Processor(threads=1, runs=2)
    with ThreadPoolExecutor(1) as pool:
        with Holder(processor, LONG):
            other = pool.submit(threads_of, processor, LONG)
            time.sleep(0.05)
            assert not other.done()
        assert other.result(timeout=10) == 2
    with Holder(processor, SHORT):  # beside a short one it takes its own share alone
        assert threads_of(processor, LONG) == 1


def test_a_long_input_that_others_wait_behind_leaves_them_room() -> None:
    processor = Processor(threads=1, runs=2)
    together = threading.Barrier(2)

    def meet() -> int:
        together.wait(timeout=10)  # both must be inside at once
        return torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        with Holder(processor, LONG):
            waiting = [pool.submit(processor.run, meet, tokens=LONG) for _ in range(2)]
            wait_for_waiting(processor, 2)
        assert [each.result(timeout=10) for each in waiting] == [1, 1]


def test_a_failure_reaches_the_caller_and_gives_the_turn_back() -> None:
    processor = Processor(threads=1, runs=1)

    def fail() -> None:
        raise ValueError("no")

    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            processor.run(fail, tokens=LONG)
    assert threads_of(processor, SHORT) == 1


def test_no_more_passes_run_at_once_than_the_settings_allow() -> None:
    processor = Processor(threads=1, runs=2)
    running, most, lock = [0], [0], threading.Lock()

    def compute_something() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)  # long enough for all others to try
        with lock:
            running[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        turns = [
            pool.submit(processor.run, compute_something, tokens=SHORT if number % 3 else LONG)
            for number in range(16)
        ]
        for turn in turns:
            turn.result(timeout=10)
    assert most[0] == 2


def test_the_next_turn_is_that_of_the_visitor_served_least() -> None:
    processor = Processor(threads=1, runs=1)
    order: list[str] = []

    def pass_of(name: str, seconds: float = 0.0) -> None:
        def work() -> None:
            order.append(name)
            time.sleep(seconds)

        with visiting(Visit(name)):
            processor.run(work, tokens=SHORT)

    pass_of("long text", seconds=0.02)
    with ThreadPoolExecutor(4) as pool:
        with Holder(processor, SHORT):
            jobs = []
            for number, name in enumerate(["long text", "long text", "sentence"]):
                jobs.append(pool.submit(pass_of, name))
                wait_for_waiting(processor, number + 1)
        for job in jobs:
            job.result(timeout=10)
    assert order == ["long text", "sentence", "long text", "long text"]


def test_who_comes_later_starts_where_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))  # every pass takes a second
    monkeypatch.setattr(processor_module, "time", clock)
    processor = Processor(threads=1, runs=1)

    def passes(name: str, count: int) -> None:
        for _ in range(count):
            with visiting(Visit(name)):
                processor.run(lambda: None, tokens=SHORT)

    passes("old", 5)
    passes("new", 1)
    assert processor._queue.served == {"old": 5.0, "new": 5.0}  # it began at 4, with the last pass
    passes("new", 2)
    assert processor._queue.served == {"new": 7.0}  # the old one is where everyone starts


def test_a_visitor_who_waits_is_told_how_many_are_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_module, "_UNNOTICED", 0.01)
    monkeypatch.setattr(processor_module, "_TELL_EVERY", 0.01)
    processor, told, first = Processor(threads=1, runs=1), list[int | None](), threading.Event()

    def tell(before: int | None) -> None:
        told.append(before)
        first.set()

    def wait(name: str) -> None:
        with visiting(Visit(name, tell if name == "third" else None)):
            processor.run(lambda: None, tokens=SHORT)

    with ThreadPoolExecutor(2) as pool:
        with Holder(processor, SHORT):
            jobs = [pool.submit(wait, "second")]
            wait_for_waiting(processor, 1)
            jobs.append(pool.submit(wait, "third"))
            assert first.wait(timeout=10)
        for job in jobs:
            job.result(timeout=10)
    assert told[0] == 2 and told[-1] is None and told.count(None) == 1


def test_a_visitor_who_leaves_the_queue_holds_up_no_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor_module, "_UNNOTICED", 0.01)
    processor = Processor(threads=1, runs=1)

    def leave(_: int | None) -> None:
        raise KeyboardInterrupt  # as Streamlit ends the run of a page that was closed

    with Holder(processor, SHORT), visiting(Visit("one", leave)), pytest.raises(KeyboardInterrupt):
        processor.run(lambda: None, tokens=SHORT)
    assert threads_of(processor, LONG) == 1


def test_computing_is_counted_and_refused_when_it_is_used_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processor_module, "ALLOWANCES", Allowances(2, 100, clock=lambda: 0.0))
    processor = Processor(threads=1, runs=1)
    for _ in range(2):
        with visiting(Visit("one")):
            for _ in range(3):  # passes of one answer
                processor.run(lambda: None, tokens=SHORT)
    with (
        visiting(Visit("one")),
        pytest.raises(LimitError, match="2 answers a minute for each visitor"),
    ):
        processor.run(lambda: None, tokens=SHORT)
    with visiting(Visit("another")):
        processor.run(lambda: None, tokens=SHORT)
    processor.run(lambda: None, tokens=SHORT)  # for no one: the warm-up


def test_the_doors_of_the_engine_wait_for_their_turn(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = Processor(threads=1, runs=1)
    monkeypatch.setattr(engine_module, "PROCESSOR", processor)
    monkeypatch.setattr(engine_module, "RECENT", Cache(2**20))  # nothing is known yet
    encoding = tiny_engine.tokenizer.encode("the [MASK]")
    with ThreadPoolExecutor(2) as pool:
        with Holder(processor, SHORT):
            scores = pool.submit(tiny_engine.scores_at, encoding, [2])
            outputs = pool.submit(tiny_engine.run, BertForMaskedLM, encoding)
            wait_for_waiting(processor, 2)
        logits = outputs.result(timeout=10).logits
        assert logits is not None and logits.is_inference()
        torch.testing.assert_close(scores.result(timeout=10)[0], logits[0, 2])


def test_training_has_gradients_and_everything_else_has_none() -> None:
    processor, weight = Processor(1, 1), torch.ones(2, requires_grad=True)
    for training in (True, False):
        made = processor.run(lambda: weight * 2, tokens=SHORT, training=training)
        assert made.requires_grad is training

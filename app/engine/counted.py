"""How many answers, how long they took, and what was refused, for Prometheus.

Everything counted has a name of ours: a task or page, an interface, an outcome, a status. Nothing
of a visitor is in a number or in its labels.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from app.engine.compute.visitor import LimitError
from bert_core.errors import BertError, InputError

REGISTRY = CollectorRegistry()
"""All numbers of this process."""

_OUTCOMES: tuple[tuple[type[BaseException], str], ...] = (  # the first that fits
    (LimitError, "limited"),
    (InputError, "refused"),
    (BertError, "impossible"),
    (Exception, "failed"),
    (BaseException, "left"),  # its visitor has gone, or asked for something else
)
_ANSWERS = Counter(
    "bert_explorer_answers",
    "Answers, by task or page, interface and outcome.",
    ("task", "interface", "outcome"),
    registry=REGISTRY,
)
_SECONDS = Histogram(
    "bert_explorer_answer_seconds",
    "Seconds from the beginning of an answer to its end, waiting for a turn included.",
    ("task", "interface"),
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    registry=REGISTRY,
)
_REFUSALS = Counter(
    "bert_explorer_refusals",
    "Calls of programs that got no answer, by status of HTTP.",
    ("status",),
    registry=REGISTRY,
)
ProcessCollector(registry=REGISTRY)  # memory, processor time, open files
TURNS = Gauge(
    "bert_explorer_turns_waiting", "Forward passes that wait for their turn.", registry=REGISTRY
)
CALLS = Gauge(
    "bert_explorer_calls_waiting", "Calls of programs that wait for a place.", registry=REGISTRY
)
PAGES = Gauge("bert_explorer_pages_open", "Pages open in browsers.", registry=REGISTRY)
CLASSES = Gauge("bert_explorer_class_rooms", "Class rooms that are open.", registry=REGISTRY)
REACHED = Gauge(
    "bert_explorer_shared_reached", "1; 0 while the shared store is away.", registry=REGISTRY
)
"""These five are looked up where the numbers are known, whenever they are read."""


_AT_WORK: list[None] = []  # one for each answer


def at_work() -> int:
    """Return how many answers are being computed."""
    return len(_AT_WORK)


@contextmanager
def counted(task: str, interface: str) -> Iterator[None]:
    """Count the block as one answer of a task or page, through an interface; "" is not counted."""
    begun, outcome = time.monotonic(), "answered"
    _AT_WORK.append(None)
    try:
        yield
    except BaseException as error:
        outcome = next(word for kind, word in _OUTCOMES if isinstance(error, kind))
        raise
    finally:
        _AT_WORK.pop()
        if interface:
            _ANSWERS.labels(task, interface, outcome).inc()
            _SECONDS.labels(task, interface).observe(time.monotonic() - begun)


def count_refusal(status: int) -> None:
    """Count a call that got no answer."""
    _REFUSALS.labels(str(status)).inc()

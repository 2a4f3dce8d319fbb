"""What a visitor may use: requests and seconds in a minute, which grow back; texts and windows."""

import pytest

from app.engine.compute.visitor import (
    Allowances,
    Cancelled,
    LimitError,
    Visit,
    check_text,
    check_windows,
    current_visit,
    visiting,
)
from app.engine.models import Engine
from app.engine.models import engine as engine_module
from app.features.ner.task import ner
from app.features.qa.task import qa
from app.shared.memory import Ledger
from bert_core.errors import InputError


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_is_done_in_the_block_is_the_visitors() -> None:
    assert current_visit().name == ""
    with visiting(Visit("one")):
        assert current_visit().name == "one"
        with visiting(Visit("two")):
            assert current_visit().name == "two"
        assert current_visit().name == "one"
    assert current_visit().name == ""


def test_requests_grow_back_with_time_up_to_those_of_a_minute() -> None:
    clock = Clock()
    allowances = Allowances(requests=6, seconds=100, clock=clock)
    for _ in range(6):
        allowances.admit(Visit("one"))
    with pytest.raises(LimitError, match=r"Rate limit reached \(6 answers .* Wait 10 seconds\."):
        allowances.admit(Visit("one"))
    clock.now = 10.0
    allowances.admit(Visit("one"))
    with pytest.raises(LimitError):
        allowances.admit(Visit("one"))
    clock.now = 1_000.0
    for _ in range(6):
        allowances.admit(Visit("one"))
    with pytest.raises(LimitError):
        allowances.admit(Visit("one"))


def test_seconds_end_a_long_job_and_grow_back() -> None:
    clock = Clock()
    allowances = Allowances(requests=100, seconds=20, clock=clock)
    visit = Visit("one")
    allowances.admit(visit)
    allowances.charge(visit, 25.0)
    with pytest.raises(
        LimitError, match=r"Rate limit reached \(20 seconds of computing .* Wait 18 seconds, or"
    ):
        allowances.admit(visit)
    allowances.admit(Visit("another"))
    clock.now = 18.0
    allowances.admit(visit)


def test_the_visitors_of_one_network_have_ten_times_as_much_together() -> None:
    clock = Clock()
    allowances = Allowances(requests=2, seconds=100, clock=clock)
    for number in range(20):  # a name of its own each time wins nothing more
        allowances.admit(Visit(f"made up {number}", network="192.0.2.7"))
    says = (
        r"20 answers a minute for all visitors of one network address together\)\. Wait 3 seconds"
    )
    with pytest.raises(LimitError, match=says) as refused:
        allowances.admit(Visit("another", network="192.0.2.7"))
    assert refused.value.seconds == 3
    allowances.admit(Visit("another", network="192.0.2.8"))
    clock.now = 3.0
    allowances.admit(Visit("one more", network="192.0.2.7"))


def test_what_is_only_asked_for_no_one_or_for_one_who_has_gone() -> None:
    ledger, visit = Ledger(Clock()), Visit("one")
    allowances = Allowances(requests=1, seconds=100, ledger=ledger)
    for _ in range(5):
        allowances.admit(visit, count=False)
    for _ in range(50):  # an answer of many passes is one request
        allowances.admit(visit)
    with pytest.raises(LimitError):
        allowances.admit(Visit("one"), count=False)
    visit.cancelled = True
    with pytest.raises(Cancelled):
        allowances.admit(visit)
    before = len(ledger)
    allowances.charge(Visit(""), 1_000.0)
    allowances.admit(Visit(""))
    assert len(ledger) == before == 1


def test_accounts_are_bounded_and_the_longest_unused_goes() -> None:
    ledger = Ledger(Clock(), most=3)
    allowances = Allowances(requests=1, seconds=1, ledger=ledger)
    for name in "abcd":
        allowances.admit(Visit(name))
    assert len(ledger) == 3
    allowances.admit(Visit("a"))  # it was forgotten
    with pytest.raises(LimitError):
        allowances.admit(Visit("d"))


def test_a_text_or_its_windows_beyond_the_limit_are_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "1")
    check_text("x" * 10_000)
    with pytest.raises(InputError, match=r"has 10,001 characters; .* at most 10,000\. Shorten"):
        check_text("x" * 10_001)
    check_windows(64)
    with pytest.raises(InputError, match=r"in 65 windows; .* at most 64 for one answer\. Shorten"):
        check_windows(65)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [("TEXT", "100", "at most 100"), ("WINDOWS", "3", "at most 3 for one answer")],
)
def test_long_readers_refuse_before_anything_is_computed(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(f"BERT_EXPLORER_{variable}", value)
    monkeypatch.setattr(engine_module, "PROCESSOR", None)  # any pass would fail
    text = "the cat sat on the mat . " * 40
    with pytest.raises(InputError, match=says):
        ner(tiny_engine, text)
    with pytest.raises(InputError, match=says):
        qa(tiny_engine, text, "the cat ?")

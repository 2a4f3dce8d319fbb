"""Places for calls: whose turn it is, how many may wait, and who leaves."""

import threading
from concurrent.futures import Future
from contextvars import ContextVar

import pytest

from app.engine.compute.desk import BusyError, Desk

PATIENCE = 60  # seconds
WORD: ContextVar[str] = ContextVar("word", default="")


def test_a_sentence_does_not_wait_for_the_books_of_another() -> None:
    desk = Desk(3, each=2, waiting=60, in_all=100)
    go = threading.Event()
    books = [desk.submit("reader", go.wait) for _ in range(60)]
    assert desk.submit("another", lambda: "sentence").result(PATIENCE) == "sentence"
    assert not any(book.done() for book in books)
    go.set()
    assert all(book.result(PATIENCE) for book in books)


def test_visitors_take_turns_and_their_own_calls_stay_in_order() -> None:
    desk = Desk(1, each=1, waiting=10, in_all=100)
    go, order = threading.Event(), []
    first = desk.submit("a", go.wait)
    calls: list[Future[None]] = []
    for who, number in [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("c", 1)]:
        calls.append(desk.submit(who, lambda name=f"{who}{number}": order.append(name)))
    go.set()
    for call in [first, *calls]:
        call.result(PATIENCE)
    assert order == ["b1", "c1", "a1", "b2", "a2", "a3"]  # one of a was served before


def test_too_many_waiting_calls_are_refused_and_none_is_lost() -> None:
    desk = Desk(1, each=1, waiting=2, in_all=3)
    go = threading.Event()
    taken = [desk.submit("a", go.wait) for _ in range(3)]
    with pytest.raises(BusyError, match="2 of your calls are waiting") as refused:
        desk.submit("a", go.wait)
    assert refused.value.seconds > 0
    taken.append(desk.submit("b", go.wait))
    with pytest.raises(BusyError, match="The server is busy"):
        desk.submit("c", go.wait)
    go.set()
    assert all(each.result(PATIENCE) for each in taken)
    assert desk.submit("c", lambda: 1).result(PATIENCE) == 1
    assert not desk.waiting and not desk._at_work


def test_a_call_that_is_cancelled_leaves_the_line() -> None:
    desk = Desk(1, each=1, waiting=2, in_all=3)
    go, done = threading.Event(), []
    first = desk.submit("a", go.wait)
    gone = [desk.submit("a", lambda: done.append("gone")) for _ in range(2)]
    assert all(each.cancel() for each in gone)
    assert not desk.waiting
    stays = desk.submit("a", lambda: done.append("stays"))
    go.set()
    stays.result(PATIENCE)
    assert first.result(PATIENCE) and done == ["stays"]


def test_errors_and_the_context_of_the_caller_cross_over() -> None:
    desk = Desk(1, each=1, waiting=2, in_all=3)
    with pytest.raises(ZeroDivisionError):
        desk.submit("a", lambda: 1 / 0).result(PATIENCE)
    WORD.set("mine")
    assert desk.submit("a", WORD.get).result(PATIENCE) == "mine"

"""What visitors share: the same promises in memory and in a real Redis, and what Redis adds."""

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.rooms.records import Board, Card, Room, RoomError, Truth
from app.rooms.store import Rooms
from app.rooms.turns import joined, moved, revealed, voted
from app.rooms.written import as_room, written
from app.server.sessions import COOKIE, Cookies
from app.shared import memory, redis_store
from app.shared.memory import Account, AwayError, Documents, Memory, Tries
from app.shared.redis_store import Redis, RedisLedger
from bert_core.errors import InputError
from tests.stores import Store, needs_redis, stored
from tests.strangers import PATIENCE, until

REDIS = pytest.param("redis", marks=needs_redis)
BOUNDS: dict[str, Any] = {"seconds": 60, "group": "net", "most": 9, "most_of_group": 9}
ONE = [Account("one", 2, 10)]


class Clock:
    """A clock that is set by hand; it begins at the true time, by which Redis forgets."""

    def __init__(self) -> None:
        self.now = time.time() // 60 * 60

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with stored(tmp_path_factory.mktemp("redis")) as store:
        yield store


@pytest.fixture
def store(server: Store) -> Store:
    server.empty()
    return server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def threads_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End the threads of a test's stores, each of which would look for its server for ever."""
    begun: list[Redis] = []
    begin = Redis.begin
    monkeypatch.setattr(Redis, "begin", lambda store: (begun.append(store), begin(store)))
    yield
    for store in begun:
        store._follow = threading.Event().wait  # type: ignore[assignment]
        store._reached.clear()


def connected(store: Store, clock: Clock | None = None) -> tuple[Redis, Documents[str]]:
    """Return the store as one process has it, with its documents."""
    found = Redis(store.url, clock or Clock())
    notes: Documents[str] = found.documents("notes", str, str)
    found.begin()
    assert found.state == "reached"
    return found, notes


@pytest.fixture(params=["memory", REDIS])
def place(request: pytest.FixtureRequest, clock: Clock) -> Memory:
    if request.param == "memory":
        return Memory(clock)
    request.getfixturevalue("store")
    return connected(request.getfixturevalue("server"), clock)[0]


# -- both ------------------------------------------------------------------------------------------


def test_a_text_is_found_by_its_random_key_alone(place: Memory) -> None:
    shelf = place.shelf("links", 500, 10**6)
    keys = [shelf.keep({"text": f"é {n} \ud800"}) for n in range(50)]
    assert len(set(keys)) == 50 and min(map(len, keys)) >= 16
    assert shelf.find(keys[7]) == {"text": "é 7 \ud800"}
    assert [shelf.find(key) for key in ("", "no", keys[7][:-1])] == [None] * 3


def test_the_oldest_texts_go_when_there_are_too_many_or_they_are_too_large(
    place: Memory, clock: Clock
) -> None:
    few, small = place.shelf("few", 3, 10**6), place.shelf("small", 99, 250)
    keys, larger = [], []
    for n in range(5):
        clock.now += 1
        keys.append(few.keep({"text": str(n)}))
        larger.append(small.keep({"text": "x" * 100}))
    assert [few.find(key) is None for key in keys] == [True, True, False, False, False]
    assert [small.find(key) is None for key in larger] == [True, True, True, False, False]


def test_tries_are_counted_for_each_anew_in_each_minute(place: Memory, clock: Clock) -> None:
    tries = place.tries("votes", 2)
    assert [tries.take("a") for _ in range(3)] == [True, True, False]
    assert tries.take("b") and not tries.are_left("a")
    assert place.tries("others", 2).are_left("a")
    clock.now += 60
    assert tries.are_left("a") and tries.take("a")


def test_balances_grow_back_and_all_or_none_pay_for_a_request(place: Memory, clock: Clock) -> None:
    ledger = place.ledger("allowances")
    both = [*ONE, Account("all", 3, 10)]
    requests = [[left.requests for left in ledger.draw(both, requests=1)] for _ in range(3)]
    assert requests == [[2, 3], [1, 2], [0, 1]]
    assert [left.requests for left in ledger.draw(both)] == [0, 1]
    clock.now += 15
    ledger.draw(ONE, seconds=25.0)
    (left,) = ledger.draw(ONE, requests=1)
    assert (left.requests, left.seconds) == (0.5, -15)
    clock.now += 600
    (left,) = ledger.draw(ONE)
    assert (left.requests, left.seconds) == (2, 10)


def test_documents_are_bounded_in_all_and_in_a_group_and_end(place: Memory, clock: Clock) -> None:
    texts: Documents[str] = place.documents("texts", str, str)
    place.begin()
    few = {**BOUNDS, "most": 3, "most_of_group": 2}
    assert [texts.add(key, key, **few) for key in "abc"] == [None, None, (2, 2)]
    assert texts.add("d", "d", **{**few, "group": "other"}) is None
    assert texts.add("e", "e", **{**few, "group": "third"}) == (3, 0)
    texts.drop("a")
    assert texts.add("f", "f", **{**few, "seconds": 30}) is None
    assert sorted(texts.known()) == ["b", "d", "f"] and texts.find("a") is None
    clock.now += 31
    assert sorted(texts.known()) == ["b", "d"] and texts.change("f", str.upper) is None


def test_changes_of_many_threads_are_all_there_and_each_is_told(place: Memory) -> None:
    numbers: Documents[Any] = place.documents("numbers", list, list)
    place.begin()
    told: list[Any] = []
    numbers.add("a", [], **BOUNDS)
    numbers.listen(lambda key, before, after: told.append((key, len(after))))
    work = [
        threading.Thread(
            target=lambda: [numbers.change("a", lambda value: [*value, 1]) for _ in range(25)]
        )
        for _ in range(4)
    ]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert numbers.find("a") == [1] * 100
    assert sorted(told) == [("a", n) for n in range(1, 101)]


def test_what_a_function_refuses_changes_nothing(place: Memory) -> None:
    texts: Documents[str] = place.documents("texts", str, str)
    place.begin()
    texts.add("a", "one", **BOUNDS)

    def refuse(_: str) -> str:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        texts.change("a", refuse)
    assert texts.find("a") == "one"


# -- rooms as JSON ---------------------------------------------------------------------------------


def test_a_room_is_the_same_after_it_was_written() -> None:
    room = Room("ACDEFG", "key", "net", frozenset({"t"}), "lesson", "Title")
    cards = Card(1, "H", "?", ("a",), "choose", ("x", "y")), Card(2, "H", "?", (), "word")
    truth = Truth("says", "reveal", 1, None, ("r",))
    for turn in (
        moved(cards[0], "lesson", "Title"), joined("s", 9), voted("s", 1, 1, 30), revealed(truth),
        moved(cards[1], "lesson", "Title"), voted("s", 3, "é", 30),
    ):  # fmt: skip
        room = turn(room)
    assert as_room(json.loads(json.dumps(written(room)))) == room
    assert isinstance(room.boards[1], Board) and room.boards[1].votes[0] == {"s": 1}


# -- several processes -----------------------------------------------------------------------------


@needs_redis
def test_a_change_elsewhere_is_heard_and_none_is_lost(store: Store) -> None:
    (_, here), (_, there) = connected(store), connected(store)
    here.add("a", "x", **BOUNDS)
    heard: list[str | None] = []
    there.listen(lambda _, __, after: heard.append(after))
    assert there.find("a") == "x"  # asked for, if it has not been heard of
    work = [
        threading.Thread(
            target=lambda to=to: [to.change("a", lambda v: v + "y") for _ in range(40)]
        )  # type: ignore[misc]
        for to in (here, there)
    ]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert here.find("a") is not None
    until(lambda: here.known()["a"] == there.known()["a"] == "x" + "y" * 80)
    here.drop("a")
    until(lambda: heard[-1] is None)
    assert there.change("a", str.upper) is None


@needs_redis
def test_what_another_version_wrote_is_no_document_and_the_rest_goes_on(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    _, notes = connected(store)
    place = Redis(store.url, Clock())
    numbers: Documents[int] = place.documents("notes", str, int)
    notes.add("a", "one", **BOUNDS)
    notes.add("b", "2", **BOUNDS)
    place.begin()
    assert place.state == "reached" and dict(numbers.known()) == {"b": 2}
    notes.change("b", lambda _: "two")
    notes.add("c", "3", **BOUNDS)
    until(lambda: dict(numbers.known()) == {"c": 3})
    assert numbers.find("b") is numbers.change("b", abs) is None and place.state == "reached"
    assert caplog.text.count("cannot be read") == 1 and "two" not in caplog.text


@needs_redis
def test_who_finds_all_connections_taken_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "_ANSWER", PATIENCE)
    place, _ = connected(store)
    pool = place._client.connection_pool
    taken = [pool.get_connection() for _ in range(pool.max_connections - 1)]  # one listens
    threading.Timer(0.1, lambda: [pool.release(each) for each in taken]).start()
    tries = place.tries("votes", 2)
    assert tries.take("a") and place.state == "reached"
    assert place.tries("votes", 1).take("a") is False  # it was counted in the store


@needs_redis
def test_a_refusal_is_said_only_after_a_look_at_the_newest(store: Store) -> None:
    _, here = connected(store)
    here.add("a", "old", **BOUNDS)
    entry = here._entries["a"]
    here.change("a", lambda _: "new")
    here._entries["a"] = entry  # as if the change had not been heard of yet

    def turn(value: str) -> str:
        if value == "old":
            raise InputError("too late")
        return value.upper()

    assert here.change("a", turn) == "NEW"


@needs_redis
def test_all_servers_have_one_key_and_it_outlives_the_store(store: Store) -> None:
    (one, _), (two, _) = connected(store), connected(store)
    cookie = Cookies(one.secret).new(secure=False, framed=False)
    value = cookie.partition("=")[2].partition(";")[0]
    assert Cookies(two.secret).number_in({COOKIE: value})
    store.end()
    until(lambda: one.state == two.state == "away")
    store.start()
    until(lambda: one.state == two.state == "reached")
    assert connected(store)[0].secret() == one.secret() == two.secret()


@needs_redis
def test_everything_has_an_end_and_nothing_is_named_after_a_visitor(store: Store) -> None:
    place, notes = connected(store)
    place.shelf("links", 9, 10**6).keep({"text": "a text"})
    place.tries("votes", 9).take("192.0.2.7")
    place.ledger("allowances").draw([Account("192.0.2.7", 2, 2)], requests=1)
    notes.add("a", "x", **{**BOUNDS, "group": "192.0.2.7"})
    keys = store.client.keys()
    assert len(keys) == 9 and all(0 < store.client.ttl(key) <= 90_000 for key in keys)
    assert b"192.0.2.7" not in b"".join(keys)


@needs_redis
def test_accounts_and_tries_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    place, _ = connected(store)
    ledger = RedisLedger(place, "few", most=3)
    for name in "abcd":
        ledger.draw([Account(name, 2, 2)], requests=1)
    assert len(store.client.keys("*few:?*")) == 3
    monkeypatch.setattr(redis_store, "MOST_NAMES", 2)
    tries = place.tries("votes", 9)
    assert [tries.take(name) for name in "abc"] == [True, True, False]


def test_who_only_asks_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_NAMES", 2)
    tries = Tries(9)
    assert all(tries.are_left(name) for name in "abc") and not tries._counts
    assert [tries.take(name) for name in "abc"] == [True, True, False] and len(tries._counts) == 2


# -- away ------------------------------------------------------------------------------------------


@needs_redis
def test_while_it_is_away_pages_go_on_and_a_line_counts_it(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    place, notes = connected(store)
    rooms = Rooms(kept=place.documents("rooms", written, as_room), later=lambda *_: None)
    shelf, tries = place.shelf("links", 9, 10**6), place.tries("votes", 2)
    notes.add("a", "x", **BOUNDS)
    ended: list[str | None] = []
    notes.listen(lambda _, __, after: ended.append(after))
    before = shelf.keep({"text": "before"})
    store.end()
    with caplog.at_level(logging.WARNING):
        during = shelf.keep({"text": "during"})
        assert shelf.find(during) == {"text": "during"} and shelf.find(before) is None
        assert [tries.take("a") for _ in range(3)] == [True, True, False]
        assert [left.requests for left in place.ledger("l").draw(ONE, requests=1)] == [2]
    assert notes.find("a") == "x" and place.state == "away"
    for act in (lambda: notes.change("a", str.upper), lambda: notes.find("b")):
        with pytest.raises(AwayError):
            act()
    acts: tuple[Callable[[], object], ...] = (
        lambda: rooms.open("t", "net", "l", "T"),
        lambda: rooms.find("ACDEFG"),
    )
    for open_or_find in acts:
        with pytest.raises(RoomError, match="not available right now"):
            open_or_find()
    lines = [each.getMessage() for each in caplog.records]
    assert (
        len(lines) == 1 and "actions without it: 1; " in lines[0] and "ConnectionError" in lines[0]
    )
    store.start()  # empty: nothing was written to a disk
    until(lambda: place.state == "reached")
    assert ended == [None] and notes.find("a") is None
    assert shelf.find(during) == {"text": "during"}
    assert notes.add("a", "again", **BOUNDS) is None


@needs_redis
def test_a_server_begins_without_a_store_and_finds_it_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.end()
    monkeypatch.setattr(redis_store, "_FIRST", 0.1)
    place = Redis(store.url)
    place.begin()
    assert place.state == "away"
    store.start()
    until(lambda: place.state == "reached")


def test_nothing_of_it_is_imported_without_the_setting() -> None:
    code = "import sys, app.rooms.store, app.server.sessions; print('redis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

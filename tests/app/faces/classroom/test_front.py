"""A class over HTTP, as strangers meet it: behind the gate, with forged and hostile requests."""

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from app.faces.classroom import CLASS, Classroom
from app.faces.classroom.payloads import for_students, for_teacher
from app.rooms.records import Card, Room, Truth
from app.rooms.store import Rooms
from app.rooms.turns import hidden, joined, moved, revealed, shown, voted
from app.server.gate import Gate
from app.server.names import names_of
from app.server.policy import Policy
from app.server.sessions import Cookies, Sessions
from app.shared.memory import Memory
from tests.strangers import PATIENCE, Running, face, header, running, status, until

COOKIES = Cookies("k" * 32)
CARD = Card(1, "A gap", "Which?", ("The [MASK].",), "choose", ("paris", "lyon"))
WORD = Card(2, "A word", "Yours?", (), "word")
TRUTH = Truth("paris", "It was SECRET.", 0, None, ("right", "wrong"))
BAD = "<img/src=x/onerror=hit()>"


def new_cookie() -> str:
    return COOKIES.new(secure=False, framed=False).partition(";")[0]


def number_of(cookie: str) -> str:
    return cookie.partition("=")[2].partition(".")[0]


@dataclass
class Stream:
    """A browser that waits for events."""

    line: socket.socket
    read: bytes = b""

    def next(self) -> tuple[str, Any]:
        """Return the next event."""
        while True:
            head, found, rest = self.read.partition(b"\ndata: ")
            end = rest.find(b"\n\n") if found else -1
            if end >= 0:
                name = head.rpartition(b"event: ")[2].decode()
                self.read = rest[end + 2 :]
                return name, json.loads(rest[:end])
            part = self.line.recv(65_536)
            assert part, "the stream has ended"
            self.read += part


@dataclass
class Classes:
    """A server with a room."""

    served: Running
    rooms: Rooms
    stack: ExitStack
    teacher: str

    def open(self, card: Card = CARD) -> Room:
        room = self.rooms.open(number_of(self.teacher), "net", "slug", "A title")
        return self.rooms.change(room.code, moved(card, "slug", "A title"))

    def watch(self, room: Room, cookie: str, which: str = "events") -> Stream:
        """Open a stream that stays."""
        line = self.stack.enter_context(
            socket.create_connection(("127.0.0.1", self.served.port), timeout=PATIENCE)
        )
        path = f"{CLASS}/{room.code}/{which}"
        host = f"localhost:{self.served.port}"
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
        return Stream(line)

    def vote(self, room: Room, cookie: str, body: object, *headers: str) -> bytes:
        """Send a vote as a browser does."""
        text = body if isinstance(body, str) else json.dumps(body)
        own = headers or (f"Origin: http://localhost:{self.served.port}",)
        lines = [
            f"POST {CLASS}/{room.code}/vote HTTP/1.1", f"Host: localhost:{self.served.port}",
            "Connection: close", f"Content-Length: {len(text.encode())}", f"Cookie: {cookie}", *own,
        ]  # fmt: skip
        return self.served.say("\r\n".join(lines) + "\r\n\r\n" + text)

    def now(self, room: Room) -> Room:
        found = self.rooms.find(room.code)
        assert found is not None
        return found


@pytest.fixture
def classes() -> Iterator[Classes]:
    rooms = Rooms(later=lambda *_: None)

    def gate(port: int) -> Gate:
        return Gate(
            face(),
            Classroom(face(), below="", rooms=rooms, counting=Memory(lambda: 60.0)),
            below={CLASS: Policy().classroom},
            names=names_of("127.0.0.1", port, "desk", ()),
            policy=Policy(),
            cookies=COOKIES,
            sessions=Sessions(9, 9, 200),
            closed=(),
        )

    with running(gate, 400) as served, ExitStack() as stack:
        yield Classes(served, rooms, stack, new_cookie())


def test_the_page_runs_its_own_files_alone_and_is_the_same_for_every_code(
    classes: Classes,
) -> None:
    real, wrong = (classes.served.ask(f"{CLASS}/{c}") for c in (classes.open().code, "WRONGX"))
    assert real.partition(b"\r\n\r\n")[2] == wrong.partition(b"\r\n\r\n")[2]
    policy = header(real, "content-security-policy")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert b"onclick" not in real and b"<style" not in real and b"<script>" not in real
    assert header(classes.served.ask(CLASS), "location") == "class/"
    for name in ("page.js", "page.css", "classroom.js", "classroom.css"):
        assert status(classes.served.ask(f"{CLASS}/{name}")) == 200
    assert status(classes.served.ask(f"{CLASS}/a/b/c")) == 404
    assert status(classes.served.ask(f"{CLASS}/..%2f..%2fapp.py")) in {200, 404}
    assert b"import" not in classes.served.ask(f"{CLASS}/..%2fapp.py")


def test_every_browser_is_told_of_a_step_its_own_vote_and_the_end(classes: Classes) -> None:
    room, cookies = classes.open(), [new_cookie() for _ in range(3)]
    streams = [classes.watch(room, each) for each in cookies]
    panel = classes.watch(room, classes.teacher, "teacher")
    for each in streams:
        assert each.next() == ("mine", {"1": [None, None]})
        name, told = each.next()
        assert (name, told["phase"], told["choices"]) == ("state", "ask", ["paris", "lyon"])
    stage = classes.now(room).stage
    assert status(classes.vote(room, cookies[0], {"stage": stage, "guess": 1})) == 200
    told = panel.next()[1]
    while told["answered"] < 1:
        told = panel.next()[1]
    assert (told["here"], told["bars"][1]["first"]) == (3, 1)
    late = classes.watch(room, cookies[0])  # a reload
    assert late.next() == ("mine", {"1": [1, None]})
    classes.rooms.change(room.code, shown())
    for each in streams:
        assert [bar["first"] for bar in each.next()[1]["bars"]] == [0, 1]
    classes.rooms.change(room.code, revealed(TRUTH))
    for each in streams:
        assert each.next()[1]["truth"]["replies"] == ["right", "wrong"]
    classes.rooms.end(room.code)
    for each in streams:
        assert each.next() == ("end", {"says": "The class has ended."})
    assert panel.next()[0] == "end"
    again = classes.watch(room, cookies[0]).next()  # as after a restart
    assert again[0] == "end" and "or when the server restarts" in again[1]["says"]


def test_students_never_get_a_key_a_number_the_truth_or_a_word_before_it_is_shown(
    classes: Classes,
) -> None:
    cookie = new_cookie()
    room = classes.open()
    found = voted("member-1", 1, 1, 9)(joined("member-1", 9)(classes.now(room)))
    for turn in (lambda room: room, shown(), revealed(TRUTH)):
        found = turn(found)
        for sent in (for_students(found), for_teacher(found)):
            for secret in (room.key, number_of(classes.teacher), number_of(cookie), "member-1"):
                assert secret.encode() not in sent
        assert (b"SECRET" in for_students(found)) == (turn is not shown and found.board is not None
                and found.board.phase == "revealed")  # fmt: skip
    found = moved(WORD, "slug", "A title")(found)
    found = voted("member-1", found.stage, BAD, 40)(found)
    assert BAD.encode() not in for_students(found) + for_teacher(found)
    found = shown({BAD: 0.5})(found)
    assert BAD.encode() in for_teacher(found) and BAD.encode() not in for_students(found)
    found = revealed(Truth("x", "y"), {BAD: 0.5})(found)
    assert BAD.encode() in for_students(found)
    found = hidden(0, found.stage)(found)
    assert BAD.encode() not in for_students(found) + for_teacher(found)


VOTES: list[tuple[object, int]] = [
    ("", 422), ("{", 422), ("[]", 422), ("[" * 900, 422), ("x" * 5_000, 422), ("{}", 422),
    ({"stage": "1", "guess": 0}, 422), ({"stage": True, "guess": 0}, 422),
    ({"stage": 1}, 422), ({"stage": 1, "guess": 7}, 422), ({"stage": 1, "guess": BAD}, 422),
    ({"stage": 9, "guess": 0}, 409), ({"stage": 1, "guess": 0}, 200),
]  # fmt: skip


def test_a_vote_is_small_well_formed_and_for_what_is_asked_now(
    classes: Classes, caplog: pytest.LogCaptureFixture
) -> None:
    room, cookie = classes.open(), new_cookie()
    assert classes.watch(room, cookie).next()[0] == "mine"
    for body, code in VOTES:
        with caplog.at_level(logging.DEBUG):
            answer = classes.vote(room, cookie, body)
        assert status(answer) == code, body
        assert BAD.encode() not in answer and BAD not in caplog.text and room.key not in caplog.text
        board = classes.now(room).board
        assert board is not None and len(board.votes[0]) == (code == 200)


def test_a_vote_comes_from_the_page_of_this_server_and_a_browser_with_its_own_cookie(
    classes: Classes,
) -> None:
    room, cookie = classes.open(), new_cookie()
    assert classes.watch(room, cookie).next()[0] == "mine"
    body = {"stage": 1, "guess": 0}
    assert status(classes.vote(room, cookie, body, "Origin: http://evil.example")) == 403
    assert status(classes.vote(room, cookie, body, "X-No: origin")) == 409
    for forged in ("bert_explorer_visitor=" + "0" * 32 + "." + "0" * 64, "x=y"):
        answer = classes.vote(room, forged, body)
        assert status(answer) == 409 and b"keeps no cookie" in answer
    named = f"x-bert-explorer-visitor: {number_of(cookie)}"
    own = f"Origin: http://localhost:{classes.served.port}"
    assert status(classes.vote(room, "x=y", body, own, named)) == 409
    board = classes.now(room).board
    assert board is not None and board.votes == ({}, {})


def test_votes_and_wrong_codes_are_counted_but_who_is_in_the_class_goes_on(
    classes: Classes,
) -> None:
    room, cookie, other = classes.open(), new_cookie(), new_cookie()
    assert classes.watch(room, cookie).next()[0] == "mine"
    codes = [status(classes.vote(room, cookie, {"stage": 1, "guess": n % 2})) for n in range(62)]
    assert codes == [200] * 60 + [429] * 2
    board = classes.now(room).board
    assert board is not None and len(board.votes[0]) == 1
    asked = [
        classes.served.ask(f"{CLASS}/AAAA{n:02}/events", f"Cookie: {other}") for n in range(62)
    ]
    assert [b"Too many wrong codes" in each for each in asked] == [False] * 60 + [True] * 2
    assert b"Too many wrong codes" in classes.served.ask(
        f"{CLASS}/{room.code}/events", f"Cookie: {other}"
    )
    assert classes.watch(room, cookie).next()[0] == "mine"


def test_who_gets_no_stream_of_a_class_is_told_why(
    classes: Classes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MEMBERS", "1")
    room, cookie = classes.open(), new_cookie()
    assert [classes.watch(room, cookie).next()[0] for _ in range(4)] == ["mine"] * 3 + ["end"]
    assert "is full" in classes.watch(room, new_cookie()).next()[1]["says"]
    for other in (new_cookie(), "bert_explorer_visitor=forged", ""):  # the teacher's is another
        assert classes.watch(room, other, "teacher").next()[0] == "end"
    assert classes.watch(room, classes.teacher, "teacher").next()[0] == "state"
    monkeypatch.setenv("BERT_EXPLORER_CLASSES", "off")
    answer = classes.served.ask(f"{CLASS}/{room.code}/events", f"Cookie: {cookie}")
    assert status(answer) == 404 and b"switched off" in answer


def test_sixty_who_leave_at_once_and_some_who_never_read_leave_the_room_as_it_is(
    classes: Classes,
) -> None:
    room = classes.open()
    streams = [classes.watch(room, new_cookie()) for _ in range(60)]
    silent = [classes.watch(room, new_cookie()) for _ in range(3)]
    for each in streams:
        assert each.next()[0] == "mine"
    until(lambda: len(classes.now(room).here) == 63)
    for each in streams:
        each.line.close()
    until(lambda: len(classes.now(room).here) == 3)
    for n in range(2, 300):  # far more than they have read
        classes.rooms.change(room.code, moved(Card(n % 7 + 1, "x" * 500, ""), "slug", "A title"))
    stream = classes.watch(room, new_cookie())
    assert [stream.next()[0], stream.next()[0]] == ["mine", "state"]
    assert len(silent) == 3 and len(classes.now(room).members) == 64

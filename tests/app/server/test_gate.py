"""What is refused before an interface sees it, and what every answer carries."""

import logging
import socket
from contextlib import ExitStack

import pytest

from app.server.policy import Policy
from app.server.sessions import COOKIE
from app.server.stopping import STOP
from tests.app.server.conftest import COOKIES
from tests.strangers import AWAKE, HANDSHAKE, PATIENCE, Served, header, status, until


def test_a_page_comes_with_its_headers_a_cookie_and_no_banner(served: Served) -> None:
    answer = served.ask("/")
    assert status(answer) == 200
    for name, value in Policy().first(f"localhost:{served.port}").items():
        assert header(answer, name) == value
    assert COOKIE in header(answer, "set-cookie")
    assert header(answer, "server") == ""


def test_the_cookie_is_given_once_and_only_with_a_page(served: Served) -> None:
    cookie = header(served.ask("/"), "set-cookie").partition(";")[0]
    assert header(served.ask("/", f"Cookie: {cookie}"), "set-cookie") == ""
    assert header(served.ask("/echo"), "set-cookie") == ""
    assert COOKIE in header(served.ask("/", f"Cookie: {COOKIE}=forged"), "set-cookie")


def test_who_drains_sends_new_visitors_elsewhere_and_keeps_the_others(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = header(served.ask("/"), "set-cookie").partition(";")[0]
    monkeypatch.setattr(STOP, "draining", True)
    for new in (served.ask("/", "Accept: text/html"), served.knock("/stream")):
        assert status(new) == 503 and b"Another one will answer" in new
        assert header(new, "refresh") == header(new, "retry-after") == "2"
    assert status(served.ask("/", "Accept: text/html", f"Cookie: {cookie}")) == 200
    assert status(served.knock("/stream", f"Cookie: {cookie}")) == 101
    assert status(served.ask("/echo")) == 200  # as for a program that watches


def test_another_name_is_misdirected_on_both_faces(served: Served) -> None:
    for path in ("/", "/gradio/", "/echo", "/missing", "/gradio/echo"):
        for host in ("evil.example", "localhost:1", f"evil.example:{served.port}", " "):
            answer = served.ask(path, host=host)
            assert status(answer) == 421, (path, host)
            assert b"BERT_EXPLORER_HOSTS" in answer and b"A page." not in answer


def test_a_foreign_page_gets_nothing_from_either_face(served: Served) -> None:
    for path in ("/", "/echo", "/gradio/", "/stream", "/gradio/stream"):
        asked = served.knock if path.endswith("stream") else served.ask
        for origin in ("http://evil.example", "http://localhost:1", "null"):
            answer = asked(path, f"Origin: {origin}")
            assert status(answer) == 403, (path, origin)
            assert header(answer, "content-security-policy").startswith("default-src 'none'")
        own = f"Origin: http://localhost:{served.port}"
        assert status(asked(path, own)) in {101, 200}
    assert status(served.ask("/", own, "Origin: http://evil.example")) == 403


def test_behind_a_proxy_a_face_sees_the_name_that_the_browser_knows(served: Served) -> None:
    answer = served.ask("/", "Origin: https://public.example")
    assert header(answer, "x-host") == "public.example"
    answer = served.knock("/stream", "Origin: https://public.example")
    assert header(answer, "x-host") == "public.example"


def test_what_is_closed_is_not_there(served: Served) -> None:
    agent, metrics = "/_stcore/agent/interact", "/_stcore/metrics"
    for path in (agent, metrics, f"/x{metrics}", "/%5fstcore/metrics"):
        assert status(served.ask(path)) == 404
        assert status(served.ask(path, "Content-Length: 0", method="POST")) == 404


def test_a_request_says_its_length_and_is_not_too_long(served: Served) -> None:
    chunked = served.ask("/echo", "Transfer-Encoding: chunked", method="POST")
    assert status(chunked) == 411
    assert status(served.ask("/echo", f"Content-Length: {7 * 2**20}", method="POST")) == 413
    whole = f"POST /echo HTTP/1.1\r\nHost: localhost:{served.port}\r\nConnection: close\r\n"
    body = "x" * 100_000
    assert b"100000 bytes" in served.say(f"{whole}Content-Length: {len(body)}\r\n\r\n{body}")


def test_what_goes_wrong_is_told_without_its_text(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = served.ask("/fail?text=my-secret-words")
    assert status(answer) == 500
    assert b"my-secret" not in answer and b"Traceback" not in answer
    assert header(answer, "x-content-type-options") == "nosniff"
    ours = [record.getMessage() for record in caplog.records if record.name == "app"]
    assert len(ours) == 1 and "ValueError" in ours[0] and "in fail" in ours[0]
    assert "my-secret" not in caplog.text


def test_a_websocket_without_a_handler_is_refused_with_headers(served: Served) -> None:
    answer = served.knock("/missing")
    assert status(answer) == 403
    assert header(answer, "x-content-type-options") == "nosniff"


def open_socket(stack: ExitStack, served: Served, *headers: str) -> bytes:
    """Open a websocket that stays; return the answer."""
    line = stack.enter_context(
        socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
    )
    lines = ["GET /stream HTTP/1.1", f"Host: localhost:{served.port}", *HANDSHAKE, *headers]
    line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    return line.recv(65_536)


def test_a_visitor_who_opens_too_many_pages_is_told(served: Served) -> None:
    cookie = "Cookie: " + COOKIES.new(secure=False, framed=False).partition(";")[0]
    with ExitStack() as stack:
        assert [status(open_socket(stack, served, cookie)) for _ in range(3)] == [101, 101, 429]
        refused = served.ask("/", cookie, "Accept: text/html")
        assert status(refused) == 429 and b"Close some of them" in refused
        assert status(served.ask("/echo", cookie)) == 200  # what open pages need goes on
        assert status(open_socket(stack, served)) == 101  # another visitor of the same address
        assert status(open_socket(stack, served)) == 429
    assert status(served.ask("/", cookie, "Accept: text/html")) == 200


def begin(stack: ExitStack, served: Served, path: str, *headers: str) -> None:
    """Send a request whose answer is not waited for."""
    line = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
    stack.enter_context(line)
    lines = [f"GET {path} HTTP/1.1", f"Host: localhost:{served.port}", *headers]
    line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())


def test_a_page_of_the_second_face_counts_too(served: Served) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            begin(stack, served, "/gradio/heartbeat/1")
        until(lambda: status(served.ask("/gradio/", "Accept: text/html")) == 429)


def test_requests_that_last_hold_only_a_part_of_the_connections(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = "Cookie: " + COOKIES.new(secure=False, framed=False).partition(";")[0]
    with ExitStack() as stack:
        for number in range(4):
            made_up = f"Cookie: {COOKIE}={number:032x}.{number:064x}"  # no visitor
            begin(stack, served, "/gradio/sleep", made_up)
        until(lambda: status(served.ask("/echo")) == 429)
        assert b"requests from your network address" in served.ask("/api/echo", cookie)
        assert status(open_socket(stack, served, cookie)) == 101  # pages are counted apart
        assert status(served.ask("/echo", cookie)) == 200  # and so is what they ask for
    monkeypatch.setattr(AWAKE, "is_set", lambda: True)
    until(lambda: status(served.ask("/echo")) == 200)


def test_faces_learn_who_asks_from_the_gate_and_not_from_the_client(served: Served) -> None:
    forged = "X-Bert-Explorer-Visitor: forged"
    cookie = COOKIES.new(secure=False, framed=False).partition(";")[0]
    known = served.ask("/gradio/", f"Cookie: {cookie}", forged, forged)
    assert header(known, "x-visitor") == cookie.partition("=")[2].partition(".")[0]
    unknown = served.ask("/gradio/", forged, "X-Bert-Explorer-Network: 192.0.2.1")
    assert header(unknown, "x-visitor") == "@127.0.0.1"


def test_the_second_face_has_its_own_policy_and_a_nonce_in_each_script(served: Served) -> None:
    answers = [served.ask("/gradio/", "Accept: text/html") for _ in range(2)]
    nonces = set()
    for answer in answers:
        policy = header(answer, "content-security-policy")
        nonce = policy.partition("'nonce-")[2].partition("'")[0]
        body = answer.partition(b"\r\n\r\n")[2].decode()
        assert len(nonce) > 20 and body.count(f'<script nonce="{nonce}"') == 2
        assert body.count("<script") == 2 and len(body) == int(header(answer, "content-length"))
        nonces.add(nonce)
    assert len(nonces) == 2
    assert "unsafe-eval" not in header(served.ask("/"), "content-security-policy")
    assert b"nonce" not in served.ask("/gradiometer")
    of_programs = header(served.ask("/api/"), "content-security-policy")
    assert of_programs.startswith("default-src 'none'") and "script" not in of_programs

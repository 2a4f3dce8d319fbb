"""The server is stopped: with a full house, for each kind of client, and twice."""

import asyncio
import json
import re
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from app.server import stopping
from app.server.stopping import Stop
from app.settings import BUNDLED_MODEL
from benchmarks.visitor import Visitor
from tests.compat.uvicorn import is_leaving, open_now
from tests.strangers import (
    HANDSHAKE,
    PATIENCE,
    Running,
    Site,
    everything,
    header,
    started,
    status,
    until,
)

STOPPED = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO app: stopped by SIGTERM after \d+\.\d s\n"
SAID = {signal.SIGTERM: (0, STOPPED), signal.SIGINT: (130, r"Stopped\.\n")}
signals = pytest.mark.parametrize("number", SAID, ids=["SIGTERM", "SIGINT"])
WORDS = "This server is being stopped. Try again in a few seconds."

# -- a full house ----------------------------------------------------------------------------------

LINE = "The river bank of the city was closed. "
STREAMS = ("heartbeat/one", "heartbeat/two", "heartbeat/three")


@dataclass
class Crowd:
    """What visitors have seen of the end.

    Attributes:
        codes: with which the websockets of their pages were closed.
        answers: to calls that were waiting.
    """

    codes: list[int | None]
    answers: list[bytes]


def request(site: Site, path: str, body: object = None) -> bytes:
    """Write a request for Gradio."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [
        f"{'GET' if body is None else 'POST'} /gradio/gradio_api/{path} HTTP/1.1",
        f"Host: localhost:{site.port}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


def following(site: Site, path: str) -> socket.socket:
    """Follow a stream; return the connection once it has begun."""
    line = socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE)
    line.sendall(request(site, path))
    assert status(line.recv(65_536)) == 200
    return line


async def code(visitor: Visitor) -> int | None:
    """Wait until a page is closed by the server; return why."""
    assert visitor._connection is not None
    await asyncio.wait_for(visitor._connection.wait_closed(), PATIENCE)
    return visitor._connection.close_code


async def full_house(site: Site, number: signal.Signals) -> Crowd:
    """Fill the house and stop it; return what everybody has seen of that.

    Twelve pages are open: eight wait for a long text. Three clients follow a stream of
    Gradio, and twenty call it with a book each.
    """
    assert status(await asyncio.to_thread(site.ask, "/gradio/", "Accept: text/html")) == 200
    with ThreadPoolExecutor(23) as pool, ExitStack() as stack:
        loop = asyncio.get_running_loop()
        lines = [stack.enter_context(following(site, path)) for path in STREAMS]
        visitors = [await Visitor(site.address).__aenter__() for _ in range(12)]
        texts = [f"text={n}+[MASK]+{LINE * 240}".replace(" ", "+") for n in range(8)]
        pages = [asyncio.ensure_future(visitor.open("fill_mask", text))
                 for visitor, text in zip(visitors[1:9], texts, strict=True)]  # fmt: skip
        books = [{"data": [f"{n} [MASK] {LINE * 2_400}", 5, "", 0, ""]} for n in range(20)]
        calls = [loop.run_in_executor(pool, site.say, request(site, "run/fill_mask", book))
                 for book in books]  # fmt: skip
        streams = [loop.run_in_executor(pool, everything, line) for line in lines]
        await asyncio.sleep(2)
        site.process.send_signal(number)
        seen = Crowd(await asyncio.gather(*map(code, visitors)), await asyncio.gather(*calls))
        await asyncio.gather(*streams, *pages, return_exceptions=True)
    return seen


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_full_house_is_told_and_the_log_has_one_line(
    tmp_path: Path, number: signal.Signals
) -> None:
    with started(tmp_path, Path(BUNDLED_MODEL)) as site:
        seen = asyncio.run(full_house(site, number))
        left, said = SAID[number]
        assert site.process.wait(PATIENCE) == left
    announced, _, rest = site.log.read_text(encoding="utf-8").partition("\n")
    assert "URL" in announced and re.fullmatch(said, rest)
    assert set(seen.codes) == {1012}
    assert 503 in map(status, seen.answers) and {*map(status, seen.answers)} <= {200, 503}
    for answer in seen.answers:
        assert status(answer) == 200 or (header(answer, "retry-after"), answer[-57:]) == (
            "10",
            WORDS.encode(),
        )


# -- each kind of client ---------------------------------------------------------------------------


def opened(served: Running, text: str) -> socket.socket:
    """Send something, and let the server have read it before it is stopped."""
    line = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
    line.sendall(text.format(port=served.port).replace("\n", "\r\n").encode())
    return line


SHY = "\n".join(["GET /shy HTTP/1.1", "Host: localhost:{port}", *HANDSHAKE, "", ""])


@pytest.mark.parametrize(
    "text",
    [
        "GET /sleep HTTP/1.1\nHost: localhost:{port}\n\n",
        "GET /sleep HTTP/1.1\nHost: loc",
        "POST /echo HTTP/1.1\nHost: localhost:{port}\nContent-Length: 100\n\nhalf",
        "",
        SHY,
    ],
    ids=["waits", "half a head", "half a body", "silent", "handshake"],
)
def test_a_client_without_an_answer_gets_503(served: Running, text: str) -> None:
    with opened(served, text) as line:
        until(lambda: open_now(served.server)[0] == 1)
        if text.endswith("\n"):
            until(lambda: open_now(served.server)[1] == 1)
        served.server.begin()
        answer = everything(line)
    assert status(answer) == 503 and answer.endswith(WORDS.encode())
    assert header(answer, "retry-after") == "10"
    assert header(answer, "x-content-type-options") == "nosniff"


def test_who_comes_afterwards_gets_503(served: Running) -> None:
    served.server.begin()
    until(lambda: is_leaving(served.server))
    for answer in (served.ask("/"), served.knock("/stream")):
        assert status(answer) == 503 and header(answer, "retry-after") == "10"


def test_an_answer_that_has_begun_may_be_read_to_its_end(served: Running) -> None:
    with opened(served, "GET /drip HTTP/1.1\nHost: localhost:{port}\n\n") as line:
        answer = b""
        while b"one half" not in answer:
            answer += line.recv(65_536)
        served.server.begin()
        answer += everything(line)
    assert status(answer) == 200 and b"the other half" in answer and answer.endswith(b"0\r\n\r\n")
    until(served.server.is_over)


def test_a_page_is_closed_with_a_word(served: Running) -> None:
    with connect(f"ws://localhost:{served.port}/stream") as page:
        served.server.begin()
        with pytest.raises(ConnectionClosed):
            page.recv(PATIENCE)
        assert (page.close_code, page.close_reason) == (1012, WORDS)
    until(served.server.is_over)


def test_an_idle_server_stops_at_once(served: Running) -> None:
    assert not served.server.is_over()
    served.server.begin()
    until(served.server.is_over)


# -- signals ---------------------------------------------------------------------------------------


class Endless:
    """A farewell that is never over."""

    def begin(self) -> None:
        """Begin."""

    def is_over(self) -> bool:
        return False


@pytest.mark.parametrize("again", SAID, ids=["SIGTERM again", "SIGINT again"])
@signals
def test_a_second_signal_ends_it_at_once_with_the_status_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    number: signal.Signals,
    again: signal.Signals,
) -> None:
    monkeypatch.setattr(stopping, "_LONGEST", 10 * PATIENCE)
    left: list[int] = []
    stop = Stop(left.append)
    stop.with_farewell(Endless())
    thread = threading.Thread(target=stop.wait)
    thread.start()
    for each in (number, again, again):
        stop.hear(each)
    thread.join(PATIENCE)
    assert left == [SAID[number][0]]
    assert re.fullmatch(SAID[number][1], capfd.readouterr().err)


def stopped_by(stop: Stop, *numbers: signal.Signals) -> None:
    for each in numbers:
        stop.hear(each)
    stop.wait()


def test_who_drains_waits_for_a_notice_and_for_what_is_being_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stopping, "_NOTICE", 0.05)
    left: list[int] = []
    seen: list[bool] = []
    stop = Stop(left.append)

    def at_work() -> int:
        seen.append(stop.draining)
        return 3 - len(seen)

    stop.with_drain(10 * PATIENCE, at_work)
    stopped_by(stop, signal.SIGTERM)
    assert left == [0] and seen == [True] * 3


@pytest.mark.parametrize("numbers", [[signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]])
def test_ctrl_c_and_a_second_signal_do_not_wait_for_a_drain(numbers: list[signal.Signals]) -> None:
    left: list[int] = []
    stop = Stop(left.append)
    stop.with_drain(10 * PATIENCE, lambda: 1)
    stopped_by(stop, *numbers)
    assert left == [130 if numbers[0] == signal.SIGINT else 0]


def test_a_drain_ends_after_its_seconds_whatever_is_being_answered() -> None:
    left: list[int] = []
    stop = Stop(left.append)
    stop.with_drain(0.05, lambda: 1)
    stopped_by(stop, signal.SIGTERM)
    assert left == [0]


def test_a_farewell_without_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stopping, "_LONGEST", 0.05)
    left: list[int] = []
    stop = Stop(left.append)
    stop.with_farewell(Endless())
    stop.hear(signal.SIGTERM)
    stop.wait()
    assert left == [0] and "stopped by SIGTERM" in capfd.readouterr().err

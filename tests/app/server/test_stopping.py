"""The server is stopped: for each kind of client, by each signal, and twice."""

import re
import signal
import socket
import threading
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from app.server import stopping
from app.server.stopping import Stop
from tests.compat.uvicorn import open_now
from tests.strangers import PATIENCE, Running, everything, header, status, until

STOPPED = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO app: stopped by SIGTERM after \d+\.\d s\n"
SAID = {signal.SIGTERM: (0, STOPPED), signal.SIGINT: (130, r"Stopped\.\n")}
signals = pytest.mark.parametrize("number", SAID, ids=["SIGTERM", "SIGINT"])

# -- each kind of client ---------------------------------------------------------------------------


def test_who_waits_gets_503_and_an_answer_that_has_begun_is_read_to_its_end(
    served: Running,
) -> None:
    request = "GET /{} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n"
    with ExitStack() as stack:
        waiting, begun, silent = (
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port), PATIENCE))
            for _ in range(3)
        )
        page = stack.enter_context(connect(f"ws://localhost:{served.port}/stream"))
        waiting.sendall(request.format("sleep", served.port).encode())
        begun.sendall(request.format("drip", served.port).encode())
        first = begun.recv(65_536)
        until(lambda: open_now(served.server)[1] >= 2)
        served.server.should_exit = True
        answer, rest = everything(waiting), everything(begun)
        with pytest.raises(ConnectionClosed):
            page.recv(PATIENCE)
        assert everything(silent) == b""
    assert status(answer) == 503 and header(answer, "retry-after") == "2"
    assert header(answer, "x-content-type-options") == "nosniff"
    assert status(first) == 200 and rest.endswith(b"0\r\n\r\n")
    assert page.close_code == 1012
    until(lambda: not served.server.has_connections)


# -- signals ---------------------------------------------------------------------------------------


class Endless:
    """A server whose clients stay."""

    should_exit = False
    has_connections = True


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
    stop.server = Endless()  # type: ignore[assignment]
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
    left, seen = list[int](), list[bool]()
    stop = Stop(left.append)

    def at_work() -> int:
        seen.append(stop.draining)
        return 3 - len(seen)

    stop.with_drain(10 * PATIENCE, at_work)
    stopped_by(stop, signal.SIGTERM)
    assert left == [0] and seen == [True] * 3


@pytest.mark.parametrize(
    ("numbers", "seconds", "status"),
    [
        ([signal.SIGINT], 10 * PATIENCE, 130),
        ([signal.SIGTERM, signal.SIGTERM], 10 * PATIENCE, 0),
        ([signal.SIGTERM], 0.05, 0),
    ],
)
def test_ctrl_c_a_second_signal_and_its_seconds_end_a_drain(
    numbers: list[signal.Signals], seconds: float, status: int
) -> None:
    left = list[int]()
    stop = Stop(left.append)
    stop.with_drain(seconds, lambda: 1)
    stopped_by(stop, *numbers)
    assert left == [status]


def test_clients_that_stay_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stopping, "_LONGEST", 0.05)
    left = list[int]()
    stop = Stop(left.append)
    stop.server = Endless()  # type: ignore[assignment]
    stopped_by(stop, signal.SIGTERM)
    assert left == [0] and "stopped by SIGTERM" in capfd.readouterr().err

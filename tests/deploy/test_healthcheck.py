"""The container's health check: 0 only if the server says that its model answers."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deploy.healthcheck import main


class Server(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/healthz" else 404)
        self.end_headers()
        self.wfile.write(b'{"status": "as told"}')

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Server]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        monkeypatch.setenv("STREAMLIT_SERVER_PORT", str(running.server_port))
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # it is not asked
        yield Server
        running.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "found"), [(200, 0), (503, 1), (421, 1)])
def test_the_exit_status_says_whether_the_model_answers(
    status: int,
    found: int,
    server: type[Server],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(server, "status", status)
    assert main() == found
    assert "as told" in capsys.readouterr().out


def test_no_server_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", "9")
    with pytest.raises(ConnectionRefusedError):  # with exit status 1
        main()

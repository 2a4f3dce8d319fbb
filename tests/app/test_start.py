"""Starting and stopping `python app.py`: one line and a proper exit status, whatever is wrong."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest

from app.engine.models.copies import downloads_folder
from app.server import model as server
from app.server.listening import listener
from app.server.model import warm_up
from bert_core.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120  # seconds; a slow machine is not a failure


def started(*arguments: str, script: str = "app.py", **environment: str) -> "subprocess.Popen[str]":
    """Start the site on a free port, with nothing of the environment but what is given."""
    kept = {name: value for name, value in os.environ.items() if "BERT_EXPLORER" not in name}
    return subprocess.Popen(
        [sys.executable, script, *arguments],
        cwd=ROOT,
        env={**kept, "STREAMLIT_SERVER_PORT": "0", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# -- before the server -----------------------------------------------------------------------------


def test_what_cannot_be_obeyed_is_one_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        asked = (
            ("BERT_EXPLORER_THREADS", "99999", "BERT_EXPLORER_THREADS is '99999'; expected a"),
            ("BERT_EXPLORER_MODEL", str(tmp_path), f"The model {tmp_path} cannot be opened"),
            ("STREAMLIT_SERVER_SSL_CERT_FILE", "c.pem", "expected both or neither"),
            ("STREAMLIT_SERVER_PORT", "9" * 5_000, f"The port is '{'9' * 20}'; expected a number"),
            ("STREAMLIT_SERVER_PORT", port, f"Port {port} of 127.0.0.1 is in use"),
        )
        processes = [started(**{name: value}) for name, value, _ in asked]
        for process, (*_, says) in zip(processes, asked, strict=True):
            out, err = process.communicate(timeout=PATIENCE)
            assert (process.returncode, out) == (2, "")
            assert says in err and err.count("\n") == 1


def test_a_model_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "/no/such/model")
    with pytest.raises(ConfigError, match=r"There is no model /no/such/model"):
        server.bring_model()


@pytest.mark.parametrize("port", ["8501", "", None, -1, 65_536, 10**30])
def test_a_port_is_a_number_that_ports_have(port: object) -> None:
    with pytest.raises(ConfigError, match="expected a number from 1 to 65535"):
        listener("127.0.0.1", port)


@pytest.mark.parametrize("address", ["192.0.2.1", "a..b", "unix:///x", "1.2.3", "é" * 80])
def test_an_address_is_one_of_this_machine(address: str) -> None:
    with pytest.raises(ConfigError, match="expected one of this machine"):
        listener(address, 0)


def test_an_address_that_can_be_had_is_given_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    for address, wanted in [("127.0.0.1", port), ("127.0.0.1", port), ("0.0.0.0", 0), ("::", 0)]:
        with listener(address, wanted) as found:
            assert found.getsockname()[1] == wanted or not wanted


@pytest.mark.parametrize("fails", [False, True])
def test_after_warming_up_collection_is_on_whatever_was_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    collector = SimpleGc()
    monkeypatch.setattr(server, "gc", collector)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    if fails:
        monkeypatch.setattr(server, "open_engine", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        warm_up()  # the pages say what is wrong with a model
    assert collector.did == ["collect", "freeze", "enable"]


class SimpleGc:
    """A substitute for the collector, which a test must not freeze."""

    def __init__(self) -> None:
        self.did: list[str] = []

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Note what is called."""
        return lambda: self.did.append(name)


def test_what_a_killed_server_left_of_downloads_is_removed_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(tmp_path))
    blobs = downloads_folder() / "models--someone--tiny" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "aa.0123abcd.incomplete").write_bytes(b"half")
    (blobs / "bb").write_bytes(b"whole")
    server.remove_all_leftovers()
    assert [path.name for path in blobs.iterdir()] == ["bb"]


# -- the end ---------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl+C to a whole console")
@pytest.mark.parametrize("serving", [True, False], ids=["serving", "starting"])
@pytest.mark.parametrize(
    ("number", "left", "says"),
    [
        (signal.SIGINT, 130, r"Stopped\.\n"),
        (signal.SIGTERM, 0, r"\S+Z INFO app: stopped by SIGTERM after \d+\.\d s\n"),
    ],
    ids=["SIGINT", "SIGTERM"],
)
@pytest.mark.parametrize(
    "script", ["app.py", pytest.param("gradio_app.py", marks=pytest.mark.slow)]
)
def test_a_signal_is_one_line_and_a_status(
    script: str, number: signal.Signals, left: int, says: str, serving: bool
) -> None:
    process = started(script=script, GRADIO_SERVER_PORT="0")
    assert process.stdout is not None
    if serving:  # and computing: the first passes are under way
        deadline = time.monotonic() + PATIENCE
        while "URL" not in process.stdout.readline():
            assert process.poll() is None and time.monotonic() < deadline
    else:
        time.sleep(1)  # it is importing
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == left and re.fullmatch(says, err)


@pytest.mark.slow
def test_below_another_path_both_faces_move(tiny_model: Path) -> None:
    process = started(STREAMLIT_SERVER_BASE_URL_PATH="bert", BERT_EXPLORER_MODEL=str(tiny_model))
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip().partition("URL: ")[2]
        assert address.endswith("/bert/")
        assert "streamlit" in httpx.get(address).text.lower()
        page = httpx.get(f"{address}gradio/fill_mask", timeout=PATIENCE)
        assert page.status_code == 200 and "unsafe-eval" in page.headers["content-security-policy"]
        assert httpx.get(address.replace("bert/", "gradio/")).status_code == 404
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_help_comes_before_anything_slow_is_imported() -> None:
    command = [sys.executable, "-X", "importtime", "app.py", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "--models" in done.stdout
    assert not re.search(r"\b(torch|streamlit|bert_core)$", done.stderr, re.MULTILINE)

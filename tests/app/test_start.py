"""Starting and stopping `python app.py`: one line and a proper exit status, whatever is wrong."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from app.engine.models.copies import downloads_folder
from app.server import model as server
from app.server.listening import listener
from app.server.model import bring_model, open_first, warm_up
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


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("BERT_EXPLORER_THREADS", "99999", "BERT_EXPLORER_THREADS is '99999'; expected a whole"),
        ("STREAMLIT_SERVER_PORT", "9" * 5_000, f"The port is '{'9' * 20}'; expected a number"),
        ("BERT_EXPLORER_MODEL", "{folder}", "The model {folder} cannot be opened"),
        pytest.param("BERT_EXPLORER_DEVICE", "cuda:99", "no such device", marks=pytest.mark.slow),
        pytest.param(
            "STREAMLIT_SERVER_SSL_CERT_FILE", "c.pem", "SSL_KEY_FILE is set; expected both or",
            marks=pytest.mark.slow,
        ),
        pytest.param("STREAMLIT_SERVER_PORT", "{port}", "is in use", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_what_cannot_be_obeyed_is_one_line_and_status_2(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as other:
        real = {"{folder}": str(tmp_path), "{port}": str(other.getsockname()[1])}
        process = started(**{name: real.get(value, value)})
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, "")
    assert says.replace("{folder}", str(tmp_path)) in err and err.count("\n") == 1


@pytest.mark.parametrize("port", ["8501", "", None, -1, 65_536, 10**30])
def test_a_port_is_a_number_that_ports_have(port: object) -> None:
    with pytest.raises(ConfigError, match="expected a number from 1 to 65535"):
        listener("127.0.0.1", port)


@pytest.mark.parametrize("address", ["192.0.2.1", "a..b", "unix:///x", "1.2.3", "é" * 80])
def test_an_address_is_one_of_this_machine(address: str) -> None:
    with pytest.raises(ConfigError, match="expected one of this machine"):
        listener(address, 0)


def test_an_address_that_can_be_had_is_given_back_and_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"Port {port} of 127.0.0.1 is in use"):
            listener("127.0.0.1", port)
    for address, wanted in [("127.0.0.1", port), ("127.0.0.1", port), ("0.0.0.0", 0), ("::", 0)]:
        with listener(address, wanted) as found:
            assert found.getsockname()[1] == wanted or not wanted


def test_the_model_is_there_before_the_server_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match=r"There is no model .*gone"):
        bring_model()
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    bring_model()
    with pytest.raises(ConfigError, match=r"cannot be opened: .*config"):
        open_first()


def test_warming_up_leaves_what_is_wrong_to_the_pages_and_turns_collection_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = SimpleGc()
    monkeypatch.setattr(server, "gc", collector)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    warm_up()
    assert collector.did == ["collect", "freeze", "enable"]


def test_collection_is_on_even_if_warming_up_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = SimpleGc()
    monkeypatch.setattr(server, "gc", collector)
    monkeypatch.setattr(server, "open_engine", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        warm_up()
    assert "enable" in collector.did


class SimpleGc:
    """A substitute for the collector, which a test must not freeze."""

    def __init__(self) -> None:
        self.did: list[str] = []

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Note what is called."""
        return lambda: self.did.append(name)


def test_no_time_is_spent_on_collection_while_everything_is_loaded() -> None:
    start = (
        "import gc, runpy, sys\n"
        "try: runpy.run_path('app.py', run_name='__main__')\n"
        "finally: print(gc.get_stats()[2]['collections'])"
    )
    environment = {**os.environ, "BERT_EXPLORER_MODEL": "/no/such/model"}
    done = subprocess.run(
        [sys.executable, "-c", start], cwd=ROOT, env=environment, capture_output=True, text=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "0\n")


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

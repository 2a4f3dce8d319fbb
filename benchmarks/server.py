"""The site in a process of its own, on two cores where the machine has more."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

_CORES = 2
_START = 120.0  # seconds
_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Server:
    """The running site."""

    address: Annotated[str, "where it answers"]
    process: Annotated[int, "its number"]
    started: Annotated[float, "when its process was started, by `time.perf_counter`"]

    def status(self, name: str) -> int:
        """Return a number of the kernel's status of the process: kB of memory, or a count."""
        text = Path(f"/proc/{self.process}/status").read_text(encoding="utf-8")
        found = re.search(rf"(?m)^{name}:\s+(\d+)", text)
        assert found is not None, f"The kernel does not report {name}."
        return int(found[1])

    def files(self) -> int:
        """Return the number of open descriptors."""
        return len(os.listdir(f"/proc/{self.process}/fd"))


@contextmanager
def served(**environment: str) -> Iterator[Server]:
    """Serve the site on two cores of its own, and move this process to the others."""
    cores = sorted(os.sched_getaffinity(0))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    kept = {key: value for key, value in os.environ.items() if "BERT_EXPLORER" not in key}
    command = ["taskset", "-c", ",".join(map(str, cores[:_CORES])), sys.executable, "app.py"]
    if len(cores) > _CORES:
        os.sched_setaffinity(0, cores[_CORES:])
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=_ROOT,
        env=kept | {"STREAMLIT_SERVER_PORT": str(port)} | environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, process)
        yield Server(address, process.pid, begun)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        os.sched_setaffinity(0, cores)


def _wait(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    raise RuntimeError("The site did not start.")

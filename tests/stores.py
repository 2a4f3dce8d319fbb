"""A real redis-server and a real Caddy on the loopback, without persistence, for tests."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import redis

from deploy.tree import ROOT
from tests.strangers import PATIENCE, until

PROGRAM = shutil.which("redis-server") or shutil.which("valkey-server")
CADDY = shutil.which("caddy")
needs_caddy = pytest.mark.skipif(CADDY is None, reason="no caddy is installed")
needs_redis = pytest.mark.skipif(PROGRAM is None, reason="no redis-server is installed")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Store:
    """A server that can be ended and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder, self._database = folder, -1
        self.empty()
        self.start()

    def empty(self) -> None:
        """Go on in an empty database, which no earlier test has used."""
        self._database += 1
        self.url = f"redis://127.0.0.1:{self.port}/{self._database}"
        self.client = redis.Redis.from_url(self.url)

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        options += ["--databases", "99", "--dir", str(self._folder)]
        self.process = subprocess.Popen([str(PROGRAM), *options], stdout=subprocess.DEVNULL)
        until(self._answers)

    def end(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.ConnectionError:
            return False


@contextmanager
def stored(folder: Path) -> Iterator[Store]:
    """Run a store during the block."""
    store = Store(folder)
    try:
        yield store
    finally:
        store.client.close()
        store.end()


@contextmanager
def caddy(folder: Path, ports: list[int], port: int = 0) -> Iterator[str]:
    """Run Caddy with the file of `deploy/cluster` before these ports; yield its address."""
    address = f"http://127.0.0.1:{(port := port or free_port())}"
    own = {
        "SITE": address, "HTTP_PORT": str(port), "HTTPS_PORT": str(free_port()),
        "SITES": " ".join(f"127.0.0.1:{each}" for each in ports), "COOKIE_SECRET": "s",
        "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
    }  # fmt: skip
    text = (ROOT / "deploy/cluster/Caddyfile").read_text(encoding="utf-8")
    (folder / "Caddyfile").write_text(text.replace("{\n", "{\n\tadmin off\n", 1))

    def answers() -> bool:
        try:
            return httpx.get(address, verify=False).is_success  # there is no TLS
        except httpx.TransportError:
            return False

    process = subprocess.Popen(
        [str(CADDY), "run"], cwd=folder, env={**os.environ, **own}, stderr=subprocess.DEVNULL
    )
    try:
        until(answers)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)

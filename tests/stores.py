"""A real redis-server on the loopback, without persistence, for tests."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from tests.strangers import PATIENCE, until

PROGRAM = shutil.which("redis-server") or shutil.which("valkey-server")
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

"""Nodes of Ray on this machine, on the loopback address alone, until the input ends.

A line of input kills the last of them; the first is the one that others connect with.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALONE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # everywhere: no cluster, the loopback address alone
    "RAY_AUTH_MODE": "token",  # others on this machine do not know it
    "RAY_enable_metrics_collection": "0",
    "RAY_agent_register_timeout_ms": "100000",
    "RAY_worker_niceness": "0",
}
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 2}


@contextmanager
def nodes(*cores: int) -> Iterator["tuple[str, subprocess.Popen[str]]"]:
    """Run a node for each number of cores; yield their address, and the process that has them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    begun = subprocess.Popen(
        [sys.executable, "-m", "tests.ray_nodes", port, *map(str, cores)], cwd=ROOT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True, env={**os.environ, **TOKEN, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        heard(begun, "ready")
        yield f"ray://127.0.0.1:{port}", begun
    finally:
        os.killpg(begun.pid, signal.SIGKILL)
        with begun:
            pass


def heard(begun: "subprocess.Popen[str]", word: str) -> None:
    """Wait for a line.

    Raises:
        RuntimeError: another one came, or none.
    """
    line = begun.stdout.readline() if begun.stdout else ""
    if line != f"{word}\n":
        raise RuntimeError(f"The nodes of Ray said {line!r}; expected {word!r}.")


def main(port: int, *cores: int) -> None:
    """Run the nodes; say so in a line."""
    os.environ.update({**ALONE, "RAY_USAGE_STATS_ENABLED": "0"})
    from ray.cluster_utils import Cluster

    cluster, begun = Cluster(), []
    for number, each in enumerate(cores):
        first = {} if number else {"ray_client_server_port": port}
        begun.append(
            cluster.add_node(
                num_cpus=each, object_store_memory=100 * 2**20, include_dashboard=False, **first
            )
        )
    _say("ready")
    sys.stdin.read()


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

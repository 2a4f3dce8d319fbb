"""One node of Ray on this machine, in processes of its own: `python -m app.cluster.local CORES`.

Signals, threads and messages of Ray stay out of the process of the site. The node ends when its
standard input does, as it does with the process that began it, however that ends.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading

from app.settings import ROOT, available_cores

_STORE = 256 * 2**20  # bytes that Ray keeps of results on their way
ALONE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # everywhere: no cluster, the loopback address alone
    "RAY_AUTH_MODE": "token",  # others on this machine do not know it
    "RAY_enable_metrics_collection": "0",
    "RAY_agent_register_timeout_ms": "100000",
    "RAY_worker_niceness": "0",
}


def begin() -> "tuple[str, subprocess.Popen[bytes]]":
    """Begin the node; return its address, and what ends it when its input is closed."""
    port = _free_port()
    os.environ.update(ALONE)
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cluster.local", str(port), str(available_cores())],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return f"ray://127.0.0.1:{port}", process


def main() -> None:
    """Run the node until the input ends."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    from ray.scripts.scripts import main as ray

    _, port, cores = sys.argv
    sys.argv = ["ray", "start", "--head", "--block", "--port=0", "--node-ip-address=127.0.0.1",
                f"--ray-client-server-port={port}", f"--num-cpus={cores}", "--disable-usage-stats",
                "--include-dashboard=false", f"--object-store-memory={_STORE}"]  # fmt: skip
    ray()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)  # this process and what Ray has begun, which is in its session


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


if __name__ == "__main__":
    main()

"""Try a Space without the Hub: its files, its install line, its start, one answer.

What this cannot show: the Hub's own build machines, its frame, and an account's rights.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.dockerfile import Recipe, read_dockerfile
from deploy.tree import ROOT, build_tree

HOST = "someone-bert-explorer.hf.space"
_START_SECONDS = 180
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_QUESTION = {"text": "Paris is the [MASK] of France."}


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands are run.

    Attributes:
        folder: the files of the Space.
        python: the interpreter of an empty environment; None in a root of its own.
        root: the root of another system; None for this machine.
    """

    folder: Path
    python: Path | None = None
    root: Path | None = None

    def command(self, words: Sequence[str], user: str = "root") -> list[str]:
        """Return what runs a command here."""
        if self.root is not None:
            inside = f"/{self.folder.relative_to(self.root)}"
            enter = ["chroot", f"--userspec={user}", str(self.root), "env", "-C", inside]
            return [*enter, f"PATH={_PATH}", *words]
        return [str(self.python), *words[1:]] if words[0] == "python" else list(words)

    def run(self, words: Sequence[str], environment: Mapping[str, str], user: str = "root") -> None:
        """Run a command to its end."""
        _say(" ".join(words))
        command = self.command(words, user)
        subprocess.run(command, cwd=self.folder, env=_clean(environment), check=True)


def check_space(kind: str, work: Path, *, python: str, torch: str = "") -> None:
    """Build a Space's tree in a folder, install it in an empty environment, and try it.

    Args:
        kind: "docker" or "gradio".
        work: an empty or new folder.
        python: the interpreter of the new environment.
        torch: what pip installs in place of `deploy/torch.lock`; "" for the lock itself.
    """
    tree, venv = work / "tree", work / "venv"
    _say(f"{kind}: {build_tree(kind, tree) / 1e6:.1f} MB of files in {tree}")
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    place = Place(tree, venv / ("Scripts" if os.name == "nt" else "bin") / "python")
    recipe = read_dockerfile(tree / "Dockerfile") if kind == "docker" else None
    for install in recipe.installs if recipe else (gradio_install(tree),):
        instead = torch and "deploy/torch.lock" in install
        place.run((*install[:5], torch) if instead else install, {})
    _try(place, recipe, {"HOME": str(work)})
    _say(f"{kind}: works")


def check_root(root: Path) -> None:
    """Follow all steps of the Dockerfile in the root of a Debian system, and try the site there.

    This replaces the image where there is no container engine; it needs the rights of root.

    Args:
        root: a system with Python, as debootstrap makes it; it must not have been tried before.
    """
    recipe = read_dockerfile(ROOT / "Dockerfile")
    place = Place(root / recipe.folder.strip("/"), root=root)
    _say(f"docker: {build_tree('docker', place.folder) / 1e6:.1f} MB of files in {place.folder}")
    for command in recipe.commands:
        place.run(command, {})
    _try(place, recipe, {})
    _say("docker in a root of its own: works")


def _try(place: Place, recipe: Recipe | None, more: Mapping[str, str]) -> None:
    """Start the server as user 1000 where there is one, ask, and stop it."""
    port = free_port()
    environment = {**(recipe.environment if recipe else {}), **space_environment(port), **more}
    start = recipe.start if recipe else ("python", "gradio_app.py")
    began = time.monotonic()
    command = place.command(start, "1000:1000")
    with _started(command, place.folder, environment) as server:
        answer = _first_answer(server, port, "/gradio" if recipe else "")
        _say(f"first answer after {time.monotonic() - began:.1f} s: {answer[:200]}")
        if recipe:
            place.run(recipe.health, environment, "1000:1000")
            _say(f"GET / gives {len(_get(port, '/'))} bytes")


def gradio_install(tree: Path) -> tuple[str, ...]:
    """Return the command with which Spaces install a Gradio Space, as its build logs show it."""
    readme = (tree / "README.md").read_text(encoding="utf-8")
    version = re.search(r"^sdk_version: (\S+)$", readme, re.M)
    if version is None:
        raise ValueError("The front matter has no sdk_version.")
    gradio = f"gradio[oauth,mcp]=={version[1]}"
    others = (gradio, "uvicorn>=0.14.0", "websockets>=10.4", "spaces")
    return ("python", "-m", "pip", "install", "--no-cache-dir", "-r", "requirements.txt", *others)


def space_environment(port: int) -> dict[str, str]:
    """Return the variables that a Space sets, and a free port of this machine."""
    return {
        "SYSTEM": "spaces",
        "SPACE_ID": "someone/bert-explorer",
        "SPACE_HOST": HOST,
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_PORT": str(port),
    }


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _first_answer(server: "subprocess.Popen[bytes]", port: int, prefix: str) -> str:
    """Ask for a filled gap until there is an answer.

    Raises:
        RuntimeError: the server ended, or did not answer in time.
    """
    last: Exception | None = None
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            return ask_gradio(port, prefix)
        except (urllib.error.URLError, OSError) as error:
            last = error
            time.sleep(0.5)
    raise RuntimeError(f"No answer; the server's status is {server.poll()}; the last error: {last}")


def ask_gradio(port: int, prefix: str) -> str:
    """Ask the endpoint `fill_mask` as a program would, and return its answer as JSON.

    Raises:
        OSError: the server does not answer, or answers with an error.
    """
    path = f"{prefix}/gradio_api/call"
    ticket = json.loads(_get(port, f"{path}/v2/fill_mask", json.dumps(_QUESTION).encode()))
    events = _get(port, f"{path}/fill_mask/{ticket['event_id']}").decode()
    found = re.search(r"^event: complete\ndata: (.*)$", events, re.M)
    if found is None:
        raise OSError(f"no answer in {events[:300]!r}")
    return found[1]


def _get(port: int, path: str, body: bytes | None = None) -> bytes:
    """Ask the server as the Hub's proxy does: with the Space's name as Host."""
    headers = {"Host": HOST, "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=30) as answer:
        return bytes(answer.read())


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return this process's variables without the site's own, and with these."""
    ours = ("BERT_", "STREAMLIT_", "GRADIO_", "SPACE_", "PYTHON")
    return {k: v for k, v in os.environ.items() if not k.startswith(ours)} | dict(environment)


@contextmanager
def _started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run the server during the block."""
    server = subprocess.Popen(command, cwd=folder, env=_clean(environment))
    try:
        yield server
    finally:
        server.terminate()
        server.wait(timeout=30)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")

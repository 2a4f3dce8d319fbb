"""Try a Docker Space on this machine, without the Hub: needs Caddy, Chromium and curl.

The Space's files are written, the install steps of its image are followed in an empty environment,
and the site is started under the limits of a free Space: two cores, 16 GB, files that cannot be
written, no network, port 7860. Pages are then opened as a visitor (`deploy.visit`).
"""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deploy.tree import ROOT, build_tree
from deploy.visit import HOST, first_answer, start_proxy, visit_pages

_LIMITS = ("taskset", "-c", "0,1", "prlimit", f"--as={16 * 2**30}")
_OURS = ("BERT_", "STREAMLIT_", "GRADIO_", "SPACE_", "PYTHON")
# In namespaces of its own: only "rest" may be written, and there is only 127.0.0.1.
_ENTER = "ip link set lo up && mount -t tmpfs none {0} && mount -o remount,bind,ro / && exec {1}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the Dockerfile does."""

    steps: tuple[tuple[str, ...], ...]
    environment: dict[str, str]
    health: tuple[str, ...]
    start: tuple[str, ...]


def read_dockerfile(path: Path) -> Recipe:
    """Read the instructions that can be followed without a container engine.

    Raises:
        KeyError: it has no CMD or no HEALTHCHECK.
    """
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    found = [line.strip().partition(" ")[::2] for line in lines if line.strip()]
    steps = (each for name, rest in found if name == "RUN" for each in rest.split("&&"))
    words = [word for name, rest in found if name == "ENV" for word in shlex.split(rest)]
    last = dict(found)
    return Recipe(
        steps=tuple(tuple(shlex.split(each)) for each in steps),
        environment=dict(word.split("=", 1) for word in words),
        health=tuple(json.loads(last["HEALTHCHECK"].partition("CMD ")[2])),
        start=tuple(json.loads(last["CMD"])),
    )


def check_space(*, python: str, torch: str = "") -> None:
    """Build a Space's files, install them in an empty environment, and try them.

    Args:
        python: the interpreter of the new environment; Spaces have 3.12.
        torch: what pip installs in place of `deploy/torch.lock`; "" for the lock itself.
    """
    with TemporaryDirectory(prefix="space-") as folder:
        tree, venv, rest = (Path(folder, name) for name in ("tree", "venv", "rest"))
        _say(f"{build_tree('docker', tree) / 1e6:.1f} MB of files")
        missed = ["the Hub's own build, its frame and its proxy", "the base image, and user 1000"]
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
        for step in read_dockerfile(tree / "Dockerfile").steps:
            if step[0] != "python":
                missed += [f"`{shlex.join(step)}`"]
                continue
            if torch and "deploy/torch.lock" in step:
                missed += ["the digests of deploy/torch.lock"]
                step = (*step[:5], torch)
            _say(shlex.join(step))
            ours = [str(venv / "bin/python"), *step[1:]]
            subprocess.run(ours, cwd=tree, env=_clean({}), check=True)
        rest.mkdir()
        inside = (sys.executable, "-m", "deploy", "visit", folder)
        shell = _ENTER.format(shlex.quote(str(rest)), shlex.join(inside))
        apart = ["unshare", "--net", "--mount", *["--map-root-user"] * (os.geteuid() > 0)]
        if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
            missed += ["files that cannot be written, and no network (unshare is not allowed here)"]
            apart, shell = [], shlex.join(inside)
        subprocess.run([*apart, "sh", "-c", shell], cwd=ROOT, check=True)
    _say("Not tried: " + "; ".join(missed) + ".")


def try_pages(work: Path) -> None:
    """Start the server, ask it as a program and as visitors do, and stop it.

    Raises:
        CalledProcessError: it does not answer, or says that its model does not.
        RuntimeError: a page is not as it should be.
    """
    tree, rest, python = work / "tree", work / "rest", str(work / "venv/bin/python")
    recipe = read_dockerfile(tree / "Dockerfile")
    usual = {"SYSTEM": "spaces", "SPACE_ID": "someone/bert-explorer", "SPACE_HOST": HOST}
    homes = {"HOME": str(rest), "TMPDIR": str(rest)}
    os.environ |= homes  # the browser's and the proxy's, too
    here: dict[str, Any] = {"cwd": tree, "env": _clean(recipe.environment | usual | homes)}
    began, proxy = time.monotonic(), start_proxy(rest)
    server = subprocess.Popen([*_LIMITS, python, *recipe.start[1:]], **here)
    try:
        answer = first_answer()
        _say(f"first answer after {time.monotonic() - began:.1f} s: {answer[:120]}")
        subprocess.run([python, *recipe.health[1:]], check=True, **here)
        for each in visit_pages():
            _say(each)
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        peak = re.findall(r"^VmHWM:\s+(\d+)", status, re.M)
        _say(f"memory of the server, at most: {int(peak[0]) / 1024:.0f} MB")
    finally:
        proxy.terminate()
        server.terminate()
        _say(f"SIGTERM ends it with status {server.wait(timeout=30)}")


def _clean(environment: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(_OURS)} | environment


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")

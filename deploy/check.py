"""Try a Space on this machine, without the Hub.

The Space's files are written, the install steps of its image are followed in an empty environment,
and the site is started under the limits of a free Space: two cores, 16 GB, files that cannot be
written, no network, port 7860. Pages are then opened as a visitor (`deploy.visit`). What could not
be tried is said at the end.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.tree import ROOT, build_tree
from deploy.visit import HOST, PORT, first_answer, visit_pages

_MEMORY = 16 * 2**30
_LIMITS = ("taskset", "-c", "0,1", "prlimit", f"--as={_MEMORY}")
_OURS = ("BERT_", "STREAMLIT_", "GRADIO_", "SPACE_", "PYTHON")
# In namespaces of its own: only "rest" may be written, and there is only 127.0.0.1.
_ENTER = (
    "ip link set lo up && mount -t tmpfs none {rest} && mount -o remount,bind,ro / && exec {visit}"
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the Dockerfile does after copying files."""

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
    steps = (each.split("&&") for name, each in found if name == "RUN")
    words = [word for name, rest in found if name == "ENV" for word in shlex.split(rest)]
    last = dict(found)
    return Recipe(
        steps=tuple(tuple(shlex.split(each)) for step in steps for each in step),
        environment=dict(word.split("=", 1) for word in words),
        health=tuple(json.loads(last["HEALTHCHECK"].partition("CMD ")[2])),
        start=tuple(json.loads(last["CMD"])),
    )


def recipe_of(kind: str, tree: Path) -> Recipe:
    """Return what the Hub does with the files of a Space (of Gradio: as its build logs show it)."""
    if kind == "docker":
        return read_dockerfile(tree / "Dockerfile")
    readme = (tree / "README.md").read_text(encoding="utf-8")
    version = re.findall(r"^sdk_version: (\S+)$", readme, re.M)[0]
    others = (f"gradio[oauth,mcp]=={version}", "uvicorn>=0.14.0", "websockets>=10.4", "spaces")
    install = ("python", "-m", "pip", "install", "--no-cache-dir", "-r", "requirements.txt")
    environment = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(PORT)}
    return Recipe(((*install, *others),), environment, (), ("python", "gradio_app.py"))


def check_space(kind: str, work: Path, *, python: str, torch: str = "") -> None:
    """Build a Space's files in a folder, install them in an empty environment, and try them.

    Args:
        kind: "docker" or "gradio".
        work: a new folder, or one of an earlier check, whose environment is used again.
        python: the interpreter of the new environment; Spaces have 3.12.
        torch: what pip installs in place of `deploy/torch.lock`; "" for the lock itself.
    """
    tree, venv, rest = work / "tree", work / "venv", work / "rest"
    shutil.rmtree(tree, ignore_errors=True)
    _say(f"{kind}: {build_tree(kind, tree) / 1e6:.1f} MB of files")
    missed = ["the Hub's own build, its frame and its proxy", "the base image, and user 1000"]
    new = not venv.exists()
    if new:
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
    for step in recipe_of(kind, tree).steps:
        if step[0] != "python":
            missed += [f"`{shlex.join(step)}`"]
            continue
        if step[2] == "pip" and not new:
            continue  # as installed by an earlier check
        if torch and "deploy/torch.lock" in step:
            missed += ["the digests of deploy/torch.lock"]
            step = (*step[:5], torch)
        _say(shlex.join(step))
        subprocess.run([str(venv / "bin/python"), *step[1:]], cwd=tree, env=_clean({}), check=True)
    rest.mkdir(exist_ok=True)
    inside = (sys.executable, "-m", "deploy", "visit", kind, str(work))
    shell = _ENTER.format(rest=shlex.quote(str(rest)), visit=shlex.join(inside))
    apart = ["unshare", "--net", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",))]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        missed += ["files that cannot be written, and no network (unshare is not allowed here)"]
        apart, shell = [], shlex.join(inside)
    subprocess.run([*apart, "sh", "-c", shell], cwd=ROOT, check=True)
    _say("Not tried: " + "; ".join(missed) + ".")


def try_pages(kind: str, work: Path) -> None:
    """Start the server, ask it as a program and as visitors do, and stop it.

    Raises:
        RuntimeError: it does not answer, or a page is not as it should be.
    """
    recipe, rest = recipe_of(kind, work / "tree"), work / "rest"
    usual = {"SYSTEM": "spaces", "SPACE_ID": "someone/bert-explorer", "SPACE_HOST": HOST}
    homes = {"HOME": str(rest), "TMPDIR": str(rest)}
    os.environ.update(homes)  # the browser's, too
    environment = _clean(recipe.environment | usual | homes)
    python = str(work / "venv/bin/python")
    began = time.monotonic()
    command = [*_LIMITS, python, *recipe.start[1:]]
    server = subprocess.Popen(command, cwd=work / "tree", env=environment)
    try:
        answer = first_answer(server)
        _say(f"first answer after {time.monotonic() - began:.1f} s: {answer[:120]}")
        if recipe.health:
            health = [python, *recipe.health[1:]]
            subprocess.run(health, cwd=work / "tree", env=environment, check=True)
        for each in visit_pages(rest):
            _say(each)
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        peak = re.findall(r"^VmHWM:\s+(\d+)", status, re.M)
        _say(f"memory of the server, at most: {int(peak[0]) / 1024:.0f} MB")
    finally:
        server.terminate()
        _say(f"SIGTERM ends it with status {server.wait(timeout=30)}")


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return this process's variables without the site's own, and with these."""
    return {k: v for k, v in os.environ.items() if not k.startswith(_OURS)} | dict(environment)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")

"""`.ci/run`: no browser, no green."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(os.name == "nt", reason="it is a script of bash")
INSTALLS = 'echo "echo Chromium 1" > "$0.made"; chmod +x "$0.made"; mv "$0.made" "${0%/*}/chromium"'


def run(folder: Path, **commands: str) -> "subprocess.CompletedProcess[str]":
    """Run the script on a machine that has these commands, and few others."""
    for name in ("bash", "dirname", "tail", "chmod", "mv"):
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, script in {"make": "echo made", **commands}.items():
        (folder / name).write_text(f"#!{shutil.which('bash')}\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return subprocess.run(
        [folder / "bash", ROOT / ".ci" / "run"],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_with_a_browser_the_tests_run(tmp_path: Path) -> None:
    done = run(tmp_path, **{"google-chrome": "echo Chrome 1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "made\n", "")


def test_a_browser_is_installed_where_that_is_possible(tmp_path: Path) -> None:
    done = run(tmp_path, id="echo 0", **{"apt-get": INSTALLS})
    assert done.returncode == 0 and done.stdout.endswith("made\n")


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        ({}, "no way to install one"),
        ({"apt-get": INSTALLS, "id": "echo 1000"}, "no way to install one"),
        ({"apt-get": "echo no network >&2; exit 100", "id": "echo 0"}, "could not be installed"),
        ({"apt-get": "exit 0", "id": "echo 0"}, "could not be installed"),
        ({"chromium": "exit 1"}, "no way to install one"),
    ],
    ids=["no apt", "not root", "apt fails", "apt installs nothing", "a browser that does not run"],
)
def test_without_a_browser_it_fails_with_a_sentence(
    tmp_path: Path, commands: dict[str, str], says: str
) -> None:
    done = run(tmp_path, **commands)
    assert done.returncode == 1 and says in done.stderr
    assert "made" not in done.stdout

"""The files of a Space: what is uploaded, and nothing else."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_SITE = "LICENSE NOTICE app assets bert_core live"
_IMAGE = "Dockerfile .dockerignore deploy/requirements.lock deploy/torch.lock"
FILES = {
    "docker": f"{_SITE} app.py pages .streamlit/config.toml deploy/healthcheck.py {_IMAGE}".split(),
    "gradio": f"{_SITE} gradio_app.py requirements.txt".split(),
}
"""For each kind of Space the files and folders of the checkout that it needs. Its README comes from
`deploy/<kind>-space/`."""


def build_tree(kind: str, target: Path) -> int:
    """Copy the files of a Space that git knows into a new folder; return their bytes.

    Raises:
        FileExistsError: the folder is there.
        CalledProcessError: one of `FILES` is missing from the checkout, as git has said.
    """
    target.mkdir(parents=True)
    command = ["git", "ls-files", "-z", "--error-unmatch", "--", *FILES[kind]]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    copied = {name: name for name in listed.rstrip("\0").split("\0")}
    for name, source in (copied | {"README.md": f"deploy/{kind}-space/README.md"}).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, target / name)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())

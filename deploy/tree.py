"""The files of a Space: what is uploaded, and nothing else."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_SITE = ("LICENSE", "NOTICE", "app", "assets", "bert_core", "live")
FILES = {
    "docker": (
        *_SITE,
        "app.py",
        "pages",
        ".streamlit/config.toml",
        "Dockerfile",
        ".dockerignore",
        "deploy/healthcheck.py",
        "deploy/requirements.lock",
        "deploy/torch.lock",
    ),
    "gradio": (*_SITE, "gradio_app.py", "requirements.txt"),
}
"""For each kind of Space the files and folders of the checkout that it needs. Its README comes from
`deploy/<kind>-space/`."""


def build_tree(kind: str, target: Path) -> int:
    """Copy the files of a Space that git knows into an empty or new folder; return their bytes.

    Raises:
        FileExistsError: the folder is not empty.
        FileNotFoundError: one of `FILES` is missing from the checkout.
    """
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty; name a new folder.")
    command = ["git", "ls-files", "-z", "--error-unmatch", "--", *FILES[kind]]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        raise FileNotFoundError(f"{listed.stderr.strip()} (deploy/tree.py lists it)")
    names = listed.stdout.rstrip("\0").split("\0")
    for name, source in [*((n, n) for n in names), ("README.md", f"deploy/{kind}-space/README.md")]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, target / name)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())

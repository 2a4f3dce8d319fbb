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
    """Copy the files of a Space into an empty or new folder, as they are in the checkout.

    Only files that git knows are copied, so nothing private that happens to be beside them.

    Args:
        kind: one of `FILES`.
        target: the folder.

    Returns:
        The number of bytes.

    Raises:
        FileExistsError: the folder is not empty.
        FileNotFoundError: one of `FILES` is missing from the checkout.
    """
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty; name a new folder.")
    names = [name for place in FILES[kind] for name in _known_to_git(place)]
    for name, source in [*((n, n) for n in names), ("README.md", f"deploy/{kind}-space/README.md")]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, target / name)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def _known_to_git(place: str) -> list[str]:
    """Return the files at a place of the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", place], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name]
    if not names:
        raise FileNotFoundError(f"There is no {place} in the checkout (deploy/tree.py lists it).")
    return names

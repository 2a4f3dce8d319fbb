"""Build the wheel: `bert_core`, and the site as `bert_explorer`.

In a checkout the site is the package `app` beside `pages/`, `assets/` and `live/`. Installed under
these names it would hide the `app.py` of whoever installs it, so the build puts all of it below
`bert_explorer` and writes `bert_explorer.app` for `app` in its sources.
"""

import re
import sys
from pathlib import Path

from setuptools import find_namespace_packages, find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
EDITABLE = "editable_wheel" in sys.argv  # the sources stay where they are, and `app` is imported
BESIDE = ("app.py", "gradio_app.py", "NOTICE", "LICENSE", ".streamlit", "pages", "assets", "live")
"""What the site reads beside its package."""

_RULES = (
    (r"(?m)^(\s*(?:from|import) )app(?=[. ])", r"\1bert_explorer.app"),
    (r"(?<=[\"'])app\.(?=[\"']|[a-z_]+[.\"'])(?!(?:py|css|js)[\"'])", "bert_explorer.app."),
    (r"python -m app(?= {3})", "bert-explorer tasks"),
    (r"python -m app\b(?!\.)", "bert-explorer"),
    (r"python app\.py\b", "bert-explorer"),
)


def renamed(source: str) -> str:
    """Write `bert_explorer.app` for `app`, in imports, names of modules and commands."""
    for pattern, name in _RULES:
        source = re.sub(pattern, name, source)
    return source


class Build(build_py):
    """Copy the packages, then what lies beside them, under the name of the distribution."""

    def run(self) -> None:
        """Build; an editable install has the checkout instead."""
        super().run()
        if EDITABLE:
            return
        own = Path(self.build_lib) / "bert_explorer"
        for place in ("app", *BESIDE):
            found = HERE / place
            for path in sorted(found.rglob("*")) if found.is_dir() else [found]:
                if path.is_file() and "__pycache__" not in path.parts:
                    self._put(path, own / path.relative_to(HERE))
        for path in own.glob("*.py"):
            path.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")

    def _put(self, path: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in {".py", ".json", ".toml"}:
            target.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            self.copy_file(str(path), str(target))


setup(
    cmdclass={"build_py": Build},
    packages=[
        *find_namespace_packages(include=["bert_core", "bert_core.*"]),
        *find_packages(include=["bert_explorer"]),
        *(find_namespace_packages(include=["app", "app.*"]) if EDITABLE else []),
    ],
)

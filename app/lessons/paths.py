"""The paths, read without anything that needs PyTorch: the menu is drawn before it is imported."""

import tomllib
from functools import cache

from app.lessons.records import Path
from app.settings import ASSETS

_FILE = ASSETS / "lessons" / "paths.toml"


@cache
def paths() -> tuple[Path, ...]:
    """Return the paths, in the order of the menu."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["path"]
    return tuple(
        Path(row["slug"], row["title"], row["lead"], tuple(row["lessons"])) for row in rows
    )

"""Every test that docs/features.md names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")


def test_every_test_that_the_list_of_features_names_exists() -> None:
    tests = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    names = {name for text in tests.values() for name in re.findall(r"def (test_\w+)", text)}
    files = {path.name for path in tests}
    named = re.findall(r"`(?:tests/[\w/]*/)?(test_\w+(?:\.py)?)`", PAGE)
    assert len(named) > 60
    assert [name for name in named if name not in names | files] == []

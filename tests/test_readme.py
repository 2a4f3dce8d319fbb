"""What the README shows must run as it stands there."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_library_in_ten_lines_prints_five_guesses() -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "README.md", "exec"), {})  # noqa: S102  our own page, on purpose
    guesses = re.findall(r"^(0\.\d{3}) {2}(\S+)$", printed.getvalue(), re.M)
    assert len(guesses) == 5
    assert [odds for odds, _ in guesses] == sorted((odds for odds, _ in guesses), reverse=True)
    assert guesses[0][1] == "letter"


def test_every_file_the_readme_links_to_exists() -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)\)", README)
    assert len(targets) > 5
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_make_target_the_readme_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake (\w+)$|`make (\w+)", README, re.M))
    targets = {first or second for first, second in named}
    assert {"run", "test"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.M)] == []

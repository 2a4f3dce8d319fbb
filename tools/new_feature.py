"""Write the skeleton of a feature: `python -m tools.new_feature SLUG`, and say what one lacks.

    python -m tools.new_feature odd_word --title "Odd word" --group inside
    python -m tools.new_feature odd_word --check     writes nothing; says what is missing

Files are looked at; documents and registers, where something is written for single features or
their widgets, are tested. `make test ONLY=odd_word` does both and runs the feature's own tests.

The skeleton works: it measures how long vectors are. Replace that by what your feature computes,
file by file; its tests, and those of every interface, pass from the start. The texts are in
`tools/skeleton`.
"""

import argparse
import ast
import keyword
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.settings import ROOT
from bert_core.errors import InputError

_SKELETON = Path(__file__).with_name("skeleton")
_CATALOG, _GUIDE, _CHANGES = "app/catalog.py", "docs/guide.md", "CHANGELOG.md"
_ROW = re.compile(r"^    Feature\(\n.*?^    \),\n", re.M | re.S)
_GROUPS = ("TEXT", "TASKS", "INSIDE", "LEARNING", "ABOUT")
_EXAMPLES = 5  # at least

REGISTERS = {
    "tests/test_house.py": "a file of the feature",
    "tests/test_documents.py": "a chapter of docs/guide.md with its picture, or a table that "
    "`python -m tools.derive api` writes",
    "tests/app/faces/test_terminal.py": "a task: `python -m tools.derive api`",
    "tests/app/declared/test_tasks.py": "a word of a label: assets/glossary.toml, or "
    "plain_words.txt in the folder of the test",
    "tests/app/declared/test_carried.py": "a box that a text fills: app/declared/carried.py",
    "tests/app/faces/gradio/test_carry.py": "a box that a text fills: app/declared/carried.py",
    "tests/app/faces/test_catalog.py": "values that the task takes: FITTING in the test",
    "tests/app/faces/test_gaps.py": "how a text with gaps is read: AS_TYPED in the test",
    "tests/pages/test_address_keys.py": "the label of a choice or a tab: assets/labels.toml",
    "tests/pages/test_every_page.py": "the page with odd texts: ON_OPENING, IN_TABS, FORMS and "
    "ANSWERED in the test",
    "tests/pages/test_lessons_named.py": "the lessons of the page",
    "tests/e2e/test_stage.py": "a limit of the first screen: MAIN and FIRST in the test",
}
"""Tests of all features, with what is to be written where one of them fails for a new one."""

_NAMED = ("test_catalog", "test_gaps", "test_every_page", "test_lessons_named", "test_stage")
"""Those that have a case for each feature; of the others everything is run."""


def rows(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """Read the arguments of each row of the catalog as they are written, without importing it."""
    found = map(_arguments, _ROW.findall((root / _CATALOG).read_text(encoding="utf-8")))
    return {row["slug"]: row for row in found}


def _arguments(row: str) -> dict[str, str]:
    return dict(re.findall(r'^        (\w+)="?(.*?)"?,$', row, re.M))


def class_name(slug: str) -> str:
    """Return the name of a feature's result class.

    >>> class_name("odd_word")
    'OddWordResult'
    """
    return "".join(part.title() for part in slug.split("_")) + "Result"


def missing(slug: str, root: Path = ROOT) -> Iterator[str]:
    """Say in words which files of a feature are not there, or lack something.

    Args:
        slug: of the feature.
        root: of the checkout.
    """
    row = rows(root).get(slug)
    if row is None:
        yield f"{_CATALOG} has no row with slug={slug!r}."
        return
    folder = f"app/features/{slug}"
    if "tab_of" not in row and not re.fullmatch(rf"pages/\d+_{slug}\.py", row["page"]):
        yield f"{_CATALOG}: the page of {slug} is {row['page']!r}; expected pages/N_{slug}.py."
    if not (root / row["page"]).is_file():
        yield f"{row['page']} is not there: its page, `standard_page({slug!r})`."
    for file, name, says in (
        ("result", class_name(slug), "the class of its result"),
        ("task", slug, "the function that computes it"),
        ("view", "screen", "what is shown"),
    ):
        if not _defines(root / folder / f"{file}.py", name):
            yield f"{folder}/{file}.py has no {name}: {says}."
    examples = root / folder / "examples.toml"
    if row.get("takes_text") != "False" or "True" in (row.get("trains"), row.get("tabular")):
        text = examples.read_text(encoding="utf-8") if examples.is_file() else ""
        with_note = [each for each in tomllib.loads(text).get("example", []) if each.get("note")]
        if len(with_note) < max(_EXAMPLES, text.count("[[example]]")):
            yield (
                f"{folder}/examples.toml has {len(with_note)} examples with a note on what to "
                f"look for; expected at least {_EXAMPLES}, and no other."
            )
    elif examples.exists():
        yield f"{folder}/examples.toml is there, but nothing is given on this page."
    if not list((root / "tests/app/features" / slug).glob("test_*.py")):
        yield f"tests/app/features/{slug} has no test_*.py: its numbers against arithmetic."


def _defines(path: Path, name: str) -> bool:
    """Return whether a file defines or imports a name at its top."""
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    imported = (one for each in body if isinstance(each, ast.ImportFrom) for one in each.names)
    return name in {
        *(each.name for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)),
        *(each.asname or each.name for each in imported),
    }


def unregistered(slug: str) -> list[str]:
    """Run the tests of the registers; say in words what they lack of a feature."""
    whole = [Path(each).stem for each in REGISTERS if Path(each).stem not in _NAMED]
    options = shlex.split("-q -m 'not slow' --tb=line -rfE -p no:cacheprovider -k")
    command = [sys.executable, "-m", "pytest", *options, " or ".join([slug, *whole]), *REGISTERS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = failed(done.stdout)
    if done.returncode not in (0, 1) or (done.returncode and not found):
        found.append(f"The tests did not run: {(done.stderr or done.stdout).strip()[-300:]}")
    return found


def failed(output: str) -> list[str]:
    """Read what pytest says of failures.

    >>> failed("FAILED tests/test_house.py::test_a[x] - assert 1 == 2\\n1 failed")
    ['a file of the feature (tests/test_house.py::test_a[x])']
    """
    rows = re.findall(r"^(?:FAILED|ERROR) (([^:\s]+)\S*)", output, re.M)
    return [f"{REGISTERS.get(file, file)} ({test})" for test, file in rows]


def write(slug: str, title: str, group: str, root: Path = ROOT) -> list[str]:
    """Write the skeleton of a feature; return its files, from the root.

    Args:
        slug: its name in code, files and addresses.
        title: its name on the screen.
        group: the part of the menu, one of `GROUPS` of the catalog by the name of its constant.
        root: of the checkout.

    Raises:
        InputError: there is such a feature, or the name cannot be one.
    """
    known = rows(root)
    if not re.fullmatch(r"[a-z]+(_[a-z]+)*", slug) or keyword.iskeyword(slug) or slug == "home":
        raise InputError(f"Found {slug!r}; expected lower-case words joined by _, as in odd_word.")
    for other in known:
        if f"{slug}_".startswith(f"{other}_") or f"{other}_".startswith(f"{slug}_"):
            raise InputError(
                f"{slug!r} is, or begins like, the feature {other!r}: names of that kind belong to "
                "its tabs. Choose another."
            )
    number = 1 + max(int(re.findall(r"\d+", row["page"])[0]) for row in known.values())
    words = {"SLUG": slug, "TITLE": title, "PAGE": f"pages/{number}_{slug}.py", "GROUP": group}
    words["CLASSResult"] = class_name(slug)

    def filled(name: str) -> str:
        text = (_SKELETON / f"{name}.txt").read_text(encoding="utf-8")
        return re.sub("|".join(words), lambda found: words[found[0]], text)

    files = {f"app/features/{slug}/{name}": filled(name)
             for name in ("result.py", "task.py", "view.py", "examples.toml")}  # fmt: skip
    files[words["PAGE"]] = filled("page.py")
    files[f"tests/app/features/{slug}/test_{slug}.py"] = filled("test_task.py")
    old = {name: (root / name).read_text(encoding="utf-8") for name in (_CATALOG, _GUIDE, _CHANGES)}
    files[_CATALOG], after = _with_row(old[_CATALOG], filled("catalog"), group)
    chapter, guide = filled("guide.md"), old[_GUIDE]
    files[_GUIDE] = (
        guide.replace(f"## {after}\n", f"{chapter}## {after}\n", 1)
        if after
        else f"{guide.rstrip()}\n\n{chapter.rstrip()}\n"
    )
    told = f"- A page **{title}**: say here what visitors notice.\n"
    files[_CHANGES] = old[_CHANGES].replace("### Added\n\n", f"### Added\n\n{told}", 1)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return list(files)


def _with_row(source: str, row: str, group: str) -> tuple[str, str]:
    """Put a row at the end of its group.

    Returns:
        The source of the catalog, and the title of the row after it; "" if it is the last one.
    """
    found = list(_ROW.finditer(source))
    last = max(n for n, each in enumerate(found) if f"        group={group},\n" in each[0])
    after = _arguments(found[last + 1][0])["title"] if last + 1 < len(found) else ""
    at = found[last].end()
    return source[:at] + row + source[at:], after


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.new_feature",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("slug", help="its name in code, files and addresses, such as odd_word")
    parser.add_argument("--title", help="its name on the screen; otherwise made from the slug")
    parser.add_argument("--group", choices=[name.lower() for name in _GROUPS], default="inside")
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    given = parser.parse_args(arguments)
    title = given.title or given.slug.replace("_", " ").capitalize()
    if not given.check:
        try:
            files = write(given.slug, title, given.group.upper())
        except InputError as error:
            parser.error(str(error))
        derive = "python -m tools.derive"
        after = f"Next: {derive} api; {derive} pictures --only {given.slug}"
        sys.stdout.write("Written: " + "\n         ".join(files) + f"\n{after}\n")
        return 0
    left = [*missing(given.slug), *unregistered(given.slug)]
    sys.stdout.write("".join(f"Missing: {each}\n" for each in left) or "Nothing is missing.\n")
    return int(bool(left))


if __name__ == "__main__":
    raise SystemExit(main())

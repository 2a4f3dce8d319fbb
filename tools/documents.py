"""The tables of the documents that are made from the catalog and the declarations.

`python -m tools.derive api` writes them; a test compares each with its document.
"""

from pathlib import Path

from app.catalog import FEATURES, Feature, pages
from app.declared import Declared, Parameter, all_declared, tabs
from app.settings import ROOT, settings_table

DOCS = ROOT / "docs"
_API = "| task | what it does | needs |\n|---|---|---|"
_PAGES = "| page | what it shows |\n|---|---|"
_HOME = "| [Home](docs/guide.md#home) | One text in small results; each leads to its page. |"
_CHECKED = "| page | tasks | tests |\n|---|---|---|"


def tables() -> tuple[tuple[Path, str], ...]:
    """Return every table in Markdown, with its document."""
    listed = (
        f"| [{row.title}](docs/guide.md#{anchor(row.title)}) | {row.see} |" for row in pages()
    )
    return (
        (DOCS / "api.md", "\n".join([_API, *map(_task, all_declared())])),
        (DOCS / "hosting.md", settings_table()),
        (ROOT / "README.md", "\n".join([_PAGES, _HOME, *listed])),
        (DOCS / "features.md", "\n".join([_CHECKED, *map(_checked, FEATURES)])),
    )


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and mkdocs make it.

    >>> anchor("Why?"), anchor("Head atlas")
    ('why', 'head-atlas')
    """
    plain = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in "_- ")
    return plain.replace(" ", "-")


def _checked(row: Feature) -> str:
    tasks = ", ".join(f"`{name}`" for name in (row.slug, *tabs(row.slug)))
    return f"| {row.title} | {tasks} | `tests/app/features/{row.slug}` |"


def _task(found: Declared) -> str:
    needs = "; ".join(_value(each) for each in found.parameters if each.required) or "nothing"
    cells = (f"`{found.feature.slug}`", found.about, needs)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _value(given: Parameter) -> str:
    about = given.about.partition(";")[0].rstrip(".")
    several = " (a list)" if given.kind is list else ""
    return f"`{given.name}`{several}: {about}"

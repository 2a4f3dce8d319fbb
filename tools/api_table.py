"""The table of endpoints and tools in `docs/api.md`, made from the declarations of the tasks."""

from app.declared import Declared, Parameter, all_declared
from app.settings import ROOT

API = ROOT / "docs" / "api.md"
_HEAD = "| endpoint and tool | what it does | needs |\n|---|---|---|"


def api_table() -> str:
    """Return the table in Markdown, one row per task."""
    return "\n".join([_HEAD, *map(_row, all_declared())])


def _row(found: Declared) -> str:
    needs = "; ".join(_value(each) for each in found.parameters if each.required) or "nothing"
    cells = (f"`{found.feature.slug}`", found.about, needs)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _value(given: Parameter) -> str:
    """Name a value that must be given, with the first clause of what is said about it."""
    about = given.about.partition(";")[0].rstrip(".")
    several = " (a list)" if given.kind is list else ""
    return f"`{given.name}`{several}: {about}"

"""The Save menu holds what a page can give."""

import ast
import json
from pathlib import Path

import pytest

from app.faces.paper.notebook import notebook
from tests.visits import opened, unopened

WHOLE = ["This page (HTML)", "Notebook (IPYNB)"]


def saved(page: str, **address: str) -> list[str]:
    """Open a page and return what its Save menu offers, in order."""
    at = opened(page, **address)
    assert not at.error
    (menu,) = [each for each in at.get("popover") if each.proto.popover.label == "Save"]
    return [button.proto.label for button in menu.get("download_button")]


@pytest.mark.parametrize(
    ("page", "address", "more"),
    [
        ("pages/5_qa.py", {"tab": "Other answers"}, ["CSV"]),
        (
            "pages/4_attention.py",
            {},
            [
                "Heat map (SVG)",
                "Every head (SVG)",
                "Lines (SVG)",
                "Matrix (CSV)",
            ],
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_files_of_tabs_are_in_the_menu(
    page: str, address: dict[str, str], more: list[str], tiny_model: Path
) -> None:
    assert saved(page, **address) == [*WHOLE, *more]


def test_another_run_offers_nothing_of_the_last_one(tiny_model: Path) -> None:
    at = unopened("pages/5_qa.py", tab="Other answers")
    for _ in range(3):
        at.run()
        assert [each.proto.label for each in at.get("download_button")].count("CSV") == 1


def test_a_notebook_has_the_program_as_it_is() -> None:
    source = 'print("é")\nfor n in range(3):\n    print(n)\n'
    found = json.loads(notebook("Fill-mask", source))
    about, program = found["cells"]
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert "# Fill-mask" in about["source"] and about["cell_type"] == "markdown"
    assert ast.dump(ast.parse(program["source"])) == ast.dump(ast.parse(source))
    assert program["outputs"] == [] and len({each["id"] for each in found["cells"]}) == 2

"""The documentation: every page is in its menu, and nothing is fetched when it is read."""

import re

import pytest

from deploy.docs_offline import fetched_from_elsewhere
from deploy.tree import ROOT

FOREIGN = "https://cdn.example/x"


@pytest.mark.parametrize(
    "text",
    [
        f'<script src="{FOREIGN}"></script>',
        f'<link rel="stylesheet" href="{FOREIGN}">',
        f'<link rel="preconnect" href="{FOREIGN}">',
        f"<img src={FOREIGN}>",
        f'<style>@import "{FOREIGN}"</style>',
    ],
)
def test_what_a_page_fetches_from_elsewhere_is_found(text: str) -> None:
    assert fetched_from_elsewhere(text) == [FOREIGN]
    assert fetched_from_elsewhere("a { src: url('//cdn.example/f') }")


def test_links_and_own_files_are_allowed() -> None:
    page = f'<a href="{FOREIGN}">x</a><script src="../a.js"></script><img src="data:x">'
    assert fetched_from_elsewhere(page) == []


def test_every_page_is_in_the_menu_once() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"(\S+\.md)$", menu, re.M)
    docs = ROOT / "docs"
    assert sorted(named) == sorted(p.relative_to(docs).as_posix() for p in docs.rglob("*.md"))

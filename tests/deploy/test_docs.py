"""The documentation: every page is in its menu, and nothing is fetched when it is read."""

import re

from deploy.tree import ROOT


def test_what_a_page_fetches_from_elsewhere_is_found_and_links_are_allowed() -> None:
    """`make docs` looks for this expression in what it has built."""
    found = re.findall(r"^FETCHED := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    foreign, fetched = "https://cdn.example/x", re.compile(found[0], re.I)
    for text in (
        f'<script src="{foreign}">', f"<img src={foreign}>", f'<style>@import "{foreign}"</style>',
        f'<link rel="stylesheet" href="{foreign}">', f'<link rel="preconnect" href="{foreign}">',
        "a { src: url('//cdn.example/f') }",
    ):  # fmt: skip
        assert fetched.search(text), text
    own = f'<a href="{foreign}">x</a><script src="../a.js"></script><img src="data:x">'
    assert not fetched.search(f'{own}<link rel="canonical" href="{foreign}">')


def test_every_page_is_in_the_menu_once() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"(\S+\.md)$", menu, re.M)
    docs = ROOT / "docs"
    assert sorted(named) == sorted(p.relative_to(docs).as_posix() for p in docs.rglob("*.md"))

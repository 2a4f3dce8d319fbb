"""A hook of MkDocs: warn of everything that a page would fetch from elsewhere.

`make docs` builds strictly, so a warning ends the build. Links for readers to follow are allowed.
"""

import logging
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

_LOG = logging.getLogger("mkdocs.hooks.offline")
_ELSEWHERE = re.compile(r"\s*(https?:)?//", re.I)
_IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", re.I)


class _Fetches(HTMLParser):
    """Collects the addresses that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        names = ["src", "srcset", "data", "poster"]
        if tag == "link" and given.get("rel") not in {"canonical", "next", "prev"}:
            names.append("href")
        values = [given.get(name) or "" for name in names]
        self.found += [value for value in values if _ELSEWHERE.match(value)]


def fetched_from_elsewhere(text: str, *, style: bool) -> list[str]:
    """Return the foreign addresses that a page, or a style sheet, makes a browser fetch."""
    if style:
        return _IN_STYLE.findall(text)
    parser = _Fetches()
    parser.feed(text)
    return parser.found + _IN_STYLE.findall(text)


def on_post_build(config: Mapping[str, str]) -> None:
    """Check all pages and style sheets; MkDocs calls this by its name."""
    for path in sorted(Path(config["site_dir"]).rglob("*")):
        if path.suffix in {".html", ".css"}:
            text = path.read_text(encoding="utf-8")
            for address in fetched_from_elsewhere(text, style=path.suffix == ".css"):
                _LOG.warning("%s fetches %s", path.name, address)

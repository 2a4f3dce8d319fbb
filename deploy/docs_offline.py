"""A hook of MkDocs: warn of everything that a page would fetch from elsewhere.

`make docs` builds strictly, so a warning ends the build. Links for readers to follow are allowed.
"""

import logging
import re
from collections.abc import Mapping
from pathlib import Path

_LOG = logging.getLogger("mkdocs.hooks.offline")
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*?\b(?:src|srcset|data|poster)="
    r"[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*rel=[\"']?(?:canonical|next|prev))[^>]*?\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)",
    re.I,
)


def fetched_from_elsewhere(text: str) -> list[str]:
    """Return the foreign addresses that a page, or a style sheet, makes a browser fetch."""
    return [next(filter(None, found)) for found in _FETCHED.findall(text)]


def on_post_build(config: Mapping[str, str]) -> None:
    """Check all pages and style sheets; MkDocs calls this by its name."""
    for path in sorted(Path(config["site_dir"]).rglob("*")):
        if path.suffix in {".html", ".css"}:
            for address in fetched_from_elsewhere(path.read_text(encoding="utf-8")):
                _LOG.warning("%s fetches %s", path.name, address)

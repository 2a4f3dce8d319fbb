"""The recorded site with live answers, as a folder for hosts of plain files."""

import html
import re
import subprocess
import sys
from pathlib import Path

from deploy.tree import ROOT

KINDS = ("space", "github", "headers")
"""A static Space; GitHub Pages; a host that reads a file `_headers` (Netlify, Cloudflare Pages)."""

_BASE = re.compile(r"/(?:[\w.-]+/)*")
_WORKER = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
_HEADERS = f"""/*
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Content-Security-Policy: frame-ancestors 'self'

/live/worker.js
  Content-Security-Policy: {_WORKER}
"""
_LOST = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>Not here · BERT Explorer</title></head>
<body><h1>There is no such page</h1><p><a href="{home}">BERT Explorer</a></p></body></html>
"""


def write_static(kind: str, target: Path, base: str = "/", model: str = "") -> int:
    """Record the site with live answers, and add what a kind of host reads.

    Args:
        kind: one of `KINDS`.
        target: an empty or new folder.
        base: the path at which the host serves the folder, such as "/bert-explorer/".
        model: a bundled model; "" for the site's own.

    Returns:
        The number of bytes.

    Raises:
        ValueError: the base path is none.
        CalledProcessError: the recording failed, and has said why.
    """
    if not _BASE.fullmatch(base):
        raise ValueError(f"Found the base path {base!r}; expected one such as /bert-explorer/.")
    command = ["record", str(target.resolve()), "--live", "--parts"]
    command += ["--model", model] if model else []
    subprocess.run([sys.executable, "-m", "app", *command], cwd=ROOT, check=True)
    return dress(kind, target, base)


def dress(kind: str, target: Path, base: str = "/") -> int:
    """Add what a kind of host reads to a recorded site; return the number of bytes of all files."""
    if kind != "space":
        home = html.escape(base)
        (target / "404.html").write_text(_LOST.format(home=f"{home}index.html"), encoding="utf-8")
    if kind == "github":
        (target / ".nojekyll").touch()  # files are served as they are
    if kind == "headers":
        (target / "_headers").write_text(_HEADERS, encoding="utf-8")
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())

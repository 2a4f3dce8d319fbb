"""Visit a running Space as the Hub's visitors do: in a frame, through a proxy with TLS."""

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect, sync_playwright

HOST, PORT = "someone-bert-explorer.hf.space", 7860
_HUB = "https://huggingface.co"
_TLS_PORT, _PATIENCE = 8443, 60_000  # milliseconds
_PAGES = {
    "": "BERT Explorer",
    "fill_mask?text=The+owl+%5BMASK%5D.": "Fill-mask",
    "attention?text=The+owl+sleeps.": "Attention",
    "ner?text=Ada+lives+in+Bern.": "Named entities",
    "xray?text=The+owl+%5BMASK%5D.": "X-ray",
}
_FRAME = """<!doctype html><title>Space</title>
<iframe src="https://{host}/{path}" width="1200" height="800" allow="local-network-access">"""
_PROXY = f"""{{
    admin off
    auto_https disable_redirects
    skip_install_trust
    log {{
        level ERROR
    }}
}}
https://{HOST}:{_TLS_PORT} {{
    tls internal
    reverse_proxy 127.0.0.1:{PORT} {{
        header_up X-Forwarded-For 203.0.113.7
    }}
}}
"""


def start_proxy(folder: Path) -> "subprocess.Popen[bytes]":
    """Start Caddy before the site: TLS, and `X-Forwarded-*` as from the Hub's proxy."""
    file = folder / "Caddyfile"
    file.write_text(_PROXY, encoding="utf-8")
    return subprocess.Popen(["caddy", "run", "--adapter", "caddyfile", "--config", str(file)])


def first_answer() -> str:
    """Ask for a filled gap, as a program does, until there is an answer as JSON.

    Raises:
        CalledProcessError: the server does not answer in three minutes.
    """
    body = json.dumps({"text": "Paris is the [MASK] of France.", "top_k": 1})
    until = "--retry-all-errors --retry 90 --retry-delay 2 --retry-max-time 180"
    command = shlex.split(f"curl --silent --fail --noproxy * {until} -H 'Host: {HOST}' -d")
    command += [body, f"http://127.0.0.1:{PORT}/api/fill_mask"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def visit_pages() -> Iterator[str]:
    """Open the pages of a Space in Chromium, each in a frame of the Hub.

    Raises:
        AssertionError: a page does not have the text of its address in its first box.
        RuntimeError: something was asked of another host, or answered with an error.
    """
    rules = f"MAP {HOST}:443 127.0.0.1:{_TLS_PORT}, MAP * ~NOTFOUND"
    flags = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={rules}"]
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        context = browser.new_context(ignore_https_errors=True)
        context.set_default_timeout(_PATIENCE)
        context.grant_permissions(["local-network-access"])  # the Hub is not on this machine
        for path, heading in _PAGES.items():
            page = context.new_page()
            yield _visit(page, path, heading)
            page.close()
        browser.close()


def _visit(page: Page, path: str, heading: str) -> str:
    wrong: list[str] = []
    page.on("request", lambda asked: wrong.extend(_elsewhere(asked.url)))
    page.on("response", lambda got: wrong.extend([got.url] if got.status >= 400 else []))
    framed = _FRAME.format(host=HOST, path=path)
    page.route(f"{_HUB}/**", lambda route: route.fulfill(content_type="text/html", body=framed))
    began = time.monotonic()
    page.goto(f"{_HUB}/space")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", level=1, name=heading).first.wait_for()
    seconds = time.monotonic() - began
    for text in parse_qs(urlsplit(path).query).get("text", ()):
        expect(frame.locator("textarea").first).to_have_value(text, timeout=_PATIENCE)
    wrong += ["an error"] * frame.locator("[data-testid=stException]").count()
    if wrong:
        raise RuntimeError(f"{path or 'home'}: {'; '.join(wrong)}")
    return f"{path or 'home'}: “{heading}” after {seconds:.1f} s in the frame"


def _elsewhere(url: str) -> list[str]:
    parts = urlsplit(url)
    ours = parts.hostname in (HOST, "huggingface.co") or parts.scheme in ("data", "blob")
    return [] if ours else [f"asked {url}"]

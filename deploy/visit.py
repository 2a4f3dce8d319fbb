"""Visit a running Space as the Hub's visitors do: in a frame, through a proxy with TLS."""

import asyncio
import json
import re
import shutil
import ssl
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect, sync_playwright

HOST, PORT = "someone-bert-explorer.hf.space", 7860
_HUB = "https://huggingface.co"
_TLS_PORT, _START, _PATIENCE = 8443, 180, 60_000  # seconds, milliseconds
_PAGES = {
    "": "BERT Explorer",
    "fill_mask?text=The+owl+%5BMASK%5D.": "Fill-mask",
    "attention?text=The+owl+sleeps.": "Attention",
    "ner?text=Ada+lives+in+Bern.": "Named entities",
    "xray?text=The+owl+%5BMASK%5D.": "X-ray",
}
_FRAME = """<!doctype html><title>Space</title>
<iframe src="https://{host}/{path}" width="1200" height="800" allow="local-network-access">"""
_FORWARDED = (
    f"X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: {HOST}\r\n"
)


def first_answer(server: "subprocess.Popen[bytes]") -> str:
    """Ask for a filled gap, as a program does, until there is an answer as JSON.

    Raises:
        RuntimeError: the server ended, or did not answer in time.
    """
    body = json.dumps({"text": "Paris is the [MASK] of France.", "top_k": 1}).encode()
    asked = urllib.request.Request(f"http://127.0.0.1:{PORT}/api/fill_mask", body, {"Host": HOST})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + _START
    while time.monotonic() < until and server.poll() is None:
        try:
            with direct.open(asked, timeout=30) as answer:
                return str(answer.read().decode())
        except OSError:  # it does not listen yet
            time.sleep(0.5)
    raise RuntimeError(f"There is no answer; the server's status is {server.poll()}.")


def visit_pages(folder: Path) -> Iterator[str]:
    """Open the pages of a Space in Chromium, each in a frame of the Hub.

    Args:
        folder: for the certificate of the proxy.

    Raises:
        AssertionError: a page does not have the text of its address in its first box.
        RuntimeError: something was asked of another host, or answered with an error.
    """
    rules = f"MAP {HOST}:443 127.0.0.1:{_TLS_PORT}, MAP * ~NOTFOUND"
    flags = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={rules}"]
    with _proxy(folder), sync_playwright() as playwright:
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


@contextmanager
def _proxy(folder: Path) -> Iterator[None]:
    """Serve the site with TLS and the headers of the Hub's proxy while the block runs."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN={HOST}".split()
    written = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *written], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    served = asyncio.start_server(_pass_on, "127.0.0.1", _TLS_PORT, ssl=context)
    server = asyncio.run_coroutine_threadsafe(served, loop).result()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(server.close)


async def _pass_on(visitor: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
    """Pass one request on with the proxy's headers, and everything after it as it is."""
    try:
        head = (await visitor.readuntil(b"\r\n\r\n")).decode("latin-1")
        if "upgrade: websocket" not in head.lower():  # the next request needs the headers, too
            head = re.sub(r"(?im)^connection:.*\r\n", "", head)
            head = head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
        site, there = await asyncio.open_connection("127.0.0.1", PORT)
        there.write(head.replace("\r\n", f"\r\n{_FORWARDED}", 1).encode("latin-1"))
        await asyncio.gather(_pump(visitor, there), _pump(site, back), return_exceptions=True)
    except (OSError, asyncio.IncompleteReadError):
        back.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        target.write(data)
        await target.drain()
    target.close()

"""The headers of every answer: what a page may load, and what browsers may tell others.

Streamlit's page runs scripts of this server only: its own files, the modules of our components,
which Streamlit hands to the browser as `blob:`, and the inline script of its page, named by its
digest. Styles are written into the page while it runs, so these have to be allowed inline.

Gradio's page additionally needs `'unsafe-eval'`, because the browser compiles the templates of
`gr.HTML` from text. Its inline scripts differ at every request and are admitted by a number used
once (a nonce), so that a script which reaches the page in a text is not run there either.
"""

import base64
import hashlib
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Annotated

_SPACES = ("https://huggingface.co", "https://*.hf.space")
_UNUSED = (
    "accelerometer camera display-capture geolocation gyroscope magnetometer microphone midi "
    "payment serial usb"
)
_COMMON = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # an address may contain what a visitor typed
    "permissions-policy": ", ".join(f"{name}=()" for name in _UNUSED.split()),
}


class _Inline(HTMLParser):
    """Collects the code of inline scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and "src" not in dict(attrs)
        if self._inside:
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.codes[-1] += data


def inline_scripts(page: str) -> tuple[str, ...]:
    """Return the sources that admit the inline scripts of a page: their digests."""
    parser = _Inline()
    parser.feed(page)
    parser.close()
    return tuple(map(admitted, parser.codes))


def admitted(code: str) -> str:
    """Return the source that admits an inline script: its digest."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True)
class Policy:
    """The headers of one server."""

    scripts: Annotated[
        tuple[str, ...], "sources that admit the inline scripts of the Streamlit interface"
    ] = ()
    pages: Annotated[tuple[str, ...], "the same of pages that the browser computes itself"] = ()
    in_space: Annotated[
        bool, "whether this is a Space of the Hugging Face Hub, which shows it in a frame"
    ] = False

    def first(self, host: str) -> dict[str, str]:
        """Return the headers of Streamlit's answers.

        Args:
            host: the `Host` of the request; some browsers do not count its websocket as `'self'`.
        """
        return self._headers(
            "script-src 'self' blob: " + " ".join(self.scripts),
            f"connect-src 'self' ws://{host} wss://{host}",
        )

    def second(self, nonce: str) -> dict[str, str]:
        """Return the headers of Gradio's answers."""
        return self._headers(
            f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
            "connect-src 'self'",
        )

    def plain(self, _: str = "") -> dict[str, str]:
        """Return the headers of the programs' interface: JSON, and a page without scripts."""
        rules = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
        return {**_COMMON, "content-security-policy": f"{rules}; frame-ancestors 'self'"}

    def classroom(self, _: str = "") -> dict[str, str]:
        """Return the headers of the students' page: its own files, and nothing inline."""
        rules = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
        rest = "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return {**_COMMON, "content-security-policy": f"{rules}; {rest}"}

    def live(self, _: str = "") -> dict[str, str]:
        """Return the headers of what browsers compute themselves: a worker has its own policy."""
        rules = f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {' '.join(self.pages)}"
        rest = (
            "style-src 'unsafe-inline'; connect-src 'self'; img-src data: blob:; base-uri 'none'; "
            f"form-action 'none'; {self._framing()}"
        )
        return {**_COMMON, "content-security-policy": f"{rules}; {rest}"}

    def refusal(self) -> dict[str, str]:
        """Return the headers of an answer that is neither: a line of text."""
        return {**_COMMON, "content-security-policy": "default-src 'none'; frame-ancestors 'none'"}

    def _headers(self, *own: str) -> dict[str, str]:
        rules = (
            "default-src 'none'",
            *own,
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            self._framing(),
        )
        return {**_COMMON, "content-security-policy": "; ".join(rules)}

    def _framing(self) -> str:
        """Return the rule on who may show this in a frame: the Hub does so with a Space."""
        return " ".join(("frame-ancestors 'self'", *(_SPACES if self.in_space else ())))

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
import re
from dataclasses import dataclass
from typing import Annotated

_INLINE = re.compile(r"<(?:script)(?![^>]*\ssrc=)[^>]*>(.*?)</(?:script)>", re.S)
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


def inline_scripts(page: str) -> tuple[str, ...]:
    """Return the sources that admit the inline scripts of a page of ours: their digests."""
    return tuple(map(admitted, _INLINE.findall(page)))


def admitted(code: str) -> str:
    """Return the source that admits an inline script: its digest."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True)
class Policy:
    """The headers of one server."""

    scripts: Annotated[tuple[str, ...], "what admits the inline scripts of Streamlit's page"] = ()
    pages: Annotated[tuple[str, ...], "the same of pages that the browser computes itself"] = ()
    in_space: Annotated[bool, "whether this is a Space, which the Hub shows in a frame"] = False

    def first(self, host: str) -> dict[str, str]:
        """Return the headers of Streamlit's answers at a `Host`.

        Some browsers do not count its websocket as `'self'`.
        """
        scripts = f"script-src 'self' blob: {' '.join(self.scripts)}"
        return self._page(scripts, f"connect-src 'self' ws://{host} wss://{host}")

    def second(self, nonce: str) -> dict[str, str]:
        """Return the headers of Gradio's answers."""
        return self._page(f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'", "connect-src 'self'")

    def plain(self, _: str = "") -> dict[str, str]:
        """Return the headers of the programs' interface: JSON."""
        return _with("frame-ancestors 'self'", "base-uri 'none'")

    def classroom(self, _: str = "") -> dict[str, str]:
        """Return the headers of the students' page: its own files, and nothing inline."""
        own = "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src data:"
        return _with(*own, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")

    def live(self, _: str = "") -> dict[str, str]:
        """Return the headers of what browsers compute themselves: a worker has its own policy."""
        scripts = f"script-src 'self' 'wasm-unsafe-eval' {' '.join(self.pages)}"
        own = "style-src 'unsafe-inline'", "connect-src 'self'", "img-src data: blob:"
        return _with(scripts, *own, "base-uri 'none'", "form-action 'none'", self._framing())

    def refusal(self) -> dict[str, str]:
        """Return the headers of an answer that is neither: a line of text."""
        return _with("frame-ancestors 'none'")

    def _page(self, *own: str) -> dict[str, str]:
        return _with(
            *own,
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            self._framing(),
        )

    def _framing(self) -> str:
        """Return the rule on who may show this in a frame: the Hub does so with a Space."""
        return " ".join(("frame-ancestors 'self'", *(_SPACES if self.in_space else ())))


def _with(*rules: str) -> dict[str, str]:
    return {**_COMMON, "content-security-policy": "; ".join(("default-src 'none'", *rules))}

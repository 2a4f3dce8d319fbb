"""Numbers used once, which admit the scripts that a page of the server contains."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NONCE = "bert_explorer.nonce"
"""Where a request carries the number that the policy of its answer names."""


class Nonced:
    """Writes the nonce of each request into the scripts of the page that answers it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        nonce = scope.get(NONCE)
        await self._app(scope, receive, with_nonce(send, nonce) if nonce else send)


def with_nonce(send: Send, nonce: str) -> Send:
    """Return a `send` that writes a nonce into every script of a page.

    Scripts that are added to the page in the browser do not get it.

    Args:
        send: sends an answer.
        nonce: the number that the answer's policy names.
    """
    head: list[Message] = []  # of a page, until all of it is there
    parts: list[bytes] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            head.append(message)
        elif not head:
            await send(message)
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                page = b"".join(parts).replace(b"<script", f'<script nonce="{nonce}"'.encode())
                await send(_of_length(head.pop(), len(page)))
                await send({**message, "body": page})

    return sent


def _is_page(message: Message) -> bool:
    """Return whether an answer is a page, as text: one that is compressed cannot be changed."""
    headers = MutableHeaders(raw=list(message["headers"]))
    page = headers.get("content-type", "").startswith("text/html")
    return page and "content-encoding" not in headers


def _of_length(message: Message, length: int) -> Message:
    headers = MutableHeaders(raw=list(message["headers"]))
    headers["content-length"] = str(length)
    return {**message, "headers": headers.raw}

"""Numbers used once, which admit the scripts that a page of the server contains."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NONCE = "bert_explorer.nonce"
"""Where a request carries the number that the policy of its answer names."""


class Nonced:
    """Writes the nonce of each request into the scripts of the page that answers it.

    Scripts that are added to the page in the browser do not get it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        nonce = scope.get(NONCE)
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
                    script = f'<script nonce="{nonce}"'.encode()
                    page = b"".join(parts).replace(b"<script", script)
                    headers = MutableHeaders(raw=list(head[0]["headers"]))
                    headers["content-length"] = str(len(page))
                    await send({**head.pop(), "headers": headers.raw})
                    await send({**message, "body": page})

        await self._app(scope, receive, sent if nonce else send)


def _is_page(message: Message) -> bool:
    """Return whether an answer is a page, as text: one that is compressed cannot be changed."""
    headers = MutableHeaders(raw=list(message["headers"]))
    page = headers.get("content-type", "").startswith("text/html")
    return page and "content-encoding" not in headers

"""What a browser may say on the websocket of a page: messages of Streamlit, nothing else."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.compat.streamlit import is_readable

_INVALID = 1007  # the code of a websocket that ends because a message cannot be read
_UNREADABLE = "This is not a message of a page."


class OnlyMessages:
    """Ends a websocket that says anything else; Streamlit would log it, with a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is said, until it cannot be read."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        over = False

        async def received() -> Message:
            nonlocal over
            message = await receive()
            if message["type"] != "websocket.receive" or is_readable(message.get("bytes")):
                return message
            over = True
            await send({"type": "websocket.close", "code": _INVALID, "reason": _UNREADABLE})
            return {"type": "websocket.disconnect", "code": _INVALID}

        async def sent(message: Message) -> None:
            if not over:
                await send(message)

        await self._app(scope, received, sent)

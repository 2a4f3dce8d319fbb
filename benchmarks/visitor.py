"""A visitor without a browser: one session over the websocket, speaking Streamlit's protocol.

It sends what the browser sends (the values of the widgets it has changed, the page, the hashes of
the messages it has cached) and receives every message of the run, so that the server does all of
its work: script, model, serialisation, sending.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any
from urllib.request import Request, urlopen

from websockets.asyncio.client import ClientConnection, connect

from app.compat.streamlit import BackMsg, ForwardMsg, WidgetState
from app.server.sessions import COOKIE

_PATIENCE = 120.0  # seconds that an answer may take before the visitor gives up
_CACHED = 200  # messages; a page has about 80, and answers to interrupted runs may still come


class Answer:
    """What one run of a page sent."""

    def __init__(self) -> None:
        self.seconds = 0.0  # from the request to the last message
        self.messages: list[ForwardMsg] = []  # in order; cached ones are replaced by what they are
        self.size = 0  # bytes received

    def elements(self) -> Iterator[Any]:
        """Yield the elements that were drawn: the part that differs by kind."""
        for message in self.messages:
            element = message.delta.new_element  # empty in messages of other types
            kind = element.WhichOneof("type")
            if kind is not None:
                yield getattr(element, kind)

    def drawn(self) -> str:
        """Return the text of everything drawn, except the boxes that repeat what was typed."""
        kinds = ("TextArea", "TextInput")
        return "\n".join(str(each) for each in self.elements() if each.DESCRIPTOR.name not in kinds)

    def trouble(self) -> str:
        """Return what the page reports as wrong; "" if nothing."""
        for element in self.elements():
            name = element.DESCRIPTOR.name
            if name == "Exception":
                return f"exception {element.type}"
            if name == "Alert" and element.format in (element.ERROR, element.WARNING):
                return str(element.body)
        return ""


def cookie(address: str) -> str:
    """Open the site as a browser does; return the cookies that it gives a new visitor."""
    with urlopen(Request(address, headers={"Accept": "text/html"}), timeout=_PATIENCE) as page:
        given = [each.partition(";")[0] for each in page.headers.get_all("Set-Cookie", ())]
        return "; ".join(given) if any(each.startswith(COOKIE) for each in given) else ""


class Visitor:
    """One session: opens pages, changes widgets, and waits for the answer.

    Use it as an asynchronous context manager.

    Args:
        address: of the site, such as `http://127.0.0.1:8501`.
        cookie: from an earlier visit; "" for a new visitor.
    """

    def __init__(self, address: str, cookie: str = "") -> None:
        self._url = address.replace("http", "ws", 1) + "/_stcore/stream"
        self._origin = address
        self.cookie = cookie
        self._connection: ClientConnection | None = None
        self._page = ""
        self._query = ""
        self._ids: dict[str, str] = {}
        self._states: dict[str, WidgetState] = {}
        self._cached: dict[str, ForwardMsg] = {}

    async def __aenter__(self) -> "Visitor":
        """Connect."""
        self.cookie = self.cookie or await asyncio.to_thread(cookie, self._origin)
        self._connection = await connect(
            self._url,
            origin=self._origin,  # type: ignore[arg-type]  # a NewType of str
            additional_headers={"Cookie": self.cookie},
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
            open_timeout=_PATIENCE,
            proxy=None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        """Close the connection, as a closed tab does."""
        if self._connection is not None:
            await self._connection.close()

    async def open(self, page: str, query: str = "") -> Answer:
        """Open a page by its name in the address, without values of an earlier page."""
        self._page, self._query = page, query
        self._ids, self._states = {}, {}
        return await self._run()

    async def change(self, values: Mapping[str, str | float]) -> Answer:
        """Set widgets by their keys, and return what the page answers."""
        for key, value in values.items():
            state = WidgetState(id=self._ids[key])
            if isinstance(value, str):
                state.string_value = value
            else:
                state.double_array_value.data.append(value)
            self._states[key] = state
        return await self._run()

    async def press(self, key: str) -> Answer:
        """Press a button."""
        self._states[key] = WidgetState(id=self._ids[key], trigger_value=True)
        try:
            return await self._run()
        finally:
            del self._states[key]

    async def _run(self) -> Answer:
        """Ask for a run of the page, and receive its messages."""
        assert self._connection is not None
        request = BackMsg()
        request.rerun_script.page_name = self._page
        request.rerun_script.query_string = self._query
        request.rerun_script.widget_states.widgets.extend(self._states.values())
        request.rerun_script.cached_message_hashes.extend(self._cached)
        request.rerun_script.context_info.timezone = "UTC"
        answer, begun = Answer(), time.perf_counter()
        await self._connection.send(request.SerializeToString())
        while True:
            message = ForwardMsg.FromString(await self._received(answer))
            if message.WhichOneof("type") == "ref_hash":
                message = self._cached[message.ref_hash]
            if message.hash and message.metadata.cacheable:
                self._cached.pop(message.hash, None)  # the newest are at the end
                self._cached[message.hash] = message
            answer.messages.append(message)
            ended = message.WhichOneof("type") == "script_finished"
            if ended and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                break
        answer.seconds = time.perf_counter() - begun
        self._remember(answer)
        return answer

    async def _received(self, answer: Answer) -> bytes:
        assert self._connection is not None
        data = await asyncio.wait_for(self._connection.recv(decode=False), _PATIENCE)
        answer.size += len(data)
        return data

    def _remember(self, answer: Answer) -> None:
        """Note the widgets that were drawn; forget the oldest of what a browser caches."""
        for hash_ in list(self._cached)[:-_CACHED]:
            del self._cached[hash_]
        for element in answer.elements():
            id_ = getattr(element, "id", "")
            if id_.startswith("$$"):
                self._ids[id_.split("-", 2)[-1]] = id_

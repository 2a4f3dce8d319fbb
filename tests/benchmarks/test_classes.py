"""The class of sixty: its streams read events, and its code is found on the teacher's page."""

import asyncio

from app.compat.streamlit import ForwardMsg
from benchmarks.classes import Stream, code_in
from benchmarks.visitor import Answer


def test_the_code_is_found_where_the_page_has_it_and_nowhere_else() -> None:
    answer = Answer()
    for body in (".bx-code { x: y }", '<b class="bx-code">ACDEFG</b>'):
        assert code_in(answer) == ""
        message = ForwardMsg()
        message.delta.new_element.html.body = body
        answer.messages.append(message)
    assert code_in(answer) == "ACDEFG"


def test_a_stream_knows_the_newest_state_and_waits_for_what_is_wanted() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"Cookie: a=b" in await reader.readuntil(b"\r\n\r\n")
        for stage in range(3):
            writer.write(f'event: state\ndata: {{"stage":{stage},"phase":"ask"}}\n\n'.encode())
        writer.close()

    async def follow() -> Stream:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        stream = Stream(f"127.0.0.1:{port}", "/class/ACDEFG/events", "a=b")
        waiting = asyncio.create_task(stream.until(stage=2, phase="ask"))
        await stream.follow()
        assert await waiting == stream.at
        server.close()
        return stream

    assert asyncio.run(follow()).state == {"stage": 2, "phase": "ask"}

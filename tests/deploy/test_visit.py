"""The proxy in front of a Space that is tried, and what counts as a request to another host."""

import asyncio

import pytest

from deploy import visit


def test_the_proxy_names_the_visitor_and_ends_each_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads: list[str] = []

    async def site(asked: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        heads.append((await asked.readuntil(b"\r\n\r\n")).decode())
        back.write(b"HTTP/1.1 200 OK\r\n\r\nhere")
        back.close()

    async def asked(*lines: str) -> bytes:
        server = await asyncio.start_server(site, "127.0.0.1", 0)
        monkeypatch.setattr(visit, "PORT", server.sockets[0].getsockname()[1])
        proxy = await asyncio.start_server(visit._pass_on, "127.0.0.1", 0)
        async with server, proxy:
            there, to = await asyncio.open_connection(*proxy.sockets[0].getsockname())
            to.write(
                "\r\n".join([f"GET / HTTP/1.1\r\nHost: {visit.HOST}", *lines, "", ""]).encode()
            )
            found = await there.read()
            to.close()
            await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=5)
            return found

    assert asyncio.run(asked("Connection: keep-alive")).endswith(b"here")
    assert "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\n" in heads[0]
    assert "keep-alive" not in heads[0] and "Connection: close\r\n" in heads[0]
    asyncio.run(asked("Connection: Upgrade", "Upgrade: websocket"))
    assert "Connection: Upgrade\r\n" in heads[1] and "X-Forwarded-For" in heads[1]


def test_a_request_to_another_host_is_named() -> None:
    assert visit._elsewhere("https://cdn.example/x") == ["asked https://cdn.example/x"]
    own = (f"https://{visit.HOST}/a", "https://huggingface.co/space", "data:,x", "blob:x")
    assert [visit._elsewhere(each) for each in own] == [[]] * 4

"""The front end's first guess at where its server is gets an answer that no console shows."""

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.server.probes import elsewhere


def ask(below: str, path: str, method: str = "GET") -> httpx.Response:
    real = [Route(f"{below}_stcore/{name}", PlainTextResponse("ok")) for name in ("health", "x")]
    site = Starlette(routes=[*elsewhere(below), *real])

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(site)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path)

    return asyncio.run(asked())


@pytest.mark.parametrize("below", ["/", "/a/", "/a/b/"])
def test_below_a_page_the_answer_is_neither_a_success_nor_an_error(below: str) -> None:
    for probe in ("health", "host-config"):
        for page in ("ner", "no-such-page"):
            answer = ask(below, f"{below}{page}/_stcore/{probe}")
            assert answer.status_code == 300  # a browser writes 400 and above to its console
            assert "location" not in answer.headers  # and would follow this one
            assert answer.content == b""
    for name in ("health", "x"):  # the server itself answers at its own path
        assert ask(below, f"{below}_stcore/{name}").text == "ok"
    assert ask(below, f"{below}ner/_stcore/metrics").status_code == 404
    assert ask(below, f"{below}ner/_stcore/health", "POST").status_code == 405

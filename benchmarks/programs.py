"""Programs beside pages: calls over the API, MCP and Gradio's addresses, refused calls, and books.

The server is `python app.py` on two cores, as in `benchmarks.classroom`. Every answer of the load
is compared with the one that this process computed on one thread before the server was started.

    python -m benchmarks.programs --minutes 10 --only load
"""

import argparse
import asyncio
import itertools
import json
import math
import os
import random
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import torch

from app.faces import ask
from benchmarks.classroom import Row, Server, Tally, served, timed, typed
from benchmarks.pages import Texts
from benchmarks.visitor import Visitor, cookie
from bert_core import BertTokenizer

TITLE = "Programs beside pages"
COLUMNS = ("what", "to reach", "before", "now", "reached")
NOTES = (
    "`python app.py` with the bundled model on two cores, loopback; each client has a cookie of "
    "its own. There is no measurement of the state before with this program.",
    "Load: 16 clients without pauses, each over the JSON API, MCP and Gradio's `call` in turn, 4 "
    "visitors of pages; every answer of a client is compared with one computed on one thread: "
    "words, labels and places exactly, numbers to 1e-4.",
    "Refused: 12 clients whose allowance is used up call on without pauses, over the same "
    "addresses.",
    "Books: one visitor sends sixty texts of 95,000 characters at once, another one asks about "
    "sentences.",
    "Memory: anonymous memory of the server, five minutes after the last call beside that before.",
)
MINUTES, CLIENTS, PAGES, REFUSED, BOOKS = 10.0, 16, 4, 12, 60
_AFTER = 300.0  # seconds
_LONG = 95_000  # characters
_SPREAD = 1e-4

Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A call and its answer, computed on one thread."""

    task: str
    given: Given
    answer: Any


def questions(texts: Texts, number: int) -> list[Question]:
    """Compute the answers to questions about new texts."""
    kinds: list[tuple[str, Callable[[], Given]]] = [
        ("fill_mask", lambda: {"text": f"{texts.of(9)} [MASK] .", "top_k": 3}),
        ("ner", lambda: {"text": texts.of(40)}),
        ("qa", lambda: {"passage": texts.of(120), "question": texts.of(6)}),
        ("next_sentence", lambda: {"first": texts.of(9), "second": texts.of(9)}),
        ("classification", lambda: {"text": texts.of(15)}),
        ("attention", lambda: {"text": texts.of(14)}),
        ("ner", lambda: {"text": texts.of(900)}),
    ]
    torch.set_num_threads(1)
    found = []
    for (task, made), _ in zip(itertools.cycle(kinds), range(number), strict=False):
        given = made()
        found.append(Question(task, given, ask(task, **given).json()))
    return found


def differs(one: Any, other: Any) -> bool:
    """Return whether two answers differ by more than rounding.

    >>> differs({"a": [1, "x", 0.5]}, {"a": [1, "x", 0.50001]}), differs([1], [1, 2])
    (False, True)
    """
    if isinstance(one, float) and isinstance(other, float | int):
        return not math.isclose(one, other, rel_tol=_SPREAD, abs_tol=_SPREAD)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() != other.keys() or any(differs(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(map(differs, one, other))
    return bool(one != other)


# -- three ways to call ----------------------------------------------------------------------------

Call = Callable[[httpx.AsyncClient, str, Given], Awaitable[httpx.Response]]


async def by_api(client: httpx.AsyncClient, task: str, given: Given) -> httpx.Response:
    """Call `/api/<task>`."""
    return await client.post(f"/api/{task}", json=given)


async def by_mcp(client: httpx.AsyncClient, task: str, given: Given) -> httpx.Response:
    """Call a tool."""
    params = {"name": task, "arguments": given}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return await client.post("/mcp", json=asked)


async def by_gradio(client: httpx.AsyncClient, task: str, given: Given) -> httpx.Response:
    """Call in two steps."""
    base = "/gradio/gradio_api/call"
    begun = await client.post(f"{base}/v2/{task}", json=given)
    if begun.status_code != httpx.codes.OK:
        return begun
    return await client.get(f"{base}/{task}/{begun.json()['event_id']}")


CALLS: tuple[Call, ...] = (by_api, by_mcp, by_gradio)


def answer_of(found: httpx.Response) -> Any:
    """Return the result in an answer of any of the three."""
    found.raise_for_status()
    if found.headers["content-type"].startswith("text/event-stream"):
        return json.loads(found.text.strip().rpartition("data: ")[2])[0]
    told = found.json()
    return json.loads(told["result"]["content"][0]["text"]) if "result" in told else told


def client_of(server: Server) -> httpx.AsyncClient:
    """Return a client with a cookie of its own."""
    headers = {"Cookie": cookie(server.address)}
    return httpx.AsyncClient(base_url=server.address, headers=headers, timeout=120, trust_env=False)


# -- scenarios -------------------------------------------------------------------------------------


async def pages(server: Server, texts: Texts, tally: Tally, end: float) -> None:
    """Visit a page and type until the end."""
    async with Visitor(server.address) as visitor:
        await visitor.open("fill_mask")
        while time.perf_counter() < end:
            await timed(tally, visitor, typed(text=f"{texts.of(11)} [MASK] ."))
            await asyncio.sleep(0.5)


async def load(
    server: Server, texts: Texts, asked: list[Question], minutes: float
) -> AsyncIterator[Row]:
    """Sixteen clients and four visitors of pages."""
    wrong, times, tally = list[str](), list[float](), Tally([], [])
    alone = Tally([], [])
    await pages(server, texts, alone, time.perf_counter() + 15)
    before = _megabytes(server)
    end = time.perf_counter() + 60 * minutes

    async def one(number: int) -> None:
        chance = random.Random(number)
        async with client_of(server) as client:
            while time.perf_counter() < end:
                question, call = chance.choice(asked), CALLS[len(times) % len(CALLS)]
                begun = time.perf_counter()
                try:
                    found = answer_of(await call(client, question.task, question.given))
                except Exception as error:  # noqa: BLE001 - whatever a client meets is counted
                    wrong.append(f"{type(error).__name__}: {error}"[:200])
                    continue
                times.append(time.perf_counter() - begun)
                if differs(question.answer, found):
                    wrong.append(f"{question.task}: another answer")

    visits = [pages(server, texts, tally, end) for _ in range(PAGES)]
    working = asyncio.gather(*map(one, range(CLIENTS)), *visits)
    await asyncio.sleep(60 * minutes * 0.9)
    during = _megabytes(server)
    await working
    print(wrong[:5], tally.troubles[:5])
    yield Row("load: a page's answer without it, p95", _p95(alone.times))
    yield Row("load: a page's answer, p95", _p95(tally.times))
    yield Row("load: a call's answer, median", statistics.median(times))
    yield Row("load: a call's answer, p95", _p95(times))
    yield Row("load: answers of calls", len(times), "")
    yield Row("load: wrong answers and errors", len(wrong) + len(tally.troubles), "", 0)
    yield Row("load: memory before", before, "MB")
    yield Row("load: memory during the last tenth", during, "MB")
    await asyncio.sleep(_AFTER)
    after = _megabytes(server)
    yield Row("load: memory five minutes after", after, "MB", 1.1 * before)


async def refused(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Twelve clients of refused calls, and a page; the server allows one answer a minute."""
    calm, tally, health = Tally([], []), Tally([], []), list[float]()
    seconds, answers = 20.0, 0

    async def tokenizer(found: Tally, end: float) -> None:
        async with Visitor(server.address) as visitor:
            await visitor.open("tokenizer")
            while time.perf_counter() < end:
                await timed(found, visitor, typed(text=texts.of(12)))
                await asyncio.sleep(0.2)

    async def beat(end: float) -> None:
        async with httpx.AsyncClient(base_url=server.address, trust_env=False) as client:
            while time.perf_counter() < end:
                begun = time.perf_counter()
                await client.get("/_stcore/health")
                health.append(time.perf_counter() - begun)
                await asyncio.sleep(0.1)

    async def one(number: int, end: float) -> None:
        nonlocal answers
        async with client_of(server) as client:
            call = CALLS[number % len(CALLS)]
            while time.perf_counter() < end:
                found = await call(client, "fill_mask", {"text": "a [MASK]"})
                answers += found.status_code == httpx.codes.TOO_MANY_REQUESTS

    await tokenizer(calm, time.perf_counter() + seconds)
    begun, end = _processor(server), time.perf_counter() + seconds
    await asyncio.gather(*(one(number, end) for number in range(REFUSED)))
    each = 1e3 * (_processor(server) - begun) / max(1, answers)
    end = time.perf_counter() + seconds
    clients = (one(number, end) for number in range(REFUSED))
    await asyncio.gather(*clients, tokenizer(tally, end), beat(end))
    yield Row("refused: a call, ms of the processor", each, "ms", 10)
    yield Row("refused: /_stcore/health, slowest", max(health), "s", 0.3)
    yield Row("refused: a tokenizer page without them, p95", _p95(calm.times))
    yield Row("refused: a tokenizer page, p95", _p95(tally.times), "s", 1.5 * _p95(calm.times))
    yield Row("refused: errors of pages", len(tally.troubles), "", 0)


async def books(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Sixty books of one visitor, and the sentences of another."""
    times, chance = list[float](), random.Random(3)
    words = texts.of(5_000).split()
    async with client_of(server) as reader, client_of(server) as other:
        for _ in range(3):
            await by_api(other, "fill_mask", {"text": f"{texts.of(9)} [MASK] ."})
        before = _megabytes(server)
        sent = [
            asyncio.create_task(
                by_api(
                    reader, "ner", {"text": " ".join(chance.choices(words, k=_LONG // 5))[:_LONG]}
                )
            )
            for _ in range(BOOKS)
        ]
        await asyncio.sleep(3)
        for _ in range(40):
            begun = time.perf_counter()
            (
                await by_api(other, "fill_mask", {"text": f"{texts.of(9)} [MASK] ."})
            ).raise_for_status()
            times.append(time.perf_counter() - begun)
            await asyncio.sleep(0.5)
        for each in sent:
            each.cancel()
        await asyncio.gather(*sent, return_exceptions=True)
    yield Row("books: a sentence beside sixty, median", statistics.median(times))
    yield Row("books: a sentence beside sixty, slowest of 40", max(times), "s", 1)
    yield Row("books: memory before", before, "MB")
    await asyncio.sleep(_AFTER)
    yield Row("books: memory five minutes after", _megabytes(server), "MB", 1.1 * before)


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _megabytes(server: Server) -> float:
    return server.status("RssAnon") / 1e3


def _processor(server: Server) -> float:
    """Return the seconds of the processor that the server has used."""
    fields = Path(f"/proc/{server.process}/stat").read_text(encoding="ascii").rpartition(")")[2]
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def rows(quick: bool, only: str | None = None, minutes: float = MINUTES) -> Iterator[Row]:
    """Run every scenario, or a single one, each on a server of its own."""
    texts = Texts(list(BertTokenizer.from_pretrained("explorer-mini-uncased").vocab))
    if only in {None, "load"}:
        asked = questions(texts, 70)
        with served() as server:
            yield from _collected(server, load(server, texts, asked, 0.5 if quick else minutes))
    if only in {None, "refused"}:
        with served(BERT_EXPLORER_REQUESTS="1", BERT_EXPLORER_SECONDS="1000000") as server:
            yield from _collected(server, refused(server, texts))
    if only in {None, "books"}:
        with served() as server:
            yield from _collected(server, books(server, texts))


def _collected(server: Server, found: AsyncIterator[Row]) -> list[Row]:
    async def collect() -> list[Row]:
        for path in ("/api/", "/gradio/"):  # what is built at the first request is there
            httpx.get(f"{server.address}{path}", timeout=120, trust_env=False)
        return [row async for row in found]

    return asyncio.run(collect())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the lines of a scenario."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--only", choices=("load", "refused", "books"))
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of the load")
    options = parser.parse_args(arguments)
    for row in rows(False, options.only, options.minutes):
        print(row, flush=True)


if __name__ == "__main__":
    main()

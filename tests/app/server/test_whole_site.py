"""The whole site while parts of it are killed: Caddy, two servers and Redis.

`pytest -s` shows how long each part took.
"""

import asyncio
import json
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from websockets.exceptions import WebSocketException

from app.settings import BUNDLED_MODEL
from benchmarks.visitor import Answer, Visitor, cookie
from bert_core import BertTokenizer
from tests.stores import Store, caddy, free_port, needs_caddy, needs_redis, stored
from tests.strangers import PATIENCE, Site, header, started, status, until

VISITORS, ANSWERS, STUDENTS = 40, 2_000, 20
LESSON = "lesson=pieces"
GONE = (OSError, EOFError, WebSocketException, TimeoutError, httpx.HTTPError)
pytestmark = [needs_redis, needs_caddy, pytest.mark.slow]


def events(site: Site, code: str, given: str, which: str = "events") -> Iterator[tuple[str, Any]]:
    """Follow a class; yield what is told."""
    address, name = f"{site.address}/class/{code}/{which}", ""
    with httpx.stream("GET", address, headers={"Cookie": given}, timeout=PATIENCE) as stream:
        for line in stream.iter_lines():
            key, _, value = line.partition(": ")
            name = value if key == "event" else name
            if key == "data":
                yield name, json.loads(value)


def told(site: Site, code: str, given: str, which: str = "events", **wanted: Any) -> Any:
    """Wait until a class is as wanted."""
    for name, state in events(site, code, given, which):
        if name == "state" and wanted.items() <= state.items():
            return state
    raise AssertionError(f"the stream ended before {wanted}")


def voted(site: Site, code: str, given: str, guess: int) -> bool:
    """Join, and vote; return whether the vote was taken."""
    stage = told(site, code, given)["stage"]
    headers = {"Cookie": given, "Origin": site.address}
    vote = {"stage": stage, "guess": guess}
    address = f"{site.address}/class/{code}/vote"
    return httpx.post(address, json=vote, headers=headers, timeout=PATIENCE).is_success


async def opened(site: Site) -> tuple[str, str]:
    """Open a class as its teacher; return the code and the cookie."""
    async with Visitor(site.address) as teacher:
        await teacher.open("lessons", LESSON)
        drawn = (await teacher.press("_class_start")).drawn()
    found = re.search(r"class/([A-Z0-9]{6})\b", drawn)
    assert found, drawn[:2_000]
    return found[1], teacher.cookie


def it_drains(site: Site, known: str) -> None:
    """Tell a server to stop: it goes on for those whom it knows, until it has nothing to do."""
    with httpx.stream("GET", f"{site.address}/livez"):
        site.process.send_signal(signal.SIGTERM)
        until(lambda: httpx.get(f"{site.address}/readyz").status_code == 503)
    new = site.ask("/", "Accept: text/html", host=f"127.0.0.1:{site.port}")
    assert status(new) == 503 and header(new, "refresh") == header(new, "retry-after") == "2"
    again = site.ask("/", "Accept: text/html", f"Cookie: {known}", host=f"127.0.0.1:{site.port}")
    assert status(again) == 200
    assert site.process.wait(PATIENCE) == 0


def words() -> list[str]:
    """Return a word for each visitor, rare enough that no page has it by itself."""
    vocab = BertTokenizer.from_pretrained(BUNDLED_MODEL).vocab
    whole = [each for each in vocab if re.fullmatch("[a-z]{8,}", each)]
    return whole[-7 * VISITORS :: 7]


@dataclass
class Guest:
    """Someone with a page, in a browser that connects again when the connection ends.

    Attributes:
        address: of the site.
        word: in all texts of this one, and in no other's.
        others: the words of the others.
        given: cookies; kept for the next connection.
        answers: how many came.
        away: the longest time from a lost connection to the answer on the next one, in seconds.
        foreign: answers with another's word, or without the own text.
    """

    address: str
    word: str
    others: list[str]
    given: str = ""
    answers: int = 0
    away: float = 0.0
    foreign: list[str] = field(default_factory=list)
    visitor: Visitor | None = None

    async def ask(self) -> None:
        """Type another sentence; wait for its answer, on another server if need be."""
        year, begun = str(1900 + self.answers % 100), 0.0
        text = f"{self.word} came in {year} and [MASK] left"
        while True:
            try:
                async with asyncio.timeout(PATIENCE):
                    answer = await self._answer(text)
                break
            except GONE:
                begun = begun or time.monotonic()
                self.visitor = None
                await asyncio.sleep(0.2)
        if begun:
            self.away = max(self.away, time.monotonic() - begun)
        drawn = answer.drawn()
        wrong = [each for each in self.others if each in drawn]
        lacks = [each for each in (self.word, year) if each not in drawn]
        if wrong or lacks or answer.trouble():
            self.foreign.append(f"{text}: {wrong}, without {lacks}, {answer.trouble()}")
        self.answers += 1

    async def _answer(self, text: str) -> Answer:
        if self.visitor is not None:
            return await self.visitor.change({"text": text})
        visitor = await Visitor(self.address, self.given).__aenter__()
        self.visitor, self.given = visitor, visitor.cookie
        # A page that is opened again has what was typed from its address.
        return await visitor.open("fill_mask", f"text={quote(text)}")

    async def leave(self) -> None:
        """Close the page."""
        if self.visitor is not None:
            with suppress(*GONE):
                await self.visitor.__aexit__(None, None, None)


async def all_ask(guests: list[Guest], times: int) -> None:
    """Let everybody type so many sentences."""

    async def one(guest: Guest) -> None:
        for _ in range(times):
            await guest.ask()

    await asyncio.gather(*map(one, guests))


@asynccontextmanager
async def asking(guests: list[Guest]) -> AsyncIterator[None]:
    """Let everybody go on typing during the block; everybody has an answer after its end."""
    ended = asyncio.Event()

    async def one(guest: Guest) -> None:
        while not ended.is_set():
            await guest.ask()
        await guest.ask()

    work = asyncio.gather(*map(one, guests))
    try:
        yield
    finally:
        ended.set()
        await work


def say(what: str, begun: float = time.monotonic()) -> None:
    sys.stdout.write(f"{time.monotonic() - begun:6.1f} s  {what}\n")
    sys.stdout.flush()


async def soon(true: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, true)


async def votes(number: int, front: Site, code: str, given: str) -> None:
    """Vote, again and again until the vote was taken, as a student's page does."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(AssertionError, *GONE):
                if await asyncio.to_thread(voted, front, code, given, number % 2):
                    return
            await asyncio.sleep(0.5)


async def a_server_dies(guests: list[Guest], sites: list[Site], front: Site) -> tuple[str, str]:
    """Kill a server while a class votes; return the code of the class and a student's cookie."""
    code, teacher = await opened(front)
    cookies = [await asyncio.to_thread(cookie, front.address) for _ in range(STUDENTS)]
    say(f"class {code} is open")
    async with asking(guests):
        half = STUDENTS // 2
        await asyncio.gather(*(votes(n, front, code, cookies[n]) for n in range(half)))
        sites[0].process.kill()
        say("half of the class has voted; a server is killed")
        await asyncio.gather(*(votes(n, front, code, cookies[n]) for n in range(half, STUDENTS)))
        say("all have voted")
    bars = (await asyncio.to_thread(told, front, code, teacher, "teacher", answered=STUDENTS))[
        "bars"
    ]
    assert [bar["first"] for bar in bars][:2] == [half, STUDENTS - half]
    assert sum(bar["first"] for bar in bars) == STUDENTS
    return code, cookies[0]


async def the_store_dies(guests: list[Guest], store: Store, site: Site, code: str, me: str) -> None:
    """Kill Redis and start an empty one: pages go on, and the class says that it has ended."""

    def shared() -> str:
        return str(httpx.get(f"{site.address}/readyz", timeout=PATIENCE).json()["shared"])

    async with asking(guests):
        store.end()
        await soon(lambda: shared() == "away")
        say("Redis is away")
        store.start()
        await soon(lambda: shared() == "reached")
        address = f"{site.address}/class/{code}/events"
        last = await asyncio.to_thread(httpx.get, address, headers={"Cookie": me}, timeout=PATIENCE)
        say("Redis is back")
        assert "event: end" in last.text and "no class with this code" in last.text


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[tuple[Store, list[Site], Site]]:
    """Yield the store, two servers, and the same site seen through Caddy."""
    with ExitStack() as stack:
        store, sites = stack.enter_context(stored(tmp_path)), []
        port = free_port()
        own = {"SHARED": store.url, "HOSTS": f"127.0.0.1:{port}", "DRAIN": str(PATIENCE)}
        for name in "ab":
            (tmp_path / name).mkdir()
            more = {f"BERT_EXPLORER_{key}": value for key, value in own.items()}
            sites.append(stack.enter_context(started(tmp_path / name, Path(BUNDLED_MODEL), **more)))
        front = stack.enter_context(caddy(tmp_path, [each.port for each in sites], port))
        seen = Site(int(front.rsplit(":", 1)[1]), sites[1].process, sites[1].log, sites[1].asked)
        yield store, sites, seen


def test_forty_visitors_and_a_class_while_a_server_and_redis_die(
    parts: tuple[Store, list[Site], Site],
) -> None:
    store, sites, front = parts
    names = words()
    guests = [
        Guest(front.address, name, [each for each in names if each != name]) for name in names
    ]

    async def everything() -> None:
        say("begun")
        await all_ask(guests, 5)
        say("five answers each")
        code, student = await a_server_dies(guests, sites, front)
        say(f"away for {max(guest.away for guest in guests):.1f} s at most")
        await the_store_dies(guests, store, sites[1], code, student)
        done = sum(guest.answers for guest in guests)
        say(f"{done} answers")
        await all_ask(guests, max(0, -(-(ANSWERS - done) // VISITORS)))
        await asyncio.gather(*(guest.leave() for guest in guests))

    asyncio.run(everything())
    say(f"{sum(guest.answers for guest in guests)} answers, killed: {sites[0].process.poll()}")
    assert len(names) == VISITORS and sum(guest.answers for guest in guests) >= ANSWERS
    assert [each for guest in guests for each in guest.foreign] == []
    assert sites[0].process.wait(PATIENCE) == -signal.SIGKILL and sites[1].process.poll() is None
    it_drains(sites[1], guests[0].given)
    log = sites[1].log.read_text(encoding="utf-8")
    assert "ERROR" not in log and "Traceback" not in log
    assert not any(name in log for name in names)

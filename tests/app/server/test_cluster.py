"""Two servers of one site on a real Redis: a class, a visitor, and both while servers end."""

import asyncio
import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import BUNDLED_MODEL
from benchmarks.visitor import Visitor, cookie
from tests.stores import Store, needs_redis, stored
from tests.strangers import PATIENCE, Site, header, started, status, until

LESSON = "lesson=pieces"
STUDENTS = 20
pytestmark = [needs_redis, pytest.mark.slow]


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


async def shown(site: Site, given: str) -> str:
    """Open the lesson as its teacher does again, and show the votes."""
    async with Visitor(site.address, given) as teacher:
        await teacher.open("lessons", LESSON)
        (button,) = (key for key in teacher._ids if key.startswith("_class_Show votes"))
        return (await teacher.press(button)).drawn()


async def filled(site: Site) -> str:
    """Let the model fill a gap on a page."""
    async with Visitor(site.address) as visitor:
        return (await visitor.open("fill_mask", "text=The+river+[MASK]")).trouble()


def a_class_votes(sites: list[Site], code: str) -> list[str]:
    """Let students vote on both servers, and kill the first of them meanwhile."""
    cookies = [cookie(sites[number % 2].address) for number in range(STUDENTS)]
    one_in = [voted(sites[0], code, cookies[0], 0), voted(sites[1], code, cookies[1], 0)]
    assert one_in == [True, True]

    def vote(number: int) -> bool:
        if number == 7:
            sites[0].process.kill()
        try:
            return voted(sites[number % 2], code, cookies[number], 1)
        except (httpx.HTTPError, AssertionError):  # as a browser, that votes again elsewhere
            return voted(sites[1], code, cookies[number], 1)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(vote, range(STUDENTS)))
    assert sites[0].process.wait(PATIENCE) == -signal.SIGKILL
    return cookies


def the_store_ends(store: Store, site: Site, code: str, student: str) -> None:
    """End Redis, then start an empty one: the class is over, and says so."""
    following = events(site, code, student)
    assert [next(following)[0] for _ in range(2)] == ["mine", "state"]
    store.end()
    until(lambda: httpx.get(f"{site.address}/readyz").json()["shared"] == "away")
    assert httpx.get(f"{site.address}/readyz").status_code == 200
    unknown = httpx.get(f"{site.address}/class/WRONGX/events", headers={"Cookie": student})
    assert unknown.status_code == 503
    assert asyncio.run(filled(site)) == ""
    store.start()
    assert next(following) == ("end", {"says": "The class has ended."})
    until(lambda: httpx.get(f"{site.address}/readyz").json()["shared"] == "reached")


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


def test_a_class_on_two_servers_outlives_one_of_them_and_ends_with_the_store(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        store, sites = stack.enter_context(stored(tmp_path)), []
        for name in "ab":
            (tmp_path / name).mkdir()
            own = {"BERT_EXPLORER_SHARED": store.url, "BERT_EXPLORER_DRAIN": str(PATIENCE)}
            sites.append(stack.enter_context(started(tmp_path / name, Path(BUNDLED_MODEL), **own)))
        code, teacher = asyncio.run(opened(sites[0]))
        cookies = a_class_votes(sites, code)
        counted = told(sites[1], code, teacher, "teacher", answered=STUDENTS)
        assert sum(bar["first"] for bar in counted["bars"]) == STUDENTS
        assert counted["bars"][1]["first"] == STUDENTS and counted["joined"] == STUDENTS
        assert "Vote again" in asyncio.run(shown(sites[1], teacher))
        assert told(sites[1], code, cookies[0])["bars"][1]["first"] == STUDENTS
        the_store_ends(store, sites[1], code, cookies[0])
        it_drains(sites[1], teacher)
        log = (tmp_path / "b" / "site.log").read_text(encoding="utf-8")
    assert "ERROR" not in log and "Traceback" not in log
    assert log.count("the shared store is out of reach") == 1

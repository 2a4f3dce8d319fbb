"""A class of sixty on one lesson: how fast a teacher's click and a student's vote arrive.

The server is `python app.py` on two cores, as in `benchmarks.classroom`. The students are streams
of events without a browser, the teacher is a session that presses the buttons of the page, and
other visitors fill gaps meanwhile.
"""

import asyncio
import json
import os
import random
import re
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.classroom import COLUMNS as COLUMNS
from benchmarks.classroom import Row, Tally, timed, typed
from benchmarks.server import Server, served
from benchmarks.texts import Texts
from benchmarks.visitor import Answer, Visitor, cookie
from bert_core import BertTokenizer

TITLE = "A class of sixty on one lesson"
NOTES = (
    "`python app.py`, sixty students (streams without a browser), a teacher, and three other "
    "visitors on the same two cores.",
    "A click: until a student has the new state. A vote: from the last of sixty to the teacher's "
    "bars. Other visitors: beside 40 seconds before and 40 after the class.",
)
STUDENTS, OTHERS, STEPS = 60, 3, 4
_PATIENCE = 60.0  # seconds
_ALONE = 40.0  # seconds without a class, before it and after it
_PAUSE = 5.0  # seconds between two clicks of the teacher


@dataclass(slots=True)
class Stream:
    """A browser that waits for events.

    Attributes:
        state: the newest state.
        changed: set when there is one.
        at: when it came.
    """

    host: str
    path: str
    cookie: str
    state: dict[str, Any] = field(default_factory=dict)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    at: float = 0.0

    async def follow(self) -> None:
        """Read events until the stream ends."""
        reader, writer = await asyncio.open_connection(*self.host.split(":"))
        head = f"GET {self.path} HTTP/1.1\r\nHost: {self.host}\r\nCookie: {self.cookie}"
        writer.write(f"{head}\r\n\r\n".encode())
        try:
            while line := await reader.readline():
                if line.startswith(b'data: {"') and b'"stage"' in line:
                    self.at, self.state = time.perf_counter(), json.loads(line[6:])
                    async with self.changed:
                        self.changed.notify_all()
        finally:
            writer.close()

    async def until(self, **wanted: object) -> float:
        """Return when a state had these values."""
        async with asyncio.timeout(_PATIENCE), self.changed:
            await self.changed.wait_for(
                lambda: all(self.state.get(key) == value for key, value in wanted.items())
            )
        return self.at


async def vote(stream: Stream, guess: int) -> int:
    """Send a vote; return the status."""
    body = json.dumps({"stage": stream.state["stage"], "guess": guess})
    reader, writer = await asyncio.open_connection(*stream.host.split(":"))
    path = stream.path.replace("/events", "/vote")
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: {stream.host}\r\nOrigin: http://{stream.host}\r\n"
        f"Cookie: {stream.cookie}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
        .encode()
    )  # fmt: skip
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1])


def code_in(answer: Answer) -> str:
    """Return the code that the teacher's page shows; "" if there is none."""
    found = re.search(r"bx-code[^>]*>([A-Z0-9]{6})<", answer.drawn())
    return found[1] if found else ""


async def fill(visitor: Visitor, texts: Texts, tally: Tally, end: asyncio.Event) -> None:
    """Fill gaps, about once a second, until the end."""
    chance = random.Random(7)
    while not end.is_set():
        await asyncio.sleep(0.5 + chance.random())
        await timed(tally, visitor, typed(text=f"{texts.of(11)} [MASK] ."))


async def filling(others: list[Visitor], texts: Texts, tally: Tally) -> None:
    """Let visitors fill gaps for some time, without a class."""
    end = asyncio.Event()
    work = [asyncio.create_task(fill(each, texts, tally, end)) for each in others]
    await asyncio.sleep(_ALONE)
    end.set()
    await asyncio.gather(*work)


async def click(
    teacher: Visitor, key: str, students: list[Stream], **wanted: object
) -> list[float]:
    """Press a button; return the seconds until each student has the new state."""
    begun = time.perf_counter()
    pressed = asyncio.create_task(teacher.press(key))
    came = await asyncio.gather(*(each.until(**wanted) for each in students))
    await pressed
    await asyncio.sleep(_PAUSE)
    return [at - begun for at in came]


async def class_of_sixty(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """One lesson with sixty students, beside three other visitors."""
    alone, beside, end = Tally([], []), Tally([], []), asyncio.Event()
    clicks: list[list[float]] = []
    votes: list[float] = []
    refused = 0
    async with AsyncExitStack() as stack:
        others = [await stack.enter_async_context(Visitor(server.address)) for _ in range(OTHERS)]
        for each in others:
            await each.open("fill_mask")
        await filling(others, texts, alone)
        teacher = await stack.enter_async_context(Visitor(server.address))
        await teacher.open("lessons", "lesson=know-or-copy")
        code = code_in(await teacher.press("_class_start"))
        host = server.address.partition("://")[2]
        panel = Stream(host, f"/class/{code}/teacher", teacher.cookie)
        students = [
            Stream(host, f"/class/{code}/events", await asyncio.to_thread(cookie, server.address))
            for _ in range(STUDENTS)
        ]
        following = [asyncio.create_task(each.follow()) for each in (panel, *students)]
        await panel.until(here=STUDENTS)
        work = [asyncio.create_task(fill(each, texts, beside, end)) for each in others]
        for number in range(1, STEPS + 1):
            await asyncio.gather(*(each.until(step=number, phase="ask") for each in students))
            for label, phase in (
                ("Show votes", "shown"),
                ("Vote again", "again"),
                ("Show", "revealed"),
            ):
                if label != "Vote again":
                    seconds, failed = await all_vote(students, panel)
                    votes.append(seconds)
                    refused += failed
                key = f"_class_{label}_know-or-copy-{number}"
                clicks.append(await click(teacher, key, students, step=number, phase=phase))
            if number < STEPS:
                clicks.append(await click(teacher, "_next", students, step=number + 1))
        end.set()
        await asyncio.gather(*work)
        for stream in following:
            stream.cancel()
        await filling(others, texts, alone)
    times = [seconds for each in clicks for seconds in each]
    yield Row("clicks of the teacher", len(clicks), "")
    yield Row("click → a student: median", statistics.median(times))
    yield Row("click → a student: p95", statistics.quantiles(times, n=20)[-1], limit=2)
    yield Row("click → the last student: longest", max(map(max, clicks)), limit=2)
    yield Row("last vote → the teacher's bars: longest", max(votes), limit=2)
    yield Row("votes refused", refused, "", 0)
    for tally, what in ((alone, "without the class"), (beside, "with the class")):
        yield Row(f"other visitors {what}: p95", statistics.quantiles(tally.times, n=20)[-1])
    high = [statistics.quantiles(each.times, n=20)[-1] for each in (beside, alone)]
    yield Row("other visitors: p95 with the class over that without", high[0] / high[1], "×", 1.5)
    yield Row("load of the machine at the end", os.getloadavg()[0], "")
    yield Row("other visitors: errors", len(alone.troubles) + len(beside.troubles), "", 0)


async def all_vote(students: list[Stream], panel: Stream) -> tuple[float, int]:
    """Let all vote within a second; return the seconds from the last to the bars, and refusals."""
    chance = random.Random(11)

    async def one(each: Stream) -> int:
        await asyncio.sleep(chance.random())
        return await vote(each, chance.randrange(2))

    statuses = await asyncio.gather(*map(one, students))
    last = time.perf_counter()
    await panel.until(answered=len(students))
    return max(0.0, panel.at - last), sum(status != 200 for status in statuses)


async def _collected(server: Server) -> list[Row]:
    texts = Texts(list(BertTokenizer.from_pretrained("explorer-mini-uncased").vocab))
    return [row async for row in class_of_sixty(server, texts)]


def rows(quick: bool) -> Iterator[Row]:
    """Run the class; a quick run is the same."""
    with served() as server:
        time.sleep(3)  # the model warms up after the server answers
        yield from asyncio.run(_collected(server))

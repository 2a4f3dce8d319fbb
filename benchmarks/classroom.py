"""A class of thirty: real sessions on a real server with two cores.

The server is `python app.py` on two cores; the visitors (`benchmarks.visitor`) run on the others.
An action is a page opened or a widget changed; its time runs from the request to the last message
of the answer, so it includes everything but the browser's own work.
"""

import asyncio
import random
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Annotated

from websockets.exceptions import ConnectionClosed

from benchmarks.server import Server, served
from benchmarks.texts import Texts
from benchmarks.visitor import Answer, Visitor
from bert_core import BertTokenizer

TITLE = "A class of thirty"
COLUMNS = ("what", "to reach", "measured", "reached")
NOTES = (
    "`python app.py` on two cores of its own, visitors without a browser. An action is a page "
    "opened or a widget changed, from the request to the last message of the answer.",
    "At the same instant: all change a text at once. Marker words: each visitor's texts have a "
    "word of its own, which no other visitor may be sent. Memory: of the server, without files.",
)
CLASS, ACTIONS, MINUTE = 30, 10, 60.0  # visitors, actions of each, seconds
LONG = 90_000  # characters
ANSWERS = 3_000  # with marker words
ABANDONED = 500
MEMORY = 10  # minutes
_KEPT_FILES = (
    3 * 128
)  # Streamlit keeps 128 closed sessions for two minutes, with an event loop each
_MARKER = re.compile(r"zq[a-z]{4}q")
_SIGNS = "我们今天在学校学习语言和历史老师说明天有雨学生回家看书吃饭喝茶城市河山"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: Annotated[str, "what was measured"]
    value: Annotated[float, "the number; seconds, percent or a count"]
    unit: Annotated[str, "'s', '%', 'MB', '×' or ''"] = "s"
    limit: Annotated[float | None, "the largest value that reaches the goal; None without one"] = (
        None
    )

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        goal = "" if self.limit is None else f"≤ {_shown(self.limit, self.unit)}"
        reached = "" if self.limit is None else "yes" if self.value <= self.limit else "**no**"
        return (self.what, goal, _shown(self.value, self.unit), reached)


def _shown(value: float, unit: str) -> str:
    """Write a number with its unit."""
    if unit == "s":
        return f"{value:.2f} s"
    return f"{value:,.0f}" if not unit else f"{value:,.1f} {unit}"


# -- what visitors do ------------------------------------------------------------------------------

Action = Callable[[Visitor], Awaitable[Answer]]


def typed(**values: str | float) -> Action:
    """Return the action of changing widgets."""
    return lambda visitor: visitor.change(values)


def opened(page: str) -> Action:
    """Return the action of opening a page."""
    return lambda visitor: visitor.open(page)


def lesson(texts: Texts) -> list[Action]:
    """Return the ten actions of a visitor's minute, with texts of its own."""
    return [
        opened("fill_mask"),
        typed(text=f"{texts.of(11)} [MASK] ."),
        typed(k=8.0),
        opened("attention"),
        typed(text=texts.of(14)),
        opened("qa"),
        typed(question=texts.of(6), text=texts.of(80)),
        opened("ner"),
        typed(text=texts.of(30)),
        opened("tokenizer"),
    ]


SAMPLES: dict[str, Callable[[Texts, str], dict[str, str]]] = {
    "fill_mask": lambda texts, word: {"text": f"{texts.of(8)} {word} [MASK] ."},
    "tokenizer": lambda texts, word: {"text": f"{texts.of(12)} {word} ."},
    "attention": lambda texts, word: {"text": f"{texts.of(10)} {word} ."},
    "ner": lambda texts, word: {"text": f"{texts.of(20)} {word} ."},
    "next_sentence": lambda texts, word: {
        "text": texts.of(9),
        "text_pair": f"{texts.of(8)} {word}",
    },
    "qa": lambda texts, word: {"question": texts.of(6), "text": f"{texts.of(50)} {word} ."},
}
"""New texts for the boxes of a page, with a word of the visitor's own."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What many actions took."""

    times: Annotated[list[float], "seconds of each"]
    troubles: Annotated[list[str], "what was reported as wrong, and visitors that got no answer"]

    def rows(self, what: str, limit: float) -> Iterator[Row]:
        """Yield p95 and the number of errors."""
        cuts = statistics.quantiles(self.times, n=20)
        yield Row(f"{what}: p95", cuts[-1], limit=limit)
        yield Row(f"{what}: errors", len(self.troubles), "", 0)
        for trouble in self.troubles[:3]:
            print(f"  {trouble}", file=sys.stderr)


async def timed(tally: Tally, visitor: Visitor, action: Action) -> Answer | None:
    """Do an action and note its time, or its trouble."""
    try:
        answer = await action(visitor)
    except Exception as error:  # noqa: BLE001 - whatever a visitor meets is counted
        tally.troubles.append(f"{type(error).__name__}: {error}")
        return None
    tally.times.append(answer.seconds)
    if answer.trouble():
        tally.troubles.append(answer.trouble())
    return answer


async def visitors(address: str, number: int, stack: AsyncExitStack) -> list[Visitor]:
    """Return connected visitors that have opened the home page, one after the other."""
    found = [await stack.enter_async_context(Visitor(address)) for _ in range(number)]
    for visitor in found:
        await visitor.open("")
    return found


# -- scenarios -------------------------------------------------------------------------------------


async def start(server: Server, _: Texts) -> AsyncIterator[Row]:
    """Time the first page and the first answer, from the start of the process."""
    async with Visitor(server.address) as visitor:
        await visitor.open("")
        yield Row("first page after the start", time.perf_counter() - server.started, limit=3)
        await visitor.open("fill_mask", "text=The+capital+of+France+is+%5BMASK%5D.")
        yield Row("first answer after the start", time.perf_counter() - server.started, limit=4)


async def minute(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Thirty visitors, ten actions each, within a minute."""
    tally = Tally([], [])
    slot = MINUTE / ACTIONS

    async def one(visitor: Visitor, actions: Sequence[Action], chance: random.Random) -> None:
        begin = time.perf_counter()
        for number, action in enumerate(actions):
            moment = begin + (number + chance.random()) * slot
            await asyncio.sleep(max(0.0, moment - time.perf_counter()))
            await timed(tally, visitor, action)

    async with AsyncExitStack() as stack:
        there = await visitors(server.address, CLASS, stack)
        await asyncio.gather(
            *(one(each, lesson(texts), random.Random(n)) for n, each in enumerate(there))
        )
    for row in tally.rows("30 visitors, 10 actions each in a minute", limit=1):
        yield row


async def instant(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Thirty visitors at the same instant: texts of their own on six pages; one text for all."""
    for what, same in (("different texts on six pages", False), ("the same sentence", True)):
        tally = Tally([], [])
        async with AsyncExitStack() as stack:
            there = await visitors(server.address, CLASS, stack)
            pages = ["fill_mask"] if same else list(SAMPLES)
            for number, visitor in enumerate(there):
                await visitor.open(pages[number % len(pages)])
            for _ in range(3):
                shared = typed(text=f"{texts.of(10)} [MASK] .")
                actions = [
                    shared if same else typed(**SAMPLES[pages[n % len(pages)]](texts, "cat"))
                    for n in range(CLASS)
                ]
                await asyncio.sleep(1)
                await asyncio.gather(
                    *(timed(tally, *pair) for pair in zip(there, actions, strict=True))
                )
        for row in tally.rows(f"30 at the same instant, {what}", limit=2.5):
            yield row


async def long_texts(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Four visitors with 90,000 Chinese characters each, and a neighbour."""
    chance, tally, jobs = random.Random(5), Tally([], []), Tally([], [])
    async with AsyncExitStack() as stack:
        *readers, neighbour = await visitors(server.address, 5, stack)
        for visitor in readers:
            await visitor.open("qa")
        await neighbour.open("fill_mask")
        begun = time.perf_counter()
        asked = [
            asyncio.create_task(
                timed(
                    jobs,
                    visitor,
                    typed(question="谁在学校?", text="".join(chance.choices(_SIGNS, k=LONG))),
                )
            )
            for visitor in readers
        ]
        while not all(task.done() for task in asked) and time.perf_counter() - begun < 90:
            await asyncio.sleep(0.3)
            await timed(tally, neighbour, typed(text=f"{texts.of(11)} [MASK] ."))
        await asyncio.gather(*asked)
    for row in tally.rows("neighbour of four visitors with 90,000 characters", limit=0.5):
        yield row
    yield Row("the four with 90,000 characters: last answer", max(jobs.times, default=0.0))
    yield Row("the four with 90,000 characters: errors", len(jobs.troubles), "", 0)


def marker(number: int) -> str:
    """Return the marker word of a visitor.

    >>> marker(0), marker(27)
    ('zqaaaaq', 'zqaabbq')
    """
    letters = ""
    for _ in range(4):
        number, place = divmod(number, 26)
        letters = chr(ord("a") + place) + letters
    return f"zq{letters}q"


def foreign_markers(answer: Answer, own: str) -> set[str]:
    """Return the marker words in anything that was sent, other than the visitor's own."""
    return {word for each in answer.messages for word in _MARKER.findall(str(each))} - {own}


async def markers(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Thirty visitors without pauses; each finds its own marker word in the answer, no other."""
    tally, foreign, lacking = Tally([], []), set[str](), 0

    async def one(number: int, visitor: Visitor) -> None:
        nonlocal lacking
        pages = list(SAMPLES)
        for turn in range(ANSWERS // CLASS // 10):
            page = pages[(number + turn) % len(pages)]
            await visitor.open(page)
            for _ in range(10):
                own = marker(number)
                answer = await timed(tally, visitor, typed(**SAMPLES[page](texts, own)))
                if answer is not None:
                    foreign.update(foreign_markers(answer, own))
                    lacking += own not in answer.drawn()

    async with AsyncExitStack() as stack:
        there = await visitors(server.address, CLASS, stack)
        begun = time.perf_counter()
        await asyncio.gather(*(one(*each) for each in enumerate(there)))
        took = time.perf_counter() - begun
    yield Row("marker words: answers", len(tally.times), "")
    yield Row("marker words: answers a second, without pauses", len(tally.times) / took, "")
    yield Row("marker words of another visitor", len(foreign), "", 0)
    yield Row("answers without the visitor's own word, and errors", lacking + len(tally.troubles),
              "", 0)  # fmt: skip
    if foreign or lacking:
        raise RuntimeError(f"Visitors saw the words of others ({foreign}), or not their own.")


async def abandoned(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Visitors who open a page and leave; a neighbour meanwhile and afterwards."""
    tally = Tally([], [])
    files, memory = server.files(), server.status("RssAnon")

    async def leave(number: int) -> None:
        async with Visitor(server.address) as visitor:
            opening = asyncio.create_task(visitor.open("fill_mask"))
            await asyncio.wait([opening], timeout=0.05 if number % 2 else 60)
        with suppress(asyncio.CancelledError, ConnectionClosed):
            await opening  # ends with the connection, unless the answer has come

    async with Visitor(server.address) as neighbour:
        await neighbour.open("fill_mask")
        for number in range(0, ABANDONED, 2):
            await asyncio.gather(leave(number), leave(number + 1))
            if number % 20 == 0:
                await timed(tally, neighbour, typed(text=f"{texts.of(11)} [MASK] ."))
        after = Tally([], [])
        for _ in range(20):
            await timed(after, neighbour, typed(text=f"{texts.of(11)} [MASK] ."))
    await asyncio.sleep(1)
    for row in tally.rows("neighbour while 500 visitors come and leave", limit=1):
        yield row
    yield Row("a visitor after these 500: median", statistics.median(after.times), limit=0.5)
    yield Row("descriptors more than before", server.files() - files, "", _KEPT_FILES)
    yield Row("memory more than before", (server.status("RssAnon") - memory) / 1e3, "MB", 100)


async def memory(server: Server, texts: Texts) -> AsyncIterator[Row]:
    """Thirty visitors at half the pace of the minute, for ten minutes."""
    duration, samples, tally = MEMORY * 60, [], Tally([], [])
    slot = 2 * MINUTE / ACTIONS
    end = time.perf_counter() + duration

    async def one(visitor: Visitor, chance: random.Random) -> None:
        while True:
            for action in lesson(texts):
                await asyncio.sleep(2 * slot * chance.random())
                if time.perf_counter() > end:
                    return
                await timed(tally, visitor, action)

    async def watch() -> None:
        while time.perf_counter() < end:
            samples.append(server.status("RssAnon") / 1e3)
            await asyncio.sleep(duration / 600)

    async with AsyncExitStack() as stack:
        there = await visitors(server.address, CLASS, stack)
        await asyncio.gather(
            watch(), *(one(each, random.Random(n)) for n, each in enumerate(there))
        )
    tenth, half = max(1, len(samples) // 10), len(samples) // 2
    middle = statistics.median(samples[half - tenth // 2 : half + tenth // 2 + 1])
    last = statistics.median(samples[-tenth:])
    what = f"memory over {MEMORY} minutes"
    yield Row(f"{what}: at the beginning", samples[0], "MB")
    yield Row(f"{what}: at the end", last, "MB")
    yield Row(f"{what}: growth in the second half", 100 * (last / middle - 1), "%", 3)
    yield Row(f"{what}: answers", len(tally.times), "")
    yield Row(f"{what}: errors", len(tally.troubles), "", 0)


SCENARIOS = (start, minute, instant, long_texts, markers, abandoned, memory)
"""Each has a server of its own."""


async def _collected(rows: AsyncIterator[Row]) -> list[Row]:
    return [row async for row in rows]


def rows(quick: bool) -> Iterator[Row]:
    """Run every scenario; a quick run leaves out the memory."""
    vocabulary = BertTokenizer.from_pretrained("explorer-mini-uncased").vocab
    for scenario in SCENARIOS[: -1 if quick else None]:
        with served() as server:
            if scenario is not start:
                time.sleep(3)  # the model warms up after the server answers
            yield from asyncio.run(_collected(scenario(server, Texts(list(vocabulary)))))

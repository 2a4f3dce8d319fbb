"""The class of thirty: what its lines say, and its visitors on a small real server."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from app.compat.streamlit import ForwardMsg
from benchmarks import classroom
from benchmarks.classroom import (
    COLUMNS,
    SAMPLES,
    Row,
    Tally,
    foreign_markers,
    lesson,
    marker,
    timed,
    typed,
    visitors,
)
from benchmarks.server import Server, served
from benchmarks.texts import Texts
from benchmarks.visitor import Answer

WORDS = ["the", "cat", "dog", "sat", "on", "mat", "river"]
VISITORS, ROUNDS = 5, 2


def test_a_line_shows_the_goal_and_whether_it_is_reached() -> None:
    assert Row("p95", 2.25, limit=2.5).cells() == ("p95", "≤ 2.50 s", "2.25 s", "yes")
    assert Row("p95", 2.75, limit=2.5).cells()[-1] == "**no**"
    assert Row("new", 1_234, "").cells() == ("new", "", "1,234", "")
    assert Row("growth", 3.5, "%", 3).cells()[1:] == ("≤ 3.0 %", "3.5 %", "**no**")
    assert len(COLUMNS) == 4


def test_errors_count_against_a_scenario() -> None:
    tally = Tally([0.1] * 19 + [4.0], ["exception"])
    high, errors = tally.rows("x", limit=1)
    assert errors.value == 1
    assert high.value > 1 and errors.cells()[-1] == "**no**"


def test_marker_words_differ_and_a_foreign_one_is_found_anywhere_in_a_message() -> None:
    words = {marker(number) for number in range(1_000)}
    assert len(words) == 1_000
    answer, message = Answer(), ForwardMsg()
    message.delta.new_element.html.body = f"<b>{marker(3)}</b> {marker(4)}"
    answer.messages.append(message)
    assert foreign_markers(answer, marker(3)) == {marker(4)}
    assert marker(3) in answer.drawn()


def test_a_lesson_has_the_actions_that_are_counted() -> None:
    assert len(lesson(Texts(WORDS))) == classroom.ACTIONS


@pytest.mark.slow
def test_visitors_at_the_same_time_find_their_own_words_and_no_others(tiny_folder: Path) -> None:
    """The small form of the benchmark's 3,000 answers."""
    texts, tally, foreign = Texts(WORDS), Tally([], []), set[str]()

    async def one(number: int, server: Server, stack: AsyncExitStack) -> None:
        own = marker(number)
        [visitor] = await visitors(server.address, 1, stack)
        for page, sample in SAMPLES.items():
            await visitor.open(page)
            for _ in range(ROUNDS):
                answer = await timed(tally, visitor, typed(**sample(texts, own)))
                assert answer is not None and own in answer.drawn()
                foreign.update(foreign_markers(answer, own))

    async def everyone(server: Server) -> None:
        async with AsyncExitStack() as stack:
            await asyncio.gather(*(one(number, server, stack) for number in range(VISITORS)))

    with served(BERT_EXPLORER_MODEL=str(tiny_folder)) as server:
        asyncio.run(everyone(server))
    assert tally.troubles == []
    assert len(tally.times) == VISITORS * len(SAMPLES) * ROUNDS
    assert foreign == set()

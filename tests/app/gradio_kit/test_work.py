"""Calls: what is told of an error, what is logged, and how many wait."""

import asyncio
import logging
import threading

import pytest

from app.declared import Declared
from app.gradio_kit import work
from app.gradio_kit.work import Refusal, in_turn, message_of
from bert_core.errors import InputError
from tests.app.gradio_kit.conftest import Served

MARKER = "marker-of-one-visitor"


def test_an_error_for_people_is_told_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert message_of(InputError("Shorten it.")) == "Shorten it."
    assert caplog.text == ""


def test_a_bug_is_an_apology_and_its_text_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "app"):
        says = message_of(ValueError(MARKER))
    number = says.partition("logged as ")[2][:8]
    assert f"error {number}: ValueError" in caplog.text
    assert MARKER not in says + caplog.text


def test_a_broken_task_shows_no_trace_anywhere(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError(MARKER)

    monkeypatch.setattr(Declared, "run", broken)
    found = served.post("run/fill_mask", {"data": [MARKER, 5, "", ""]})
    assert "logged as" in found.json()["error"]
    event = served.post("call/v2/fill_mask", {"text": MARKER}).json()["event_id"]
    stream = served.get(f"gradio_api/call/fill_mask/{event}").text
    assert "event: error" in stream and "logged as" in stream
    printed = "".join(capfd.readouterr())
    assert "ZeroDivisionError" in caplog.text
    for text in (found.text, stream, caplog.text, printed):
        assert MARKER not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "body",
    [
        {"data": [MARKER]},
        {"data": [{MARKER: [MARKER]}, MARKER, MARKER, MARKER]},
        {"data": MARKER},
        {MARKER: MARKER},
    ],
)
@pytest.mark.parametrize("path", ["run/fill_mask", "call/v2/fill_mask", f"run/{MARKER}"])
def test_wrong_calls_leave_no_text_in_the_log(
    served: Served,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    path: str,
    body: object,
) -> None:
    assert served.post(path, body).status_code >= 400
    assert MARKER not in "".join(capfd.readouterr()) + caplog.text


def test_too_many_callers_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "WAITING", 1)
    work._seats.cache_clear()
    monkeypatch.setattr(work, "AT_ONCE", 1)
    release = threading.Event()

    async def main() -> list[object]:
        callers = [asyncio.create_task(in_turn(release.wait)) for _ in range(2)]
        await asyncio.sleep(0.1)
        with pytest.raises(Refusal, match="Try again"):
            await in_turn(release.wait)
        release.set()
        return list(await asyncio.gather(*callers))

    assert asyncio.run(main()) == [True, True]
    work._seats.cache_clear()


def test_two_callers_get_their_own_answers(served: Served) -> None:
    found: dict[str, str] = {}

    def call(word: str) -> None:
        answer = served.post("run/fill_mask", {"data": [word, 5, "", ""]})
        found[word] = answer.text

    words = [f"{MARKER}-{number}-end" for number in range(20)]
    threads = [threading.Thread(target=call, args=(word,)) for word in words]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for word in words:
        assert word in found[word]
        assert not any(other in found[word] for other in words if other != word)


def test_answers_that_nobody_fetches_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "UNFETCHED", 2)
    calls: dict[str, set[str]] = {}
    answers = work.Unfetched(calls)
    for caller in "abcd":
        answers[caller] = caller
        calls[caller] = {caller}
    assert list(answers) == ["c", "d"]
    assert calls.keys() - answers.keys() <= {"b"}
    answers["e"] = "e"
    assert calls.keys() == {"d"}


def test_the_queue_forgets_callers(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = served.blocks._queue.pending_messages_per_session
    monkeypatch.setattr(kept, "max_size", 3)
    for _ in range(6):
        served.post("call/v2/fill_mask", {"text": "the [MASK]"})
    assert len(kept._calls) <= len(kept) + 1

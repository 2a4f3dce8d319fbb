"""The dialog for models of the Hub, and the strip of a download, as a visitor meets them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.engine.models import downloads as downloads_module
from app.engine.models.downloads import Downloads, State
from app.engine.models.hub import HubId, copy_here, look_up
from app.faces.streamlit import hub_dialog as dialog_module
from app.faces.streamlit import visitor as visitor_module
from app.faces.streamlit.hub_dialog import may_download
from tests.loopback import Fault, Loopback, Repository
from tests.strangers import until
from tests.visits import checked, labels, markup, press

NAME = "someone/tiny-bert"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> Iterator[Path]:
    """A folder and a process of the test's own."""
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1_000)
    monkeypatch.delenv("BERT_EXPLORER_MODELS", raising=False)
    monkeypatch.delenv("BERT_EXPLORER_HUB", raising=False)
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(tmp_path / "downloads"))
    own = Downloads()
    monkeypatch.setattr(dialog_module, "DOWNLOADS", own)
    yield tmp_path / "downloads"
    deadline = time.monotonic() + 20
    while own._jobs and time.monotonic() < deadline:
        for job in list(own._jobs.values()):
            job._seen.clear()  # no one waits for it
        time.sleep(0.02)


@pytest.fixture
def model(loopback: Loopback, tiny_folder: Path) -> Repository:
    return loopback.add_model(NAME, tiny_folder)


def page_with_dialog() -> None:
    """A page whose dialog is always open: AppTest runs whole scripts only."""
    import streamlit as st

    from app.faces.streamlit.frame import top
    from app.faces.streamlit.hub_dialog import hub_dialog

    st.session_state.setdefault("open", True)
    _, offer = top("tokenizer", "Tokenizer", "")
    st.caption(f"works with {offer.name}")
    if st.session_state.open and "_hub_ticket" not in st.session_state:
        hub_dialog()


def opened() -> AppTest:
    return checked(AppTest.from_function(page_with_dialog, default_timeout=60))


def ask(at: AppTest, name: str, revision: str = "") -> AppTest:
    at.text_input(key="_hub_id").set_value(f"{name}@{revision}" if revision else name)
    return press(at, "Look it up")


def said(at: AppTest) -> str:
    return " ".join(info.value for info in at.info).replace("\\", "").replace("\u2060", "")


def worked_with(at: AppTest) -> str:
    return next(c.value for c in at.caption if "works with" in c.value)


def until_arrived(at: AppTest) -> None:
    until(lambda: "_hub_ticket" not in checked(at).session_state)


def test_the_size_is_shown_and_asked_about_then_the_page_runs_on_the_model(
    model: Repository, loopback: Loopback, tiny_model: Path
) -> None:
    at = opened()
    assert loopback.log == []
    ask(at, f" https://huggingface.co/{NAME} ")
    total = sum(map(len, model.files.values()))
    facts = markup(at)
    assert NAME in facts and model.commit[:12] in facts
    assert f"{total / 1000:,.1f} kB in {len(model.files)} files" in facts
    assert not any(model.weights_at in path for _, path, _ in loopback.log)
    press(at, f"Download {total / 1000:,.1f} kB and use it")
    until_arrived(at)
    assert at.selectbox(key="model").value == NAME
    assert worked_with(at) == f"works with {NAME}"
    ask(at, NAME)  # it is here: used without another question
    assert not any("Download" in label for label in labels(at))


def test_while_it_loads_the_page_works_and_the_way_out_works_too(
    model: Repository, loopback: Loopback, tiny_model: Path, place: Path
) -> None:
    loopback.faults[model.weights_at] = Fault(drip=0.02)
    at = ask(opened(), NAME)
    press(at, next(label for label in labels(at) if label.startswith("Download")))
    assert worked_with(at) == f"works with {tiny_model.name}"
    bar = at.get("progress")[0].proto
    assert bar.text.startswith("Downloading someone/tiny-bert")
    assert "Cancel" in labels(at)
    at.session_state["open"] = False
    press(at, "Cancel")
    assert "was cancelled; nothing was kept" in said(at)
    assert "Cancel" not in labels(at)
    press(at, "Dismiss")
    assert said(at) == ""
    assert copy_here(HubId(NAME)) is None
    until(lambda: not list(place.glob("models--*")))


def test_who_leaves_others_waiting_is_told_so(model: Repository, loopback: Loopback) -> None:
    loopback.faults[model.weights_at] = Fault(drip=0.02)
    first, second = ask(opened(), NAME), ask(opened(), NAME)
    for at in (first, second):
        press(at, next(label for label in labels(at) if label.startswith("Download")))
        at.session_state["open"] = False
    press(first, "Cancel")
    assert "continues for others who are waiting for it" in said(first)
    loopback.faults[model.weights_at].drip = 0.0
    until_arrived(second)
    assert worked_with(second) == f"works with {NAME}"


@pytest.mark.parametrize(
    ("name", "revision", "says"),
    [
        ("not an id", "", "is not an id on the Hugging Face Hub"),
        ("../../etc/passwd", "", "is not an id"),
        ("![x](http://a.example/x.png)", "", "is not an id"),
        (NAME, "../x", "is not a revision"),
        (NAME, "v9", "has no revision 'v9'"),
        ("someone/gone", "", "There is no 'someone/gone' on the Hub"),
    ],
)
def test_what_cannot_be_had_is_answered_in_words(
    model: Repository, tiny_model: Path, name: str, revision: str, says: str
) -> None:
    at = ask(opened(), name, revision)
    assert says in said(at)
    assert "![x]" not in at.info[0].value
    assert not any(label.startswith("Download") for label in labels(at))
    assert worked_with(at) == f"works with {tiny_model.name}"


def test_a_download_of_wrong_bytes_says_why_on_the_page(
    model: Repository, loopback: Loopback, tiny_model: Path
) -> None:
    weights = model.files["model.safetensors"]
    loopback.faults[model.weights_at] = Fault(instead=bytes(len(weights)))
    at = ask(opened(), NAME)
    press(at, next(label for label in labels(at) if label.startswith("Download")))
    until_arrived(at)
    assert "Cannot be used" in markup(at) and "Get it again" in markup(at)


def test_one_too_many_is_told_in_the_dialog(
    model: Repository,
    loopback: Loopback,
    tiny_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(downloads_module, "_AT_ONCE", 1)
    loopback.add_model("someone/else", tiny_folder)
    loopback.faults[model.weights_at] = Fault(drip=0.02)
    ticket = dialog_module.DOWNLOADS.join(look_up(HubId(NAME)))
    at = ask(opened(), "someone/else")
    press(at, next(label for label in labels(at) if label.startswith("Download")))
    assert "the most it does at once" in said(at)
    assert ticket.ask().state is State.RUNNING
    loopback.faults[model.weights_at].drip = 0
    until(lambda: ticket.ask().state is not State.RUNNING)  # its end takes seconds without a Hub


@pytest.mark.parametrize(
    ("use", "address", "passed_on", "may"),
    [
        ("", "127.0.0.1", False, True),
        ("", "localhost", False, True),
        ("", "::1", False, True),
        ("", "0.0.0.0", False, False),
        ("", "", False, False),
        ("", "192.168.1.7", False, False),
        ("", "a.example", False, False),
        ("", "127.0.0.1", True, False),
        ("on", "0.0.0.0", True, True),
        ("off", "127.0.0.1", False, False),
        ("local", "0.0.0.0", False, False),
    ],
)
def test_strangers_download_nothing_unless_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch, use: str, address: str, passed_on: bool, may: bool
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_HUB", use)
    monkeypatch.setattr(st, "get_option", lambda name: address)
    headers = {"X-Forwarded-For": "203.0.113.7"} if passed_on else {}
    monkeypatch.setattr(type(st.context), "headers", property(lambda self: headers))
    assert may_download() is may


def test_a_remote_visitor_is_told_and_no_request_is_sent(
    model: Repository, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitor_module, "is_local", lambda: False)
    at = ask(opened(), NAME)
    assert f"This server has no copy of {NAME}, and it downloads nothing for visitors" in said(at)
    assert loopback.log == []

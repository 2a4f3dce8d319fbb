"""The recorded site with a model in the browser: loading, answering, without a connection."""

import os
import re
import shutil
import time
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from app.engine.models import open_engine
from app.faces.live import lab_page
from app.faces.paper.answers import ask
from app.faces.recorded.drawing import Recording
from app.faces.recorded.entries import all_entries
from app.faces.recorded.live import digests, live_files
from app.faces.recorded.writing import example_page, home_page, lesson_file
from app.lessons.reading import read_lesson
from app.lessons.shelf import lesson
from app.overview import FIRST, doors
from tests.e2e.conftest import Record, faults, hosting
from tests.live.test_folder import saved, zipped

pytestmark = pytest.mark.e2e

PHONE = {"width": 390, "height": 844}
OWN = "The capital of Italy is [MASK]."
PAGES = {
    "fill_mask": "fill_mask/1-a-letter.html",
    "qa": "qa/1-a-short-story.html",
    "attention": "attention/2-a-guess-at-it.html",
    "xray": "xray/1-a-capital.html",
    "ner": "ner/7-odd-spacing.html",
    "lab": "lab/1-nothing-changes.html",
}
LESSON = "lessons/pieces.html"
MADE_UP = """
title = "Three more kinds of step"
goal = "Name them."
minutes = 1
last = "That is all."
claims = []

[[step]]
heading = "A word"
say = "Read it."
page = "fill_mask"
values = { text = "The [MASK] gave us homework." }
reveal = "“{first}”, with {p}."
question = { kind = "word", ask = "Which word?", of = "first" }

[[step]]
heading = "A piece"
say = "Look."
page = "attention"
values = { text = "The train to Berlin left.", layer = 3, head = 1 }
show = ["attention-layer"]
reveal = "“{top:berlin}”."
question = { kind = "point", at = "pieces", ask = "Where does “berlin” look?", of = "top:berlin" }
change = { ask = "Write another sentence.", edits = ["text"], watch = "{previous}" }

[[step]]
heading = "Not in the browser"
say = "Just look."
page = "fill_mask_surprise"
values = { text = "My elephant pocket." }
parts = 2
reveal = "“{odd}” is odd."
"""
WAIT_MS = 60_000  # for the weights, on a slow machine


def write_site(folder: Path) -> None:
    """Write some pages and what they need to answer, with the weights in parts."""
    engine = open_engine()
    opened = doors(engine, FIRST)
    entries = tuple(each for each in all_entries(opened) if f"{each.place}.html" in PAGES.values()
                    or each.example.label == "The text of the home page")  # fmt: skip
    files = dict(live_files(engine))
    sums = {"live": digests(files), "lab": digests(files, lab=True)}
    recording = Recording(entries, engine.provenance, "2026-11-22", **sums)
    files |= {f"{each.place}.html": example_page(engine, recording, each) for each in entries}
    files |= {"index.html": home_page(recording, opened), "live/lab.html": lab_page()}
    own = folder / "made-up.toml"
    own.write_text(MADE_UP, encoding="utf-8")
    for each in (lesson("pieces"), read_lesson(own)):
        files[f"lessons/{each.slug}.html"] = lesson_file(engine, recording, each)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _load(page: Page) -> None:
    page.get_by_role("button", name="Load the model").click()
    _is_here(page)


def _is_here(page: Page) -> None:
    expect(page.locator(".bx-live [role=status]")).to_contain_text(
        "The model is here", timeout=WAIT_MS
    )


def _says(page: Page) -> str:
    headline = page.locator(".bx-live-answer .bx-headline")
    headline.wait_for(timeout=WAIT_MS)
    return headline.inner_text().replace("\xa0", " ")


def test_a_text_is_answered_on_all_pages_and_never_leaves_the_browser(
    page: Page, record: Record, live: str
) -> None:
    page.goto(f"{live}/index.html")
    line = page.locator(".bx-live")
    expect(line).to_contain_text("Type your own text: it is computed in this tab")
    expect(page.get_by_role("button", name="Load the model (46 MB)")).to_be_visible()
    _load(page)
    expect(line).to_contain_text("kept in this browser", timeout=WAIT_MS)
    before = len(record.requests)
    text, masked = "Marie Curie was born in Warsaw.", "Marie Curie was born in [MASK]."
    page.get_by_label("The text").fill(text)
    answer = page.locator(".bx-live-answer")
    expect(answer.locator(".bx-door")).to_have_count(6, timeout=WAIT_MS)
    expect(answer.locator(".bx-door").nth(3)).to_contain_text("Marie Curie PER")
    answer.get_by_role("link", name="Fill-mask").click()  # through a door
    assert _says(page) == ask("fill_mask", masked).report.headline
    page.get_by_role("link", name="Named entities", exact=True).click()  # by the menu
    assert _says(page) == ask("ner", text).report.headline
    expect(page.get_by_role("textbox")).to_have_value(text)
    page.get_by_role("textbox").fill("<img src=x onerror=alert(1)> Bonn")
    expect(answer).to_contain_text("<img src=x")
    assert answer.locator("img").count() == 0
    assert faults(page) == []
    page.get_by_role("textbox").fill(text)
    page.get_by_role("button", name="Show the recorded answer").click()
    expect(page.locator(".bx-example")).to_be_visible()  # it is about the recorded answer
    expect(answer).to_be_hidden()
    page.get_by_role("link", name="Question answering", exact=True).click()
    _is_here(page)
    expect(page.get_by_role("textbox", name="Passage")).not_to_have_value(text)
    sent = [url for url in record.requests[before:] if "safetensors" in url or "Curie" in url]
    assert [url for url in sent if "fitted" not in url] == []
    assert record.outside(live) == []
    assert record.complaints == []


@pytest.mark.slow
def test_without_https_each_part_of_the_weights_is_compared_as_it_comes(
    browser: Browser, live_site: Path
) -> None:
    damaged: list[str] = []

    def serve(route: Route) -> None:
        path = live_site / urlsplit(route.request.url).path[1:]
        body = path.read_bytes() + b"x" * (path.name in damaged)
        route.fulfill(body=body, content_type=guess_type(path.name)[0])

    with browser.new_context() as context:
        context.route("http://school.example/**", serve)
        page = context.new_page()
        page.goto(f"http://school.example/{PAGES['fill_mask']}")
        _load(page)
        expect(page.locator(".bx-live")).to_contain_text("This page came without https")
        damaged.append("model.safetensors.2")
        page.reload()
        page.get_by_role("button", name="Load the model").click()
        expect(page.locator(".bx-live")).to_contain_text(
            "model.safetensors.2 is not the file that this page was written with", timeout=WAIT_MS
        )


def test_a_long_text_is_stopped_and_the_next_one_answered(page: Page, live: str) -> None:
    page.goto(f"{live}/{PAGES['qa']}")
    _load(page)
    page.get_by_role("textbox", name="Passage").fill(
        "Anna Keller built the old bridge in 1852. " * 900
    )
    said = page.locator(".bx-live [role=status]")
    expect(said).to_contain_text(re.compile(r"part \d+ of"), timeout=WAIT_MS)
    page.get_by_role("button", name="Stop").click()
    answer = page.locator(".bx-live-answer")
    expect(answer).to_contain_text("Stopped: no answer for this text.")
    page.get_by_role("textbox", name="Question").focus()
    expect(said).to_contain_text("The model is here", timeout=WAIT_MS)
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    expect(answer).to_contain_text("Stopped: no answer for this text.")
    page.get_by_role("textbox", name="Passage").fill("Anna Keller built the old bridge in 1852.")
    page.get_by_role("textbox", name="Question").fill("Who built the bridge?")
    assert "Anna Keller" in _says(page)


def _kept(page: Page, place: str) -> None:
    """Wait until the browser keeps a file of the site, named from the page."""
    found = f"caches.open('bert-explorer-pages').then((c) => c.match('{place}')).then(Boolean)"
    until = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(found) and time.monotonic() < until:
        page.wait_for_timeout(100)


def test_a_visit_without_a_connection_is_answered(page: Page, record: Record, live: str) -> None:
    page.goto(f"{live}/{PAGES['fill_mask']}")
    _load(page)
    _kept(page, "../live/bert.wasm")
    expect(page.locator(".bx-live [role=status]")).to_contain_text("kept in this browser")
    page.goto(f"{live}/{PAGES['lab']}")
    page.get_by_role("button", name="Train here").click()
    _kept(page, "../live/lab.wasm")
    page.goto(f"{live}/{LESSON}")
    _kept(page, "pieces.html")
    page.context.set_offline(True)
    before = len(record.requests)
    page.reload()
    first = page.locator(".bx-step").first
    first.get_by_label("one", exact=True).check()
    headline = ask("tokenizer", "unhappiness").report.headline
    expect(_show(first).locator(".bx-headline")).to_have_text(headline)
    page.goto(f"{live}/{PAGES['lab']}")
    page.get_by_role("button", name="Train here").click()
    expect(page.locator(".bx-lab-gaps li").first).to_be_visible(timeout=WAIT_MS)
    page.goto(f"{live}/{PAGES['fill_mask']}")
    _is_here(page)
    page.get_by_role("textbox").fill(OWN)
    assert "rome" in _says(page)
    assert not [url for url in record.requests[before:] if "safetensors" in url]


@pytest.mark.slow
def test_a_second_recording_never_mixes_with_the_first(
    page: Page, live_site: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    shutil.copytree(live_site, folder)
    words = (folder / "live" / "vocab.txt").read_bytes()
    with hosting(folder) as address:
        page.goto(f"{address}/{PAGES['fill_mask']}")
        _load(page)
        expect(page.locator(".bx-live [role=status]")).to_contain_text("kept", timeout=WAIT_MS)
        _write_other(folder, words)
        page.evaluate("sessionStorage.clear()")  # on another day
        page.goto(f"{address}/{PAGES['qa']}")  # the page of another recording, opened without Load
        expect(page.get_by_role("button", name="Load the model")).to_be_visible()
        page.context.set_offline(True)
        page.get_by_role("button", name="Load the model").click()
        expect(page.locator(".bx-live")).to_contain_text("vocab.txt is not", timeout=WAIT_MS)
        page.context.set_offline(False)
        page.reload()
        _load(page)


def _write_other(folder: Path, words: bytes) -> None:
    """Put a recording with another vocabulary over the first."""
    other = words.replace(b"\nrome\n", b"\nremo\n")
    (folder / "live" / "vocab.txt").write_bytes(other)
    before, after = (digests({"live/vocab.txt": each})["vocab.txt"] for each in (words, other))
    for place in PAGES.values():
        path = folder / place
        path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("page.js", "was written with"),
        ("bert.wasm", "bert.wasm is not the file"),
        ("model.safetensors.2", "damaged or of another version"),
    ],
)
def test_a_file_that_was_changed_is_refused_in_words(
    page: Page, live_site: Path, tmp_path: Path, name: str, says: str
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(live_site, folder, copy_function=os.link)
    file = folder / "live" / name
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1000] + bytes(1000) if name.startswith("model") else content + b" ")
    with hosting(folder) as address:
        page.goto(f"{address}/{PAGES['fill_mask']}")
        line = page.locator(".bx-live")
        if name != "page.js":
            page.get_by_role("button", name="Load the model").click()
        expect(line).to_contain_text(says, timeout=WAIT_MS)
        expect(page.locator(".bx-result .bx-headline")).to_contain_text("letter")


@pytest.mark.slow
def test_a_head_is_chosen_and_one_switched_off(page: Page, record: Record, live: str) -> None:
    page.goto(f"{live}/{PAGES['attention']}")
    _load(page)
    text = "The keys to the cabinet [MASK] made of iron."
    page.get_by_role("textbox", name="Text").fill(text)
    assert _says(page) == ask("attention", text, layer=3, head=1).report.headline
    answer = page.locator(".bx-live-answer")
    expect(
        answer.locator("[data-name=attention-layer3-head1-lines] path:visible").first
    ).to_be_visible()
    answer.locator("[data-head='5.2']:visible").click()
    headline = answer.locator(".bx-headline")
    expect(headline).to_contain_text("Layer 5, head 2", timeout=WAIT_MS)
    expect(page.get_by_label("Layer", exact=True)).to_have_value("5")
    assert faults(page) == []
    page.get_by_role("link", name="X-ray", exact=True).click()
    assert _says(page) == ask("xray", text).report.headline
    page.get_by_role("switch", name="Head 10 of layer 4.").click()
    expect(headline).to_have_text(ask("xray", text, off="4.10").report.headline, timeout=WAIT_MS)
    for key in ("End", "ArrowDown", "Space"):
        page.keyboard.press(key)
    block = page.get_by_role("switch", name="The feed-forward block of layer 5.")
    expect(block).not_to_be_checked()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults(page) == []
    assert record.complaints == []


def _drop(page: Page, path: Path) -> None:
    """Drop a file from the desktop, in the middle of the page."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        at = {"type": kind, "x": 300, "y": 300, "data": data}
        session.send("Input.dispatchDragEvent", at)
    session.detach()


@pytest.mark.slow
def test_a_model_of_ones_own_is_opened_from_a_folder(
    page: Page, record: Record, live: str, tmp_path: Path
) -> None:
    good, bad = saved(tmp_path / "mine", "BertForPreTraining"), tmp_path / "bad"
    shutil.copytree(good, bad)
    (bad / "model.safetensors").write_bytes((good / "model.safetensors").read_bytes()[:-99])
    page.goto(f"{live}/{PAGES['fill_mask']}")
    _load(page)
    page.get_by_text("A model of your own").click()
    said = page.locator(".bx-live [role=status]")
    page.get_by_label("Folder of a model").set_input_files(bad)
    expect(said).to_contain_text("is cut", timeout=WAIT_MS)
    _drop(page, good / "vocab.txt")
    expect(said).to_contain_text("no model.safetensors", timeout=WAIT_MS)
    (good / "inside").mkdir()
    page.get_by_label("Folder of a model").set_input_files(good)
    expect(said).to_contain_text("3 layers, 48 wide. It takes", timeout=WAIT_MS)
    before = len(record.requests)
    page.get_by_role("button", name="Open it").click()
    expect(said).to_contain_text(
        "“mine” answers on this page, and never leaves this tab", timeout=WAIT_MS
    )
    page.get_by_role("textbox").fill("the cat [MASK] on the mat")
    wanted = ask("fill_mask", "the cat [MASK] on the mat", model=str(good)).report.headline
    headline = page.locator(".bx-live-answer .bx-headline")
    expect(headline).to_have_text(wanted, timeout=WAIT_MS)
    assert record.requests[before:] == []
    page.get_by_label("ZIP file of the lab").set_input_files(zipped(good, tmp_path / "lab.zip"))
    expect(said).to_contain_text("“lab”: 3 layers", timeout=WAIT_MS)
    page.get_by_role("button", name="Open it").click()
    expect(said).to_contain_text("“lab” answers on this page", timeout=WAIT_MS)
    expect(headline).to_have_text(wanted, timeout=WAIT_MS)
    assert record.complaints == []


def test_from_a_disk_the_page_says_why_it_does_not_answer(page: Page, live_site: Path) -> None:
    page.goto((live_site / PAGES["fill_mask"]).as_uri())
    expect(page.locator(".bx-live")).to_contain_text("open this page from a web server")
    expect(page.get_by_role("button", name="Load the model")).to_have_count(0)
    expect(page.locator(".bx-result .bx-headline")).to_contain_text("letter")


def _show(step: Locator, answer: str = "Live in this browser.") -> Locator:
    """Show what a step covers, and return its picture once the model has answered."""
    step.get_by_role("button", name="Show").click()
    expect(step.get_by_role("heading", name="What came out")).to_be_focused()
    expect(step.locator(".bx-shown > .bx-line").first).to_have_text(answer, timeout=WAIT_MS)
    return step.locator(".bx-shown")


@pytest.mark.slow
def test_a_lesson_is_played_with_what_the_browser_computes(
    page: Page, record: Record, live: str
) -> None:
    page.goto(f"{live}/{LESSON}")
    steps = page.locator(".bx-step")
    expect(steps.locator(".bx-cover")).to_have_count(5)
    expect(page.locator(".bx-step:visible")).to_have_count(1)  # the next ones may tell its answer
    expect(page.locator(".bx-reveal:visible")).to_have_count(0)
    assert faults(page) == []

    expect(steps.nth(0).get_by_role("button", name="Show")).to_be_disabled()
    steps.nth(0).get_by_label("one", exact=True).check()
    before = len(record.requests)
    shown = _show(steps.nth(0))
    assert any(url.endswith("worker.js") for url in record.requests[before:])
    expect(shown.locator(".bx-headline")).to_have_text(
        ask("tokenizer", "unhappiness").report.headline
    )
    expect(steps.nth(0)).to_contain_text("Then every form of every word")  # the reply to the choice
    expect(page.locator("body > .bx-spoken")).to_contain_text("You: one")
    before = len(record.requests)
    why = lesson("pieces").steps[0].why
    (reason,) = [each for each in why.choices if each.right]
    steps.nth(0).get_by_role("button", name=reason.say).click()
    expect(steps.nth(0)).to_contain_text(reason.reply)
    steps.nth(0).get_by_role("textbox").fill("<b>playfulness</b>")
    expect(shown).to_contain_text("<b>", timeout=WAIT_MS)
    assert shown.locator("b").count() == 0

    expect(page.locator(".bx-step:visible")).to_have_count(2)
    steps.nth(1).get_by_label("It falls into several pieces.").check()
    _show(steps.nth(1))

    steps.nth(2).get_by_role("slider").fill("30")
    shown = _show(steps.nth(2))
    expect(steps.nth(2).locator(".bx-both").first).to_contain_text("You: 30 %")
    own = "In witner the snow is very [MASK]."
    steps.nth(2).get_by_role("textbox").fill(own)
    expect(shown.locator(".bx-headline")).to_have_text(ask("fill_mask", own).report.headline)
    chances = shown.locator("table td:nth-child(4)").all()
    candidates = ask("fill_mask", own).json()["slots"][0]["candidates"]
    assert [float(each.get_attribute("data-value") or "") for each in chances] == pytest.approx(
        [each["probability"] for each in candidates], abs=1e-5
    )
    assert [url for url in record.requests[before:] if "service" not in url] == []

    steps.nth(2).get_by_role("button", name="Guess again").click()
    expect(steps.nth(2).get_by_role("slider")).to_be_focused()
    page.get_by_role("button", name="Open everything").click()
    expect(page.locator(".bx-play:visible")).to_have_count(0)
    expect(page.locator(".bx-reveal:visible")).to_have_count(5)
    assert record.outside(live) == []
    assert record.complaints == []


@pytest.mark.slow
def test_words_and_pieces_are_guessed_by_keyboard_and_what_is_not_live_is_recorded(
    page: Page, record: Record, live: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{live}/lessons/made-up.html")
    steps = page.locator(".bx-step")
    steps.nth(0).get_by_role("textbox").focus()
    page.keyboard.type("teachers")
    page.keyboard.press("Enter")
    shown = steps.nth(0).locator(".bx-shown")
    expect(shown).to_contain_text("“teachers” has", timeout=WAIT_MS)
    expect(steps.nth(0).locator(".bx-both")).to_contain_text("You: teachers")
    steps.nth(1).get_by_label("to", exact=True).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(steps.nth(1).get_by_role("heading", name="What came out")).to_be_focused()
    figure = steps.nth(1).locator(".bx-shown figure[data-name=attention-layer3-head1]")
    expect(figure).to_be_visible()
    steps.nth(1).get_by_role("textbox").fill("A bird sang.")
    wanted = ask("attention", "A bird sang.", layer=3, head=1).report.headline
    expect(steps.nth(1).locator(".bx-headline")).to_have_text(wanted, timeout=WAIT_MS)
    _show(steps.nth(2), "Recorded: this picture is not computed in the browser.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults(page) == []
    assert record.complaints == []


def test_without_scripts_a_lesson_is_open(browser: Browser, live: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        bare = context.new_page()
        bare.goto(f"{live}/{LESSON}")
        expect(bare.locator(".bx-reveal:visible")).to_have_count(5)
        expect(bare.locator("main")).to_contain_text("nothing is computed here")

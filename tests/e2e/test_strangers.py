"""Strangers in a real browser: what the policies refuse, and markup wherever text can be."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from app.catalog import Feature, pages
from bert_core import BertForPreTraining, BertForSequenceClassification, BertForTokenClassification
from tests.conftest import VOCABULARY, save_head, save_tiny
from tests.e2e.conftest import LOADING_MS, PATIENCE_MS, ROOT, Site, free_port, wait_until
from tests.e2e.test_journey import Visit
from tests.strangers import started

pytestmark = pytest.mark.e2e
DRAWN = ("tokenizer", "ner")
"""Pages with drawings of their own for texts and labels."""
BAD = "<img src=x onerror=hit=1><script>hit=1</script>"


SETTLED = """() => document.querySelector('[data-test-script-state="notRunning"]')
    && [...document.querySelectorAll("h1")].some((each) => each.checkVisibility())"""


def settled(page: Page) -> None:
    """Wait until a page of the Streamlit interface is drawn, also one without its foot."""
    wait_until(page, SETTLED)


# -- the policies ----------------------------------------------------------------------------------

# What a script that got into a page would try; the browser reports what the policy refuses.
ATTEMPTS = """async () => {
    const inline = document.createElement("script");
    inline.textContent = "window.hit = 1";
    const handler = document.createElement("div");
    handler.innerHTML = "<img src='data:,' onerror='window.hit = 1'>";
    const elsewhere = document.createElement("script");
    elsewhere.src = "http://127.0.0.1:9/x.js";
    const frame = document.createElement("iframe");
    frame.src = "http://127.0.0.1:9/";
    document.body.append(inline, handler, elsewhere, frame);
    fetch("http://127.0.0.1:9/x").catch(() => {});
    new WebSocket("ws://127.0.0.1:9/");
    new Image().src = "http://127.0.0.1:9/x.png";
}"""
EVALUATE = """setTimeout(() => {
    try { eval('1'); window.caught = "nothing" } catch (error) { window.caught = error.name }
})"""
WATCH = """document.addEventListener("securitypolicyviolation", event =>
    (window.refused ??= []).push(event.effectiveDirective + " " + event.blockedURI))"""
# A library of Streamlit asks for WebAssembly to multiply large numbers, and does without.
PROBE = {"script-src wasm-eval"}
REFUSED = {
    "script-src-elem inline",
    "script-src-attr inline",
    "script-src-elem http://127.0.0.1:9/x.js",
    "frame-src http://127.0.0.1:9",
    "connect-src http://127.0.0.1:9/x",
    "connect-src ws://127.0.0.1:9/",
    "img-src http://127.0.0.1:9/x.png",
}


@pytest.mark.parametrize("path", ["/fill_mask", "/gradio/fill_mask", "/class/"])
def test_a_script_that_got_into_a_page_could_do_nothing(
    browser: Browser, site: Site, path: str
) -> None:
    with browser.new_context(base_url=site.address) as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(path, timeout=LOADING_MS)
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        assert set(page.evaluate("window.refused ?? []")) <= PROBE
        page.evaluate(EVALUATE)
        wait_until(page, "() => window.caught")
        expected = "nothing" if "gradio" in path else "EvalError"  # which evaluates its templates
        assert page.evaluate("window.caught") == expected
        own = {*PROBE, "script-src eval"}
        page.evaluate(ATTEMPTS)
        wait_until(page, "all => all.every((each) => window.refused?.includes(each))", [*REFUSED])
        assert set(page.evaluate("window.refused")) - own == REFUSED
        assert page.evaluate("window.hit") is None


# -- markup ----------------------------------------------------------------------------------------


@pytest.fixture
def hostile(shelf: Path) -> Iterator[str]:
    """A model whose name, labels and vocabulary are markup."""
    name = "<img src=x onerror=hit=1>"
    folder = save_tiny(shelf / name, BertForPreTraining)
    base = BertForPreTraining.from_pretrained(folder)
    base.config.id2label = {0: "O", 1: f"B-{BAD}", 2: f"I-{BAD}"}
    save_head(folder, BertForTokenClassification.from_model(base))
    base.config.id2label = {0: BAD, 1: "<b>good</b>", 2: "odd"}
    save_head(folder, BertForSequenceClassification.from_model(base))
    words = [
        BAD if word == "cat" else f"##{BAD}" if word == "##ing" else word for word in VOCABULARY
    ]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    card = f"---\nlicense: '{BAD}'\n---\n# {BAD}\n{BAD} [x](javascript:hit=1)\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
    yield name
    shutil.rmtree(folder)


def keys() -> list[str]:
    """Return the names of everything that an address can set on any page."""
    sources = [*ROOT.glob("pages/*.py"), *ROOT.glob("app/**/*.py")]
    found = {key for path in sources for key in re.findall(r'key="(\w+)"', path.read_text("utf-8"))}
    return sorted(found - {"model"})


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.slug, marks=() if row.slug in DRAWN else pytest.mark.slow)
        for row in pages()
    ],
)
def test_markup_in_every_field_and_in_the_model_is_shown_as_text(
    visit: Visit, hostile: str, row: Feature
) -> None:
    text = f"{BAD} the [MASK] sat .\nthe bank {BAD} ."
    query = urlencode({"model": hostile, **dict.fromkeys(keys(), text)})
    page = visit(f"{row.slug}?{query}", settle=False)
    settled(page)
    for tab in page.get_by_role("tab").all():
        if tab.is_visible():
            tab.click()
            settled(page)
    assert page.evaluate("window.hit") is None
    assert page.locator("main img[src=x]").count() == 0
    expect(page.get_by_role("main")).to_contain_text("onerror")
    assert "Traceback" not in page.content()


# -- the end of the server -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_page_outlives_its_server_and_goes_on_with_the_next(
    browser: Browser, tmp_path: Path, tiny_folder: Path
) -> None:
    port = str(free_port())
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        with started(tmp_path, tiny_folder, STREAMLIT_SERVER_PORT=port) as first:
            page.goto(f"{first.address}/tokenizer?text=the+river")
            settled(page)
            first.process.kill()
            first.process.wait()
            expect(page.get_by_role("dialog")).to_contain_text("Connection error")
            assert "Traceback" not in page.content() and "/site-packages/" not in page.content()
        with started(tmp_path, tiny_folder, STREAMLIT_SERVER_PORT=port):
            expect(page.get_by_role("dialog")).to_have_count(0)
            page.get_by_role("textbox").first.fill("the bank", timeout=LOADING_MS)
            page.keyboard.press("Control+Enter")
            expect(page.get_by_role("main")).to_contain_text("bank")

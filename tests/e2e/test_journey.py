"""Test the whole site as a visitor uses it, with the real server and a real browser.

Computations are tested elsewhere. These tests cover what only a browser can show: that pages load
and respond, that links and addresses keep their state, that keyboard, phone and dark scheme work,
and that no request leaves the machine (see `visit`).
"""

import re
import socket
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.catalog import FEATURES, examples
from tests.e2e.conftest import Record, Site

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
TITLES = {"": "BERT Explorer", **{feature.slug: feature.title for feature in FEATURES}}
PHONE = {"width": 360, "height": 740}


def main(page: Page) -> str:
    """The text of the page without its menu."""
    return page.get_by_role("main").inner_text()


def settled(page: Page, slug: str) -> None:
    """Wait until the page has drawn everything, the foot included."""
    expect(page.get_by_role("heading", level=1, name=TITLES[slug])).to_be_visible()
    expect(page.locator(".st-key-bx-foot")).to_be_visible()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)


def write(page: Page, label: str, text: str) -> None:
    """Type into a text box and submit it as its hint says."""
    box = page.get_by_role("textbox", name=label, exact=True)
    box.fill(text)
    box.press("Control+Enter")


def use_tokenizer(page: Page) -> None:
    write(page, "Text", "Zebras graze unhurriedly <b>here</b>.")
    text = page.locator(".bx-tok-text")
    expect(text).to_have_text("Zebras graze unhurriedly <b>here</b>.")
    text.locator(".bx-piece").first.hover()
    expect(page.locator(".bx-wide g").nth(1)).to_have_class("bx-lit")
    text.locator(".bx-piece", has_text="here").press("Enter")
    expect(page.get_by_text("here is entry")).to_be_visible()


def use_fill_mask(page: Page) -> None:
    write(page, "Text ([MASK] or ___ hides a word)", "The capital of France is [MASK].")
    expect(page.get_by_role("paragraph").filter(has_text="France is")).to_be_visible()
    bars = page.get_by_role("img", name=re.compile("most probable first"))
    words = re.findall(r"(\S+) (\d+\.\d+) %", bars.get_attribute("aria-label") or "")
    assert len(words) == 5
    odds = [float(share) for _, share in words]
    assert odds == sorted(odds, reverse=True)
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(5)


def use_next_sentence(page: Page) -> None:
    verdict = page.get_by_role("main").get_by_role("status")
    before = verdict.inner_text()
    assert re.search(r"\d+\.\d % of the probability of both answers", before)
    page.get_by_role("button", name="Swap").click()
    expect(verdict).not_to_have_text(before)
    page.get_by_role("tab", name="Order of a paragraph").click()
    expect(page.get_by_role("figure", name=re.compile("Matrix of 5 sentences"))).to_be_visible()


def use_classification(page: Page) -> None:
    verdict = page.get_by_role("main").get_by_role("status")
    write(page, "Text", "What a waste of two hours.")
    expect(verdict).to_contain_text("The model’s answer: negative")
    page.get_by_role("tab", name="Many texts").click()
    expect(page.get_by_role("button", name="JSON")).to_be_visible()


def use_multiple_choice(page: Page) -> None:
    verdict = page.get_by_role("main").get_by_role("status")
    expect(verdict).to_contain_text("The model’s answer: began to cry.")
    write(page, "Choices, one a line (2 to 8)", "won the election.\nbegan to cry.")
    expect(verdict).to_contain_text("these 2 choices")
    expect(verdict).to_contain_text("The model’s answer: began to cry.")


def use_attention(page: Page) -> None:
    expect(page.get_by_role("heading", name=re.compile(r"^Layer \d+, head \d+$"))).to_be_visible()
    page.get_by_role("gridcell", name=re.compile(r"^Layer 2, head 5:")).click()
    expect(page.get_by_role("heading", name="Layer 2, head 5")).to_be_visible()
    expect(page.get_by_role("application", name=re.compile("^Layer 2, head 5"))).to_be_visible()
    page.get_by_role("radio", name="Lines").click()
    expect(page.get_by_role("application")).to_have_count(0)


TYPED = """drawn => {
    const copy = drawn.cloneNode(true);
    copy.querySelectorAll("mark > span").forEach(added => added.remove());
    return copy.textContent;
}"""


def use_ner(page: Page) -> None:
    write(page, "Text", "Zbigniew moved\n to <b>Paris</b>.")
    drawn = page.locator(".bx-wide svg", has_text="Paris").first
    expect(drawn).to_be_visible()
    letters = drawn.locator(".bx-ner-word").all_text_contents()
    assert "".join(letters) == "Zbigniewmovedto<b>Paris</b>."
    page.get_by_role("tab", name="Pieces").click()
    expect(page.get_by_role("img", name=re.compile("^Labels of piece"))).to_be_visible()
    brackets = page.get_by_text("A label in brackets has no say")
    expect(brackets).to_have_count(1)
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("radio", name="Every piece").click()
    expect(brackets).to_have_count(0)


def use_qa(page: Page) -> None:
    write(page, "Passage", "Zoe  keeps bees\n in <b>Ghent</b>.")
    write(page, "Questions, one per line", "Where does Zoe keep bees?\nWho is Zoe?")
    drawn = page.locator(".bx-qa-passage", has_text="Ghent")
    expect(drawn).to_be_visible()
    typed = TYPED.replace("mark > span", ".bx-qa-badge, .bx-qa-why")
    assert drawn.evaluate(typed) == "Zoe  keeps bees\n in <b>Ghent</b>."
    expect(drawn.locator("mark").first).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="The model’s answer")).to_be_visible()
    second = page.get_by_role("button", name="2. Who is Zoe?")
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    page.get_by_role("tab", name="Start and end").click()
    expect(page.get_by_role("img", name=re.compile("^Two curves"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Heat map of start"))).to_be_visible()
    page.get_by_role("tab", name="Other answers").click()
    page.locator(".bx-qa-try").first.click()
    expect(page.get_by_role("button", name="Restore the last question")).to_be_visible()


def use_model_card(page: Page) -> None:
    expect(page.get_by_role("img", name=re.compile("^\\d+ figures as bars"))).to_be_visible()
    page.get_by_role("tab", name="Limits").click()
    expect(page.get_by_text("English only")).to_be_visible()
    page.get_by_role("tab", name="Training").click()
    expect(page.get_by_role("img", name=re.compile("^Training loss")).first).to_be_visible()
    if page.get_by_text("There is nothing to compare with").count():
        return
    page.get_by_role("button", name="Verify this model").press("Enter")
    expect(page.get_by_role("status").filter(has_text="Verified")).to_be_visible()


STEPS: dict[str, Callable[[Page], None]] = {
    "tokenizer": use_tokenizer,
    "fill_mask": use_fill_mask,
    "next_sentence": use_next_sentence,
    "classification": use_classification,
    "multiple_choice": use_multiple_choice,
    "attention": use_attention,
    "qa": use_qa,
    "ner": use_ner,
    "model_card": use_model_card,
}


def test_every_feature_has_its_step_in_this_journey() -> None:
    assert set(STEPS) == {feature.slug for feature in FEATURES}


def test_the_first_visitor_may_come_by_a_link(visit: Visit) -> None:
    """Must come first: the server behaves differently until the home page has been visited."""
    page = visit("attention?text=The+owl+sleeps&layer=1&head=2&view=Lines")
    settled(page, "attention")
    expect(page.get_by_role("heading", name="Layer 1, head 2")).to_be_visible()
    expect(page.get_by_role("radio", name="Lines")).to_be_checked()
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(len(TITLES))


def test_a_visitor_goes_by_links_from_home_through_every_page(visit: Visit) -> None:
    page = visit()
    settled(page, "")
    page.get_by_role("main").get_by_role("link", name=FEATURES[0].title).click()
    for feature in FEATURES:
        page.get_by_role("navigation").get_by_role("link", name=feature.title).click()
        settled(page, feature.slug)
        assert page.title().startswith(feature.title)
        assert "Do not conclude" in main(page)
        STEPS[feature.slug](page)
        settled(page, feature.slug)


def test_a_text_travels_to_another_page(visit: Visit) -> None:
    page = visit("tokenizer?text=Owls%20hunt%20at%20night.")
    settled(page, "tokenizer")
    page.get_by_role("main").get_by_role("button", name="Attention").click()
    settled(page, "attention")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(
        "Owls hunt at night."
    )


def test_the_address_follows_the_visitor_and_opens_the_same_view_again(visit: Visit) -> None:
    page = visit("fill_mask")
    settled(page, "fill_mask")
    use_fill_mask(page)
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("slider", name="Candidates").press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]k=6\b"))
    expect(page).to_have_url(re.compile(r"[?&]text=The(\+|%20)capital"))
    again = visit(page.url.partition("//")[2].partition("/")[2])
    settled(again, "fill_mask")
    expect(again.locator(".bx-wide .bx-svg-bar")).to_have_count(6)
    expect(again.get_by_role("textbox", name=re.compile("^Text"))).to_have_value(
        "The capital of France is [MASK]."
    )


def test_the_model_of_a_link_stays_in_the_address_of_every_page(visit: Visit) -> None:
    page = visit("tokenizer?model=second&text=An+owl")
    settled(page, "tokenizer")
    for slug in ("", "fill_mask", "", "attention"):
        name = TITLES[slug] if slug else "Home"
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        settled(page, slug)
        expect(page).to_have_url(re.compile(rf"/{slug}\?(.*&)?model=second\b"))
        expect(page.get_by_role("combobox", name="Model")).to_have_value("second")
        assert "second (a folder on this server)" in main(page)


def test_the_keyboard_alone_chooses_a_model_and_the_first_one_leaves_the_address(
    visit: Visit,
) -> None:
    page = visit("tokenizer?text=An+owl")
    settled(page, "tokenizer")
    box = page.get_by_role("combobox", name="Model")
    assert "Model" in tabbed(page, "Model")
    page.keyboard.type("second")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]model=second\b"))
    settled(page, "tokenizer")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("An owl")
    box.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(box).not_to_have_value("second")
    expect(page).not_to_have_url(re.compile("model="))


def test_an_id_of_the_hub_is_asked_for_and_answered_by_keyboard(visit: Visit) -> None:
    page = visit("tokenizer")
    settled(page, "tokenizer")
    page.get_by_role("button", name="By Hub id").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("textbox", name="Id on the Hub").press_sequentially("someone/no-such-model")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("There is no 'someone/no-such-model' on the Hub")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


FOCUSED = """() => {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    return (at.getAttribute("aria-label") || at.innerText || at.tagName).trim();
}"""


def tabbed(page: Page, goal: str, limit: int = 60) -> list[str]:
    """Press Tab until the element with that name has focus; return those passed on the way."""
    passed: list[str] = []
    while goal not in passed and len(passed) < limit:
        page.keyboard.press("Tab")
        passed.append(page.evaluate(FOCUSED))
    return passed


def test_the_keyboard_alone_reaches_text_examples_and_answer(visit: Visit) -> None:
    page = visit("fill_mask")
    settled(page, "fill_mask")
    passed = tabbed(page, "Candidates")
    assert passed[0] == "Skip to main content"
    wanted = {
        examples("fill_mask")[0].label,
        "Text ([MASK] or ___ hides a word)",
        "How likely is this word?",
    }
    assert wanted | {"Candidates", *TITLES.values()} - {"BERT Explorer"} <= set(passed)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(6)


def test_the_keyboard_alone_opens_a_head(visit: Visit) -> None:
    page = visit("attention")
    settled(page, "attention")
    page.get_by_role("gridcell", name=re.compile(r"^Layer 0, head 0:")).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Layer 1, head 1")).to_be_visible()


def tour(page: Page) -> Iterator[str]:
    """Open every page in turn by its address."""
    for slug in TITLES:
        page.goto(f"/{slug}")
        settled(page, slug)
        yield slug


SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(".stMain")]
    .map((each) => each.scrollWidth - each.clientWidth)"""


def test_a_phone_never_scrolls_sideways(visit: Visit) -> None:
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    too_wide = {slug: page.evaluate(SIDEWAYS) for slug in tour(page)}
    assert {slug: found for slug, found in too_wide.items() if max(found) > 0} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_grave_accessibility_fault(visit: Visit, scheme: str) -> None:
    page = visit(color_scheme=scheme, reduced_motion="reduce")
    faults = {slug: grave_faults(page, scheme) for slug in tour(page)}
    assert {slug: found for slug, found in faults.items() if found} == {}


def grave_faults(page: Page, scheme: str) -> list[str]:
    """Return the serious and critical axe-core findings on a page, after checking its scheme."""
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", background)[:3]) / (3 * 255)
    assert (brightness < 0.3) == (scheme == "dark")
    return [
        f"{each['id']}: {each['help']} {[node['target'] for node in each['nodes']][:3]}"
        for each in Axe().run(page).response["violations"]
        if each["impact"] in {"serious", "critical"}
    ]


def test_the_watch_over_requests_sees_what_it_should(visit: Visit, site: Site) -> None:
    record = Record(["data:text/css,", f"{site.address}/x", "https://elsewhere.example/y"])
    assert record.outside() == ["https://elsewhere.example/y"]
    with socket.create_connection(site.trap.getsockname()):
        assert site.fetches() == 1
    page = visit()
    settled(page, "")
    assert site.fetches() == 0

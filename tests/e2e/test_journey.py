"""Test the whole site as a visitor uses it, with the real server and a real browser.

Computations are tested elsewhere. These tests cover what only a browser can show: that pages load
and respond, that links and addresses keep their state, that keyboard, phone and dark scheme work,
and that no request leaves the machine (see `visit`).
"""

import re
import socket
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.catalog import GROUPS, feature, pages
from app.engine.models import open_engine
from app.features.classification.task import classification
from app.features.multiple_choice.task import multiple_choice
from app.features.next_sentence.task import next_sentence
from app.overview import doors
from app.words.format import percent
from tests.drawings import words
from tests.e2e.conftest import TITLES, Record, Site, settled, watched

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
DESK = {"width": 1280, "height": 720}
PHONE = {"width": 360, "height": 740}


def main(page: Page) -> str:
    """The text of the page without its menu."""
    return page.get_by_role("main").inner_text()


def go(page: Page, slug: str) -> None:
    """Open a page through the menu."""
    if slug:
        row = feature(slug)
        page.get_by_test_id("stTopNavSection").filter(has_text=row.group).click()
        links = page.get_by_test_id("stTopNavDropdownLink")
        links.get_by_text(row.title, exact=True).click()
    else:
        page.get_by_test_id("stTopNavLink").filter(has_text="Home").click()
    settled(page, slug)


def model(page: Page) -> Locator:
    """The button that names the model and unfolds the others."""
    return page.locator(".st-key-bx-model").get_by_role("button").first


def choose_model(page: Page, *keys: str) -> None:
    """Choose another model by keyboard."""
    model(page).press("Enter")
    box = page.get_by_role("combobox", name="Model")
    box.focus()
    for key in keys:
        page.keyboard.type(key) if len(key) == 1 else page.keyboard.press(key)
    page.keyboard.press("Enter")


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
    page.get_by_role("tab", name="Vectors").click()
    use_vectors(page)


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
    boxes = [page.get_by_role("textbox", name=f"{each} sentence") for each in ("First", "Second")]
    first, second = "The train was an hour late.", "We waited in the cold hall."
    write(page, "First sentence", first)
    write(page, "Second sentence", second)
    page.get_by_role("button", name="Swap").click()
    expect(boxes[0]).to_have_value(second)
    expect(boxes[1]).to_have_value(first)
    share = percent(next_sentence(open_engine(), second, first).confidence)
    expect(verdict).to_contain_text(f"{share} of the probability of the two answers")
    page.get_by_role("tab", name="Order of a paragraph").click()
    expect(page.get_by_role("img", name=re.compile("Matrix of 5 sentences"))).to_be_visible()


def use_classification(page: Page) -> None:
    verdict = page.get_by_role("main").get_by_role("status")
    text = "What a waste of two hours."
    (label,) = classification(open_engine(), text).chosen
    write(page, "Text", text)
    expect(verdict).to_contain_text(f"The model’s answer: {label}")
    page.get_by_role("tab", name="Multiple choice").click()
    verdict = page.get_by_role("tabpanel").get_by_role("status")
    expect(verdict).to_contain_text("these 3 choices")
    choices = ["won the election.", "began to cry."]
    context = page.get_by_role("textbox", name="Context or question").input_value()
    found = multiple_choice(open_engine(), context, choices)
    write(page, "Choices, one per line (2 to 8)", "\n".join(choices))
    expect(verdict).to_contain_text("these 2 choices")
    expect(verdict).to_contain_text(f"The model’s answer: “{choices[found.best]}”")


def use_attention(page: Page) -> None:
    expect(page.get_by_role("heading", name=re.compile(r"^Layer \d+, head \d+$"))).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^Layer 2, head 5:")).click()
    expect(page.get_by_role("heading", name="Layer 2, head 5")).to_be_visible()
    expect(page.get_by_role("application", name=re.compile("^Layer 2, head 5"))).to_be_visible()
    page.get_by_role("radio", name="Lines").click()
    expect(page.get_by_role("application")).to_have_count(0)


def use_vectors(page: Page) -> None:
    text = "Two rivers meet <b>here</b>."
    write(page, "Text", text)
    piece = page.get_by_role("group", name="Choose a piece").get_by_role("button", name="meet")
    piece.click()
    expect(piece).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("heading", level=2)).to_contain_text("meet, number 0")
    sums = page.get_by_role("paragraph").filter(has_text=re.compile(r"segment\s*=")).inner_text()
    word, position, segment, total = map(float, re.findall(r"-?\d\.\d{4}", sums.replace("−", "-")))
    assert word + position + segment == pytest.approx(total, abs=2e-4)


def use_senses(page: Page) -> None:
    text = "A bat flew past.\nThe bat sleeps by day.\n\nHe swung the <b>bat</b>.\nThe bat broke."
    write(page, "Sentences, one per line (a blank line separates senses)", text)
    page.get_by_role("textbox", name="Word", exact=True).fill("bat")
    page.keyboard.press("Enter")
    second = page.get_by_role("list", name="Group 2").get_by_role("listitem")
    expect(second.first).to_contain_text("He swung the <b>bat</b>.")
    expect(second).to_have_count(2)
    expect(page.get_by_role("img", name=re.compile("^“bat” in 4 sentences after"))).to_be_visible()
    page.get_by_role("radio", name="0", exact=True).click()
    expect(page.get_by_role("img", name=re.compile("sentences after layer 0"))).to_be_visible()


def use_xray(page: Page) -> None:
    write(page, "Text", "She drank a cup of hot <b>[MASK]</b>.")
    answer = page.locator(".bx-xr-say")
    expect(answer).to_contain_text("At “[MASK]” (piece 10) the model writes")
    page.get_by_role("switch", name=re.compile("^The attention block of layer 5")).click()
    expect(answer).to_contain_text("1 part off")
    page.get_by_role("button", name="Which parts matter?").click()
    expect(page.get_by_role("img", name=re.compile("^The parts that"))).to_be_visible()


def use_atlas(page: Page) -> None:
    head = page.get_by_role("button", name=re.compile("^Layer 1, head 8:"))
    head.press("Enter")
    expect(page.get_by_role("heading", name="Layer 1, head 8")).to_be_visible()
    expect(head).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="by layer").click()
    expect(page.get_by_role("list", name="What the signs mean")).to_contain_text("layer 5")
    page.get_by_role("tab", name="Findings of Clark et al. 2019").click()
    expect(page.get_by_role("table", name="Findings about attention heads")).to_be_visible()


TYPED = """drawn => {
    const copy = drawn.cloneNode(true);
    copy.querySelectorAll("mark > span").forEach(added => added.remove());
    return copy.textContent;
}"""


def use_ner(page: Page) -> None:
    write(page, "Text", "Zbigniew moved\n to <b>Paris</b>.")
    drawn = page.locator(".bx-ner-text", has_text="Paris")
    expect(drawn).to_be_visible()
    typed = TYPED.replace("mark > span", ".bx-ner-name")
    assert drawn.evaluate(typed) == "Zbigniew moved\n to <b>Paris</b>."
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


def use_variants(page: Page) -> None:
    yours = page.locator(".bx-va-headline")
    expect(yours).to_contain_text("Yours: 22.7 M parameters")
    page.get_by_role("radio", name="ALBERT").click()
    expect(yours).to_contain_text("Yours: 11.7 M parameters")
    layers = page.get_by_role("spinbutton", name="Layers")
    layers.fill("24")
    layers.press("Enter")
    expect(yours).to_contain_text("Yours: 11.7 M parameters")
    expect(yours).to_contain_text("2.00 × its operations")
    page.get_by_text("What was new in each model").click()
    expect(page.get_by_role("table", name="What was new")).to_contain_text(
        "share one set of weights"
    )


def use_why(page: Page) -> None:
    write(page, "Text ([MASK] or ___ hides a word)", "The <b>farmer</b> milked the [MASK].")
    drawn = page.locator(".bx-why-text", has_text="farmer")
    expect(drawn).to_have_text("The <b>farmer</b> milked the [MASK].")
    page.get_by_text("Is this true to the model?").click()
    expect(page.locator(".bx-why-verdict")).to_contain_text("deletion: hiding its strongest words")
    page.get_by_role("radio", name="Occlusion").click()
    expect(page.get_by_role("group", name=re.compile("^Occlusion for"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Occlusion: without the most"))).to_be_visible()


def use_model_card(page: Page) -> None:
    expect(page.get_by_role("heading", name="It often fails to")).to_be_visible()
    page.get_by_text("The card as its makers wrote it").click()
    expect(page.get_by_text("English only")).to_be_visible()
    page.get_by_role("tab", name="Calibration").click()
    expect(page.get_by_role("table", name="Temperatures")).to_be_visible()
    if page.get_by_text("There is nothing to compare with").count():
        return
    page.get_by_role("button", name="Verify this model").press("Enter")
    expect(page.get_by_role("status").filter(has_text="Verified")).to_be_visible()


def use_lab(page: Page) -> None:
    expect(page.locator(".bx-lab-state")).to_contain_text("recorded")
    page.get_by_role("combobox", name="Your guess").select_option("facts")
    page.get_by_role("button", name="Train here").press("Enter")
    expect(page.locator(".bx-lab-state")).to_contain_text("You predicted: facts.")
    page.get_by_text("Rows of the first batch").click()
    expect(page.get_by_text("(masked)").first).to_be_visible()


STEPS: dict[str, Callable[[Page], None]] = {
    "tokenizer": use_tokenizer,
    "fill_mask": use_fill_mask,
    "next_sentence": use_next_sentence,
    "classification": use_classification,
    "attention": use_attention,
    "senses": use_senses,
    "xray": use_xray,
    "atlas": use_atlas,
    "why": use_why,
    "qa": use_qa,
    "ner": use_ner,
    "variants": use_variants,
    "lab": use_lab,
    "model_card": use_model_card,
}


def use_examples(page: Page) -> None:
    """Pick the second example: what every page does that has no step of its own."""
    before = page.locator(".bx-headline").first.inner_text()
    page.get_by_role("button", name="Examples").click()
    page.locator(".st-key-_example_1 button").click()
    expect(page.locator(".bx-headline").first).not_to_have_text(before)


def test_every_step_belongs_to_a_feature() -> None:
    assert set(STEPS) <= {feature.slug for feature in pages()}


@pytest.mark.slow
def test_the_first_visitor_may_come_by_a_link(browser: Browser, unvisited: Site) -> None:
    """The server behaves differently until the home page has been visited."""
    with watched(browser, unvisited, {}) as visit:
        page = visit("attention?text=The+owl+sleeps&layer=1&head=2&view=Lines")
        expect(page.get_by_role("heading", name="Layer 1, head 2")).to_be_visible()
        expect(page.get_by_role("radio", name="Lines")).to_be_checked()
        expect(page.get_by_test_id("stTopNavSection")).to_have_count(
            1 + len(GROUPS)
        )  # and the lessons


def test_a_sentence_typed_at_home_is_answered_six_times_and_opens_every_door(visit: Visit) -> None:
    page = visit()
    text = "Grace Hopper worked in Boston for many years."
    write(page, "Your sentence", text)
    cards = page.locator(".bx-door")
    expect(cards.filter(has_text="Named entities")).to_contain_text("Grace Hopper")
    expect(cards).to_have_count(6)
    for door in doors(open_engine(), text):
        card = cards.filter(has=page.get_by_role("heading", name=f"{TITLES[door.slug]} →"))
        expect(card).to_contain_text(words(door.body))
        card.get_by_role("button").click()
        settled(page, door.slug)
        boxes = page.locator("textarea").evaluate_all("all => all.map(each => each.value)")
        hidden = "[MASK]" if door.slug == "fill_mask" else "years"
        assert f"Grace Hopper worked in Boston for many {hidden}." in boxes
        page.go_back()
        settled(page, "")
        box = page.get_by_role("textbox", name="Your sentence")
        expect(box).to_have_value(re.compile("^Grace Hopper"))


def test_the_address_follows_the_visitor_and_opens_the_same_view_again(visit: Visit) -> None:
    page = visit("fill_mask?set=true")
    use_fill_mask(page)
    page.get_by_role("slider", name="Candidates").press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]k=6\b"))
    expect(page).to_have_url(re.compile(r"[?&]text=The(\+|%20)capital"))
    again = visit(page.url.partition("//")[2].partition("/")[2])
    expect(again.locator(".bx-wide .bx-svg-bar")).to_have_count(6)
    expect(again.get_by_role("textbox", name=re.compile("^Text"))).to_have_value(
        "The capital of France is [MASK]."
    )


def test_the_model_of_a_link_stays_in_the_address_of_every_page(visit: Visit) -> None:
    page = visit("tokenizer?model=second&text=An+owl")
    for slug in ("", "fill_mask", "", "attention"):
        go(page, slug)
        expect(page).to_have_url(re.compile(rf"/{slug}\?(.*&)?model=second\b"))
        expect(model(page)).to_contain_text("second")
        page.get_by_role("button", name="About this model").click()
        expect(page.get_by_text("second (a folder on this server)")).to_be_visible()
        page.keyboard.press("Escape")


def test_the_keyboard_alone_chooses_a_model_and_the_first_one_leaves_the_address(
    visit: Visit,
) -> None:
    page = visit("tokenizer?text=An+owl")
    first = model(page).get_by_role("paragraph").inner_text()
    choose_model(page, *"second")
    expect(page).to_have_url(re.compile(r"[?&]model=second\b"))
    expect(model(page)).to_contain_text("second")
    settled(page, "tokenizer")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("An owl")
    page.keyboard.press("Escape")
    choose_model(page, "ArrowUp", "ArrowUp")  # the untrained twin is between them
    expect(model(page).get_by_role("paragraph")).to_have_text(first)
    expect(page).not_to_have_url(re.compile("model="))


def test_an_id_of_the_hub_is_asked_for_and_answered_by_keyboard(visit: Visit) -> None:
    page = visit("tokenizer")
    model(page).press("Enter")
    page.get_by_role("button", name="By Hub id").press("Enter")
    dialog = page.get_by_role("dialog", name="A model from the Hugging Face Hub")
    expect(dialog).to_be_visible()
    dialog.get_by_role("textbox", name="Id on the Hub").press_sequentially("someone/no-such-model")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("There is no 'someone/no-such-model' on the Hub")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


FOCUSED = """() => {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    if (at.getAttribute("aria-label")) return at.getAttribute("aria-label");
    if (at.tagName === "SELECT") return at.labels[0].firstElementChild.textContent;
    const copy = at.cloneNode(true);
    copy.querySelectorAll('[data-testid="stIconMaterial"]').forEach((icon) => icon.remove());
    return copy.textContent.trim() || at.tagName;
}"""


def tabbed(page: Page, goal: str, limit: int = 60) -> list[str]:
    """Press Tab until the element with that name has focus; return those passed on the way."""
    passed: list[str] = []
    while goal not in passed and len(passed) < limit:
        page.keyboard.press("Tab")
        passed.append(page.evaluate(FOCUSED))
    return passed


def test_the_keyboard_alone_unfolds_the_settings_and_changes_the_answer(visit: Visit) -> None:
    page = visit("fill_mask")
    assert tabbed(page, "Settings")[-1] == "Settings"
    page.keyboard.press("Enter")
    assert tabbed(page, "Candidates", limit=4)[-1] == "Candidates"
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(6)


def test_the_keyboard_alone_opens_a_head(visit: Visit) -> None:
    page = visit("attention")
    page.get_by_role("button", name=re.compile(r"^Layer 0, head 0:")).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Layer 1, head 1")).to_be_visible()


SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(".stMain")]
    .map((each) => each.scrollWidth - each.clientWidth)"""


def test_the_watch_over_requests_sees_what_it_should(visit: Visit, site: Site) -> None:
    own, others = f"{site.address}/x", ["https://elsewhere.example/y", "http://127.0.0.1:1/"]
    assert Record(["data:text/css,", own, *others]).outside(site.address) == others
    with socket.create_connection(site.trap.getsockname()):
        assert site.fetches() == 1
    visit()
    assert site.fetches() == 0

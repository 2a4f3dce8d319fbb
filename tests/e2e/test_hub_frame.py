"""The site in the frame of a Space: the Hub's page learns the address, and leads back to it."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.e2e.conftest import PATIENCE_MS, Site, copy_link

pytestmark = pytest.mark.e2e

HUB = "https://huggingface.co"
# What the Hub's page does with messages, reduced to keeping the last one, and those of strangers.
FRAMING = """<!doctype html><title>Space</title>
<iframe src="{address}" width="1200" height="800"
  allow="local-network-access"></iframe>
<script>
  window.told = [];
  addEventListener("message", ({{ data, origin }}) => {{
    if ("queryString" in data) told.push({{ ...data, origin }});
  }});
</script>"""


@pytest.fixture
def framed(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Open a page of another site with ours in a frame."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(PATIENCE_MS)
        # The Hub is on the internet, and pages there may not frame this machine unasked.
        context.grant_permissions(["local-network-access", "clipboard-read"])

        def opened(path: str, around: str = HUB) -> Page:
            page = context.new_page()
            body = FRAMING.format(address=f"{site.address}/{path}")
            page.route(
                f"{around}/**", lambda route: route.fulfill(content_type="text/html", body=body)
            )
            page.goto(f"{around}/spaces/someone/bert-explorer")
            return page

        yield opened


def typed(frame: FrameLocator, text: str) -> None:
    box = frame.get_by_role("textbox", name=re.compile("^Text"))
    expect(box).to_have_value("The owl [MASK].")
    box.fill(text)
    box.press("Control+Enter")


def test_the_hub_alone_is_told_of_the_page_and_its_texts_and_a_link_with_them_opens_it(
    framed: Callable[..., Page], site: Site
) -> None:
    page = framed("fill_mask?text=The+owl+%5BMASK%5D.&__theme=dark&__sign=secret")
    frame = page.frame_locator("iframe")
    typed(frame, "The cat & the [MASK].")
    page.wait_for_function("told.at(-1)?.queryString.includes('cat')")
    told = dict(page.evaluate("told.at(-1)"))
    assert told["origin"] == site.address
    assert told["queryString"].startswith("page=fill_mask&")
    assert "secret" not in told["queryString"] and "__" not in told["queryString"]

    copy_link(frame)  # the frame has no clipboard
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{site.address}/fill_mask?") and "secret" not in copied

    # The Hub hands the query of its own address to the frame's first page, which is home.
    again = framed(f"?{told['queryString']}&__theme=light").frame_locator("iframe")
    expect(again.get_by_role("heading", level=1)).to_have_text("Fill-mask")
    expect(again.get_by_role("textbox", name=re.compile("^Text"))).to_have_value(
        "The cat & the [MASK]."
    )

    other = framed("fill_mask?text=The+owl+%5BMASK%5D.", "https://other.hf.space")
    refused: list[str] = []
    other.on("console", lambda message: refused.append(message.text))
    frame = other.frame_locator("iframe")
    typed(frame, "The cat [MASK].")
    expect(frame.get_by_text("The cat").first).to_be_visible()
    assert other.evaluate("told") == []
    assert [line for line in refused if "postMessage" in line] == []

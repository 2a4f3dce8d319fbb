"""Make the pictures of the documents from the running site: `python -m tools.derive pictures`.

Every page is opened in Chromium as a visitor would find it, in the light theme, with its first
example and the bundled model. The same site on the same machine gives the same files.
`--only SLUG` makes the picture of one page.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from app.catalog import feature, pages
from benchmarks.pages import browser_path, rest
from benchmarks.server import served

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SIZE = (1280, 720)
LIMIT = 150_000  # bytes of a picture
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-partial-raster",
    "--disable-skia-runtime-opts",
    "--force-color-profile=srgb",
]
_QUIET = """() => Promise.all([
    document.fonts.ready,
    ...document.getAnimations().map((each) => each.finished.catch(() => {})),
])"""


def take(page: Page, path: str) -> bytes:
    """Return the picture of a page, without loss, as WebP: the first after which it rests for 2 s.

    Raises:
        RuntimeError: something moves for a minute.
    """
    page.goto(f"/{path}")
    rest(page)
    page.evaluate(_QUIET)
    before, same = b"", 0
    for _ in range(60):
        now = page.screenshot(animations="disabled", caret="hide")
        same = same + 1 if now == before else 0
        if same == 2:
            file = io.BytesIO()
            picture = Image.open(io.BytesIO(now)).convert("RGB")
            picture.save(file, "WEBP", lossless=True, method=6)
            return file.getvalue()
        before = now
        page.wait_for_timeout(1000)
    raise RuntimeError(f"{page.url} does not come to rest.")


def main(only: str = "") -> None:
    """Write one picture for each page of the menu.

    Args:
        only: the slug of one page, or "home"; "" for all.

    Raises:
        InputError: there is no such page.
        RuntimeError: a picture is too large for a document.
    """
    slugs = ["", *(row.slug for row in pages())]
    if only:
        slugs = [""] if only == "home" else [feature(only).slug]
    PICTURES.mkdir(exist_ok=True)
    with served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=_FLAGS)
        for slug in slugs:
            context = browser.new_context(  # a new visitor each time
                base_url=server.address,
                viewport={"width": SIZE[0], "height": SIZE[1]},
                color_scheme="light",
                reduced_motion="reduce",
                locale="en-GB",
            )
            name, picture = slug or "home", take(context.new_page(), slug)
            if len(picture) > LIMIT:
                raise RuntimeError(f"{name}: {len(picture):,} bytes; expected at most {LIMIT:,}")
            (PICTURES / f"{name}.webp").write_bytes(picture)
            sys.stdout.write(f"{name}.webp  {len(picture):,} bytes\n")
            context.close()
        browser.close()

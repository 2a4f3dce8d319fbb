"""How the interface looks: the site's style sheets, a theme without fonts to fetch, the menu."""

from functools import cache
from pathlib import Path

import gradio as gr

from app import catalog
from app.catalog import GROUPS, Feature
from app.declared import declared, tabs
from app.settings import ASSETS
from app.words.html import Html, join, stylesheet, tag

_HERE = Path(__file__).with_name("style.css")
_SANS = ["ui-sans-serif", "system-ui", "sans-serif"]
_MONO = ["ui-monospace", "Consolas", "monospace"]


def theme() -> gr.themes.Base:
    """Return a theme with the colours of the site; its fonts are those of the visitor's system."""
    return gr.themes.Base(
        primary_hue="blue", neutral_hue="slate", text_size="lg", font=_SANS, font_mono=_MONO
    ).set(
        body_background_fill="#FCFBF8",
        body_background_fill_dark="#12161C",
        body_text_color="#1B2430",
        body_text_color_dark="#ECEFF3",
        body_text_color_subdued="#4A5463",
        body_text_color_subdued_dark="#B8C0CC",
        block_background_fill="#FCFBF8",
        block_background_fill_dark="#12161C",
        block_label_text_color="#1B2430",
        block_label_text_color_dark="#ECEFF3",
        block_title_text_color="#1B2430",
        block_title_text_color_dark="#ECEFF3",
        input_background_fill="#FFFFFF",
        input_background_fill_dark="#1C222B",
        input_border_width="1px",
        input_border_color="#767F8C",
        input_border_color_dark="#767F8C",
        button_primary_background_fill="#0B5C94",
        button_primary_background_fill_hover="#094A78",
        button_primary_background_fill_dark="#7CC1F0",
        button_primary_background_fill_hover_dark="#A5D5F5",
        button_primary_text_color="#FFFFFF",
        button_primary_text_color_dark="#12161C",
        link_text_color="#0B5C94",
        link_text_color_dark="#8CCBF5",
    )


@cache
def head() -> str:
    """Return what is in the head of every page."""
    return str(stylesheet(_HERE.read_text(encoding="utf-8")))


@cache
def script() -> str:
    """Return the site's own script, which saves pictures and tables, as a function.

    As an element in the head it would not run: Gradio adds that in the browser, where the page's
    policy admits no script that was not in the page from the start.
    """
    module = (ASSETS / "components" / "bridge.js").read_text(encoding="utf-8")
    return f"() => {{ {module.replace('export default', 'const bridge =')} }}"


def groups() -> dict[str, list[Feature]]:
    """Return the features in the groups of the menu."""
    return {group: [row for row in catalog.FEATURES if row.group == group] for group in GROUPS}


def tab_links(here: Feature) -> Html:
    """Draw the links to the tasks of a feature, if it has several."""
    names = tabs(here.folder)
    if not names:
        return join()
    rows = (declared(name).feature for name in (here.folder, *names))
    links = (_link(row.title, row.slug, here=row.slug == here.slug) for row in rows)
    return tag("div", *links, class_="bx-tabs", role="navigation", aria_label="Tasks of this page")


def menu(here: str) -> Html:
    """Draw the links to all pages, in the groups of the catalog.

    Args:
        here: the slug of this page; "" for the home page.
    """
    lessons = _link("Lessons", "lessons", here=here == "lessons")
    parts = [_link("Home", "./", here=not here), lessons]
    for group, rows in groups().items():
        links = (_link(row.title, row.slug, here=row.slug == here) for row in rows)
        parts.append(tag("span", *links, role="group", aria_label=group))
    return tag("div", *parts, class_="bx-menu", role="navigation", aria_label="Pages")


def _link(title: str, address: str, *, here: bool) -> Html:
    return tag("a", title, href=address, aria_current="page" if here else None)

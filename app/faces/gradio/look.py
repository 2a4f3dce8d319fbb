"""How the interface looks: the site's style sheets, a theme without fonts to fetch, the menu."""

from pathlib import Path

import gradio as gr

from app import catalog
from app.catalog import GROUPS, Feature
from app.declared import declared, tabs
from app.settings import ASSETS
from app.words.html import Html, join, stylesheet, tag

_SANS = ["ui-sans-serif", "system-ui", "sans-serif"]
_MONO = ["ui-monospace", "Consolas", "monospace"]


_COLOURS = {  # on the light and on the dark page
    "body_background_fill": ("#FCFBF8", "#12161C"),
    "body_text_color": ("#1B2430", "#ECEFF3"),
    "body_text_color_subdued": ("#4A5463", "#B8C0CC"),
    "block_background_fill": ("#FCFBF8", "#12161C"),
    "block_label_text_color": ("#1B2430", "#ECEFF3"),
    "block_title_text_color": ("#1B2430", "#ECEFF3"),
    "input_background_fill": ("#FFFFFF", "#1C222B"),
    "input_border_color": ("#767F8C", "#767F8C"),
    "button_primary_background_fill": ("#0B5C94", "#7CC1F0"),
    "button_primary_background_fill_hover": ("#094A78", "#A5D5F5"),
    "button_primary_text_color": ("#FFFFFF", "#12161C"),
    "link_text_color": ("#0B5C94", "#8CCBF5"),
}


def theme() -> gr.themes.Base:
    """Return a theme with the colours of the site; its fonts are those of the visitor's system."""
    light = {name: colours[0] for name, colours in _COLOURS.items()}
    dark = {f"{name}_dark": colours[1] for name, colours in _COLOURS.items()}
    base = gr.themes.Base(
        primary_hue="blue", neutral_hue="slate", text_size="lg", font=_SANS, font_mono=_MONO
    )
    return base.set(input_border_width="1px", **light, **dark)


def head() -> str:
    """Return what is in the head of every page."""
    return str(stylesheet(Path(__file__).with_name("style.css").read_text(encoding="utf-8")))


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
    """Draw the links to all pages by group; `here` is the slug of this one, "" for Home."""
    parts = [_link("Home", "./", here=not here)]
    parts.append(_link("Lessons", "lessons", here=here == "lessons"))
    for group, rows in groups().items():
        links = (_link(row.title, row.slug, here=row.slug == here) for row in rows)
        parts.append(tag("span", *links, role="group", aria_label=group))
    return tag("div", *parts, class_="bx-menu", role="navigation", aria_label="Pages")


def _link(title: str, address: str, *, here: bool) -> Html:
    return tag("a", title, href=address, aria_current="page" if here else None)

"""The stage that every page plays on.

At the top: title, one line of lead, examples, model. Below, from 1,000 pixels: what the visitor
gives at the left, what comes back at the right. On a narrower screen: text, answer, settings. The
order in the document is the narrow one; `assets/site.css` moves the settings under the text.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import FEATURES, Feature, feature
from app.engine.counted import counted
from app.engine.models import Engine, Offer
from app.engine.models.shelf import UNTRAINED
from app.faces.streamlit.about import foot
from app.faces.streamlit.address import say_left_out
from app.faces.streamlit.components import mount_bridge
from app.faces.streamlit.examples import examples_list
from app.faces.streamlit.files import begin_files, save_menu
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.hub_dialog import download_strip
from app.faces.streamlit.lesson_way import name_lessons, way_back
from app.faces.streamlit.picker import (
    model_picker,
    only_tabs,
    open_chosen,
    suits,
    unknown_model_note,
)
from app.faces.streamlit.progress import waiting_line
from app.faces.streamlit.show import show_html, show_style
from app.faces.streamlit.state import enter, leave, send_buttons, unfit_note
from app.settings import ASSETS
from app.words.blocks import heading
from app.words.screen import Screen

SITE = "BERT Explorer"
_TRAINED = "# The page's model has random weights; this reads the trained ones.\n"


@dataclass(frozen=True, slots=True)
class Page:
    """What a page script gets from its frame."""

    feature: Annotated[Feature, "the page's row of the catalog"]
    engine: Annotated[Engine, "the model the page works with"]
    give: Annotated[
        DeltaGenerator, "the place of what the visitor gives: text boxes, and little else"
    ]
    answer: Annotated[DeltaGenerator, "the place of what comes back, the main picture first"]
    settings: Annotated[DeltaGenerator, "the place of everything else that can be set; folded"]
    picks: Annotated[
        dict[str, Callable[[int], None]],
        "what to call with the whole number of a clicked `data-pick`, by its name. Numbers come "
        "from the browser: each function checks its own range",
    ]
    last: Annotated[
        list[Callable[[], None]],
        "what is drawn when the whole page is, in places that were kept for it",
    ] = field(default_factory=list)

    def finish(
        self,
        screen: Callable[[], Screen],
        snippet: Callable[[], str],
        *,
        text: str = "",
        text_pair: str = "",
    ) -> None:
        """Draw the last row of the answer: take the text elsewhere, save the page, the code.

        It is drawn here, but after the rest of the page, whose files its Save menu has. The screen
        says what a file of the result has; the snippet is the same computation in Python.
        """
        place = self.answer.container(horizontal=True, gap="small", key="bx-take")
        name = self.engine.provenance.name

        def code() -> str:
            before = _TRAINED if self.engine.facts.untrained else ""
            return before + snippet().replace(name, name.removesuffix(UNTRAINED))

        def draw() -> None:
            with place:
                if text.strip():
                    send_buttons(self.feature.slug, text, text_pair)
                save_menu(self.feature, self.engine, lambda: screen().report(), code)
                with st.popover("In Python", icon=":material/code:", type="tertiary"):
                    st.code(code(), language="python")

        self.last.append(draw)


@contextmanager
def page_shell(slug: str) -> Iterator[Page]:
    """Draw the frame of a page around the block; errors inside become messages in the answer.

    If the model cannot answer, the block is not run.
    """
    row = feature(slug)
    enter(slug)
    begin_files()
    configure(row.title, slug)
    picks: dict[str, Callable[[int], None]] = {}  # the page adds its own
    mount_bridge(slug, picks)  # first, so that it works as soon as there is something to click
    tools, offer = top(slug, row.title, row.see)
    with tools:
        way_back()
    given = row.takes_text or row.tabular
    with st.container(key="bx-stage" if given else "bx-whole"):
        give = st.container(key="bx-give")
        answer = st.container(key="bx-answer")
        settings = st.container(key="bx-settings")
    page: Page | None = None
    answers = False
    with answer:
        remarks = st.empty()
    with answer, guarded(), counted(slug, "pages"), waiting_line():
        unknown_model_note(offer)
        engine = open_chosen(offer)
        # A page that takes no text is drawn whatever the model can do.
        answers = not row.takes_text or only_tabs(engine, slug) or suits(engine, row.needs)
        page = Page(row, engine, give, answer, settings, picks)
        if answers:
            if given:
                examples_list(slug, tools, settings)
            if row.takes_text:
                unfit_note(slug)
            yield page
            for draw in page.last:
                draw()
    if answers:
        leave()
    if page is not None:
        foot(page.engine, row.beware, slug)
    say_left_out(remarks, slug)
    if not answers:
        st.stop()  # the reason is given above, and the block must not run


def top(slug: str, title: str, lead: str) -> tuple[DeltaGenerator, Offer]:
    """Draw the title, the lead and the model; return the place of the examples, and the choice."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="bx-top"):
        show_html(heading(title, lead))
        tools = st.container(width="content", key="bx-tools")
        offer = model_picker(slug)
    download_strip()
    return tools, offer


def configure(title: str, slug: str = "") -> None:
    """Set the browser's title, the style of the page, and the lessons that it names."""
    st.set_page_config(
        page_title=f"{title} · {SITE}", page_icon=str(ASSETS / "icon.svg"), layout="wide"
    )
    show_style(slug, *(row.slug for row in FEATURES if slug and row.tab_of == slug))
    name_lessons(slug)

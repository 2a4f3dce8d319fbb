"""The way from a page to its lessons and from a lesson to its pages, and back to the step."""

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from app.catalog import LESSONS, feature
from app.declared import declared
from app.declared.carried import TEXT_KEYS
from app.faces.streamlit.components import LESSON_LINKS
from app.faces.streamlit.site import ON_SITE, PATHS
from app.faces.streamlit.state import leave_for
from app.lessons.paths import paths
from app.lessons.shelf import about, mostly_about
from app.lessons.view import lesson_links
from app.words.blocks import line
from app.words.html import join, plain, tag
from bert_core.errors import BertError

TERMS = "terms"
"""The parameter with which the page of the lessons lists the words of the glossary."""

PICK = "lesson"
"""The name of a click on a lesson that a "?" names."""

_WORDS = "All words explained"
_CLICKED = "_lesson_clicked"  # which of the lessons that a page names
_TO = "_lesson_to"  # the lesson and step that are being opened
_STEP = "_lesson_step"  # the lesson and step that a page was opened from


def open_lesson(slug: str, step: int = 1, more: Mapping[str, str] | None = None) -> None:
    """Open a step of a lesson, with more in the address; not from a callback."""
    st.session_state.pop(_STEP, None)
    st.session_state[_TO] = slug, step
    _go({"lesson": slug, **(more or {})})  # the step is bound to its widget


def all_lessons() -> None:
    """Open the list of all lessons; not from a callback."""
    _go({})


def all_words() -> None:
    """Open the list of all words of the glossary; not from a callback."""
    _go({TERMS: "true"})


def _go(address: dict[str, str]) -> None:
    page = st.session_state.get(PATHS, {}).get("lessons", LESSONS)
    st.switch_page(page, query_params=address)


def arriving_at() -> tuple[str, int] | None:
    """Return the lesson and step that were opened by a button just now."""
    found: tuple[str, int] | None = st.session_state.pop(_TO, None)
    return found


def open_page(task: str, values: Mapping[str, object], lesson: str, step: int) -> None:
    """Open the page of a task with the values of a step; a button there leads back.

    Args:
        task: the name of the task, which may be a tab's.
        values: by the names of its parameters.
        lesson: where the visitor comes from.
        step: its step.
    """
    given = address_of(task, values)
    st.session_state[_STEP] = lesson, step
    texts = {key: text for key, text in given.items() if key in TEXT_KEYS}
    rest = {key: text for key, text in given.items() if key not in TEXT_KEYS}
    leave_for(feature(declared(task).feature.folder), texts, rest)


def address_of(task: str, values: Mapping[str, object]) -> dict[str, str]:
    """Return the parameters with which the page of a task opens with these values."""
    found = declared(task)
    given = {each.key: str(values[each.name]) for each in found.parameters if each.name in values}
    return given | ({"tab": task} if found.feature.part_of else {})


def way_back() -> None:
    """Draw the button that leads back to the step a page was opened from, if it was."""
    if _STEP in st.session_state and st.button(
        "Back to the lesson", key="_to_lesson", icon=":material/arrow_back:"
    ):
        open_lesson(*st.session_state[_STEP])


def path_buttons() -> None:
    """Offer the paths through the lessons; drawn only if those are part of the site."""
    pages = st.session_state.get(PATHS, {})
    with st.container(horizontal=True, gap="small", key="bx-paths"):
        for path in paths() if pages else ():
            if st.button(plain(path.title), key=f"_path_{path.slug}"):
                st.switch_page(pages[path.slug])


def name_lessons(slug: str) -> None:
    """Let every "?" of a page lead to its lessons and to the words, if those are part of the site.

    Args:
        slug: the page; "" for one that is about no feature.
    """
    links = join()
    if st.session_state.get(ON_SITE):
        with suppress(BertError):
            links = lesson_links(
                mostly_about(slug), "lessons?lesson={}", target="_self", data_pick=PICK
            )
            words = tag("a", _WORDS, href=f"lessons?{TERMS}=true", target="_blank")
            links = join(links, line(words))
    st.session_state[LESSON_LINKS] = links


def click_lesson(number: int) -> None:
    """Remember that a lesson was clicked; callbacks cannot leave a page, so its next run does."""
    st.session_state[_CLICKED] = number


def open_clicked(slug: str) -> None:
    """Open the lesson that was clicked on a page, if one was."""
    number = st.session_state.pop(_CLICKED, None)
    for place, each in enumerate(mostly_about(slug) if number is not None else ()):
        if place == number:
            open_lesson(each.slug)


def lessons_with(slug: str) -> None:
    """Offer the lessons that use a page, and the glossary, if those are part of the site."""
    if not st.session_state.get(ON_SITE):
        return
    with suppress(BertError):
        found = about(slug)
        with st.popover("Lessons" if found else "Words", type="tertiary"):
            for each in found:
                if st.button(plain(each.title), key=f"_lesson_{each.slug}", type="tertiary"):
                    open_lesson(each.slug)
            if st.button(_WORDS, key="_words", icon=":material/menu_book:"):
                all_words()

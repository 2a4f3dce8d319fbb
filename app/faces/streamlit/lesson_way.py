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
from app.lessons.shelf import mostly_about
from app.lessons.view import lesson_links
from app.words.blocks import join, line, plain, tag
from bert_core.errors import BertError

TERMS = "terms"  # the parameter with which the page of the lessons lists the words of the glossary

_WORDS = "All words explained"
_TO = "_lesson_to"  # the lesson and step that are being opened
_STEP = "_lesson_step"  # the lesson and step that a page was opened from


def open_lesson(slug: str, step: int = 1, more: Mapping[str, str] | None = None) -> None:
    """Open a step of a lesson, with more in the address; not from a callback."""
    st.session_state.pop(_STEP, None)
    st.session_state[_TO] = slug, step
    open_lessons({"lesson": slug, **(more or {})})  # the step is bound to its widget


def open_lessons(address: Mapping[str, str]) -> None:
    """Open the page of the lessons at an address, "" for all of them; not from a callback."""
    page = st.session_state.get(PATHS, {}).get("lessons", LESSONS)
    st.switch_page(page, query_params=dict(address))


def arriving_at() -> tuple[str, int] | None:
    """Return the lesson and step that were opened by a button just now."""
    found: tuple[str, int] | None = st.session_state.pop(_TO, None)
    return found


def open_page(task: str, values: Mapping[str, object], lesson: str, step: int) -> None:
    """Open the page of a task with the values of a step; a button there leads back."""
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
    """Let every "?" of a page lead to its lessons and to the words, if the site has them."""
    links = join()
    if st.session_state.get(ON_SITE):
        with suppress(BertError):
            links = lesson_links(mostly_about(slug), "lessons?lesson={}", target="_blank")
            words = tag("a", _WORDS, href=f"lessons?{TERMS}=true", target="_blank")
            links = join(links, line(words))
    st.session_state[LESSON_LINKS] = links

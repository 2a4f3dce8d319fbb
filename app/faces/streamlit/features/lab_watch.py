"""Watching together: a link to the run of one visitor, and the page of those who follow it.

The link has a key of its own, so what it opens is never found by the key of the run: who follows it
has none of the widgets that steer a run.
"""

from contextlib import AbstractContextManager, nullcontext

import streamlit as st

from app.faces.streamlit import guarded, show_html
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.features.lab import (
    GUESS,
    LINK,
    LOOK,
    PLAY,
    WATCHING,
    ask,
    asks,
    take_up,
)
from app.faces.streamlit.invite import invitation, site_address
from app.faces.streamlit.progress import waiting_line
from app.faces.streamlit.state import opened_by
from app.faces.streamlit.visitor import visitor_name
from app.features.lab.task_distil_run import Student
from app.features.lab.task_lab import LABS, Lab
from app.features.lab.view_words import named
from app.settings import settings
from app.words.blocks import line, note
from app.words.html import plain, tag, visible
from bert_core.errors import InputError

_MAKE = "_lab_make_link"
_WATCHED = "_lab_watched"  # the key of the run that this visitor has watched last
_OFFER = (
    "A link opens this run in other browsers. Watchers can predict, look back and ask the model, "
    "but not pause, stop or change it. It keeps training as long as anyone watches, even without "
    "you. The link ends after {} hours; create it again for your next run, and it opens that one."
)
_OWN_TEXT = (
    "This run is on your own text. Watchers see sentences and words from it in the gaps, the "
    "attention and the map of words, and can ask the model that has read it."
)
_WATCHES = (
    "You are watching a run that someone else started. You can predict, look back and ask its "
    "model; only its owner can pause, stop or change it."
)
_GONE = (
    "This link leads to no run on this server: it was mistyped, or the run has ended. Here is "
    "a lab of your own."
)


def offer(lab: Lab | None) -> None:
    """Let who started a run give others a link to it."""
    if lab is None or lab.owner != visitor_name() or not settings().classes:
        return
    # A run of the page closes its dialogs; one that comes between the click and its link does not.
    if st.button("Watch together", icon=":material/groups:") or _MAKE in st.session_state:
        _invite(lab)


@st.dialog("Watch together")  # a popover would close when the link is made
def _invite(lab: Lab) -> None:
    """Make the link of a run, show it, and end it."""
    with guarded():
        share = lab.share if lab.shared else None
        if st.session_state.pop(_MAKE, False):
            share = LABS.share(lab, visitor_name())
        if share is None:
            show_html(line(_OFFER.format(settings().hours)))
            if lab.private:
                show_html(note(_OWN_TEXT, caution=True))
            wanted = {_MAKE: True}
            st.button(
                "Make a link", type="primary", on_click=st.session_state.update, args=(wanted,)
            )
            return
        link = f"{site_address()}lab?{LINK}={share.key}"
        copy = tag("button", "Copy the link", type="button", class_="bx-button", data_copy=link)
        show_markup(
            invitation(link, tag("p", "Watch this run, without a name:"), copy),
            key=f"_watch_{share.key}",
        )
        if st.button("End the link"):
            LABS.unshare(lab.owner)
            st.rerun()


def linked() -> Lab | None:
    """Return the run that this visitor watches by a link; a link that leads to none is said."""
    if opened_by() == "address":
        st.session_state[WATCHING] = st.query_params.get(LINK, "")
    key, says = st.session_state.get(WATCHING, ""), _GONE
    if not key:
        return None
    try:
        lab = LABS.watched(key, visitor_name())
    except InputError as error:
        lab, says = None, str(error)
    if lab is None:
        leave()
        st.warning(plain(says), icon=":material/link_off:")
        return None
    if st.session_state.get(_WATCHED) != lab.key:
        st.session_state[_WATCHED] = lab.key
        _forget()
    take_up(lab)
    return lab


def is_over(lab: Lab) -> bool:
    """Return whether this visitor watched a lab and may no longer; asking says who is here."""
    key = st.session_state.get(WATCHING, "")
    try:
        return bool(key) and LABS.watched(key, visitor_name()) is not lab
    except InputError:
        return True


def counted() -> AbstractContextManager[None]:
    """Let what a watcher asks in a fragment count as his own call."""
    return waiting_line() if st.session_state.get(WATCHING) else nullcontext()


def leave() -> None:
    """Watch no longer."""
    st.session_state[WATCHING] = st.session_state[_WATCHED] = ""
    _forget()


def watch(lab: Lab) -> bool:
    """Draw what a watcher gives; return whether the run may be shown, that is, after a guess."""
    run = lab.runs[-1]
    show_html(note(_WATCHES))
    first = asks() and GUESS not in st.session_state and not isinstance(run, Student)
    if first:
        show_html(tag("p", tag("strong", "Predict first"), visible(f": {named(run.settings)}")))
        ask(run.settings, _predict)
    st.button("A lab of your own", on_click=leave, icon=":material/science:")
    return not first


def _predict(guess: str) -> None:
    st.session_state[GUESS] = guess
    st.rerun()


def _forget() -> None:
    """Drop what belongs to another run."""
    for each in (GUESS, LOOK, PLAY):
        st.session_state.pop(each, None)

"""Home: one sentence, live in six small results; each leads to its page."""

import streamlit as st

from app.catalog import feature
from app.overview import FIRST, doors, draw
from app.streamlit_kit.about import foot
from app.streamlit_kit.components import mount_bridge, show_markup
from app.streamlit_kit.frame import SITE, configure, top
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.picker import open_chosen, unknown_model_note
from app.streamlit_kit.progress import waiting_line
from app.streamlit_kit.state import enter, leave, leave_for, text_box

OPEN = "_open"
LEAD = "Type a sentence and see what a BERT model does with it."


def open_door(number: int) -> None:
    """Remember which door was opened; the page changes when the texts are known."""
    st.session_state[OPEN] = number


enter("home")
configure("Home", "home")
mount_bridge("home", {"open": open_door})
_, offer = top("home", SITE, LEAD)
unknown_model_note(offer)
with guarded(), waiting_line():
    text = text_box("home", "Your sentence", first=FIRST, height=68)
    engine = open_chosen(offer)
    if text.strip():
        found = doors(engine, text)
        chosen = st.session_state.pop(OPEN, None)
        if chosen in range(len(found)):
            leave_for(feature(found[chosen].slug), found[chosen].texts)
        show_markup(draw(found), key="doors")
    leave()
    foot(engine, "Attention is not an explanation, and a confident answer need not be true.")

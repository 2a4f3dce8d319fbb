"""Home: one sentence, live in six small results; each leads to its page."""

import streamlit as st

from app.catalog import feature
from app.faces.streamlit.about import foot
from app.faces.streamlit.address import say_left_out
from app.faces.streamlit.components import mount_bridge, show_markup
from app.faces.streamlit.frame import SITE, configure, top
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.lesson_way import path_buttons
from app.faces.streamlit.picker import open_chosen, unknown_model_note
from app.faces.streamlit.progress import progress, waiting_line
from app.faces.streamlit.show import show_html
from app.faces.streamlit.state import enter, leave, leave_for, text_box
from app.overview import FIRST, doors, draw, suggestion, unread_of, without_door

OPEN = "_open"
LEAD = "BERT is a model that guesses hidden words. Try a sentence, or lessons:"


enter("home")
configure("Home", "home")
mount_bridge("home", {"open": lambda number: st.session_state.update({OPEN: number})})
tools, offer = top("home", SITE, LEAD)
with tools:
    path_buttons()
remarks = st.empty()
unknown_model_note(offer)
with guarded(), waiting_line():
    left, right = st.columns([3, 2])
    with left:
        text = text_box("home", "Your sentence", first=FIRST, height=68)
    with right:
        question = text_box(
            "home", "Your question", key="question", first="", height=68,
            placeholder=suggestion(text),
        )  # fmt: skip
    engine = open_chosen(offer)
    if text.strip():
        show_html(unread_of(engine, text))
        with progress("Reading") as told:
            found = doors(engine, text, question, told)
        chosen = st.session_state.pop(OPEN, None)
        if chosen in range(len(found)):
            leave_for(feature(found[chosen].slug), found[chosen].texts)
        show_markup(draw(found), key="doors")
        show_html(without_door(engine))
    else:
        st.info("Write a sentence to see what BERT does with it.", icon=":material/edit_note:")
    leave()
    foot(engine, "A confident answer need not be true.")
say_left_out(remarks)

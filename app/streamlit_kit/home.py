"""The first page: what this is, where to go, which model answers, and what to keep in mind."""

import streamlit as st

from app.catalog import FEATURES, Feature
from app.streamlit_kit.about import foot
from app.streamlit_kit.frame import SITE, configure, top
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.picker import open_chosen, unknown_model_note
from app.streamlit_kit.show import show_html
from app.streamlit_kit.state import enter
from app.words.blocks import points

_LEAD = (
    "Type a sentence and watch a small BERT read it: how it cuts the words, what it expects in a "
    "gap, what may follow, which answer and which names it finds, and where each of its heads "
    "looks."
)
_POINTS = (
    (
        "Attention is not an explanation.",
        "It shows where a head looks, not why the model answers as it does. The pages say what "
        "each picture means, and what it does not.",
    ),
    (
        "The model is small, and it errs.",
        "It was trained on an ordinary computer, to be looked into rather than relied on. Its "
        "mistakes are part of the lesson; so are the prejudices of the texts it has read.",
    ),
    (
        "Nothing is stored, nothing is sent.",
        "Your text stays between your browser and the computer that runs this program, which "
        "keeps it only while your page is open. No network is needed. A short text also stands "
        "in the page's address, so that the link opens the same view again.",
    ),
    (
        "Counting starts at 0.",
        "Layers, heads, positions and words are numbered as in the program code.",
    ),
)


def home() -> None:
    """Draw the home page."""
    configure("Home")
    enter("home")
    _, offer = top("home", SITE, _LEAD)
    unknown_model_note(offer)
    for left in range(0, len(FEATURES), 2):
        for column, row in zip(st.columns(2, gap="medium"), FEATURES[left:], strict=False):
            with column:
                _card(row)
    st.header("Before you start", anchor=False)
    show_html(points(_POINTS))
    with guarded():
        foot(open_chosen(offer))


def _card(row: Feature) -> None:
    """Draw one page as a card whose title leads there."""
    with st.container(border=True, height="stretch", key=f"bx-card-{row.slug}"):
        st.page_link(row.page, label=row.title, icon=row.icon)
        st.markdown(row.see)

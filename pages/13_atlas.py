"""Head atlas: all heads of the model on one map."""

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import page_shell, show_html, show_picture
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.features.atlas import choose_head, wait_for
from app.faces.streamlit.features.attention import take_head
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.atlas import view
from app.features.atlas.result import AtlasResult
from app.features.atlas.task import atlas
from app.words.blocks import join, small_headline

SLUG = "atlas"
OPEN = "_open"


def take(number: int) -> None:
    """Show a head that was clicked."""
    layers, heads = result.size
    if number in range(layers * heads):
        take_head(*divmod(number, heads))


def open_text(number: int) -> None:
    """Open a typical text on the attention page; callbacks cannot, so the next run does."""
    if number in range(len(result.asked.texts)):
        st.session_state[OPEN] = number


def leave(shown: AtlasResult) -> None:
    """Go to the attention page with the text that was picked; the head goes along."""
    text = shown.asked.texts[st.session_state.pop(OPEN)]
    leave_for(feature("attention"), {"text": text.text, "text_pair": text.text_pair or ""})


with page_shell(SLUG) as page:
    found = wait_for(page)
    if found is not None:
        left, right = st.columns([13, 7], gap="medium")
        with right:
            with st.container(horizontal=True, gap="medium", key="bx-at-bar"):
                layer, head = choose_head(found)
            result = atlas(page.engine, layer=layer, head=head)
            page.picks.update(head=take, open=open_text)
            if OPEN in st.session_state:
                leave(result)
            show_html(view.head_card(result))
            show_markup(
                view.typical_texts(result, live=bool(st.session_state.get(ON_SITE))), key="texts"
            )
        with left:
            headline = small_headline(view.headline(result), view.map_hint(result))
            show_html(join(headline, view.legend(result)))
            show_picture(view.map_picture(result, live=True))
        with st.expander(f"Findings of {view.PAPER}"):
            show_html(view.findings_table(result))
        page.finish(
            lambda: view.screen(result),
            lambda: view.snippet(result, page.engine.provenance.name),
        )

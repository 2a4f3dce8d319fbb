"""Head atlas: all heads of the model on one map."""

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import Page, page_shell, show_html, show_picture
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import pick_number
from app.faces.streamlit.features.attention import (  # a head is the same there
    HEAD,
    LAYER,
    take_head,
)
from app.faces.streamlit.progress import progress
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.atlas import view
from app.features.atlas.result import AtlasResult
from app.features.atlas.task import atlas, cancel, first_head, measured
from app.words.blocks import join, plain, small_headline
from bert_core.analysis.head_atlas import HeadAtlas

SLUG = "atlas"
OPEN = "_open"
STOPPED = "_atlas_stopped"  # the model whose measurement the visitor has cancelled


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


def wait_for(page: Page) -> HeadAtlas | None:
    """Return the measurements of a model, with a bar while they are made; None if cancelled."""
    engine = page.engine
    known = engine.provenance.fingerprint
    if st.session_state.get(STOPPED) == known:
        st.info("The measurement was cancelled.")
        if not st.button("Measure the heads", icon=":material/play_arrow:", key="_atlas_go"):
            return None
        del st.session_state[STOPPED]

    def stop() -> None:
        cancel(engine)
        st.session_state[STOPPED] = known

    place = st.empty()
    if engine.head_atlas() is None:
        place.caption(
            f"All heads of {plain(engine.provenance.name)} are measured on a hundred texts, once. "
            "This continues while you look at other pages."
        )
    with progress("Measuring", "texts", least=1, cancel=stop) as report:
        found = measured(engine, report)
    place.empty()
    return found


def choose_head(found: HeadAtlas) -> tuple[int, int]:
    """Draw the choice of a layer and a head, and return it."""
    state = st.session_state
    chosen = []
    for key, first, size in zip((LAYER, HEAD), first_head(found), found.effects.shape, strict=True):
        given = st.query_params.get(key, "")
        in_address = key not in state and given in map(str, range(size))
        if not in_address and state.get(key) not in range(size):  # none yet, or of another model
            state[key] = first
        names = {number: str(number) for number in range(size)}
        chosen.append(pick_number(key.capitalize(), names, key=key) or 0)
    return chosen[0], chosen[1]


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

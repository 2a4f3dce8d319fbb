"""Controls of the atlas: which head is chosen, and the wait while a model is measured."""

import streamlit as st

from app.faces.streamlit import Page
from app.faces.streamlit.controls import pick_number
from app.faces.streamlit.features.attention import HEAD, LAYER  # a head is the same there
from app.faces.streamlit.progress import progress
from app.features.atlas.task import cancel, first_head, measured
from app.words.html import plain
from bert_core.analysis.head_atlas import HeadAtlas

_STOPPED = "_atlas_stopped"  # the model whose measurement the visitor has cancelled


def wait_for(page: Page) -> HeadAtlas | None:
    """Return the measurements of a model, with a bar while they are made; None if cancelled."""
    engine = page.engine
    known = engine.provenance.fingerprint
    if st.session_state.get(_STOPPED) == known:
        st.info("The measurement was cancelled.")
        if not st.button("Measure the heads", icon=":material/play_arrow:", key="_atlas_go"):
            return None
        del st.session_state[_STOPPED]

    def stop() -> None:
        cancel(engine)
        st.session_state[_STOPPED] = known

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

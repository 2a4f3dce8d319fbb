"""Controls for the map of all heads, with a link from a head to the page that shows it."""

from collections.abc import Callable

import streamlit as st

from app.catalog import feature
from app.features.attention import view_habits as view
from app.features.attention.result_habits import HeadComparison, HeadHabits
from app.streamlit_kit.components import show_component
from app.streamlit_kit.controls import choose, save_csv
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.show import show_html, show_table
from app.streamlit_kit.state import ON_SITE
from app.words.html import join

LAYER, HEAD = "layer", "head"
"""The keys of the attention page, so that a head that was picked here is open there."""


def head_map(habits: HeadHabits | None, model: str) -> None:
    """Draw the map of all heads, with an option to open the selected head.

    Args:
        habits: where the heads usually look; None if not measured.
        model: name of the model.
    """
    if habits is None:
        show_html(view.nothing_known(model))
        return
    key = choose("Map of", view.place_names(habits), key="habit")
    show_html(view.place_note(habits, key))
    layer, head = _marked(LAYER, habits.layers), _marked(HEAD, habits.heads)
    drawn = view.map_picture(habits, key, (layer, head))
    show_component("attention_grid", drawn, key="habits", picks=(LAYER, HEAD))
    if st.session_state.get(ON_SITE):
        name = f"Open layer {layer}, head {head} on the page “{feature('attention').title}”"
        where = {LAYER: str(layer), HEAD: str(head)}
        st.page_link(
            feature("attention").page, label=name, icon=":material/grid_on:", query_params=where
        )
    show_html(view.source(habits))
    table, words = view.map_table(habits), view.describe_map(habits, key)
    show_table(table, alt=words, key="t_habits", title=view.AS_TABLE)
    save_csv("Save these numbers (CSV)", lambda: view.map_table(habits), "head-statistics.csv")


def head_section(compare: Callable[[], HeadComparison | None]) -> None:
    """Compare a head's usual behaviour with its behaviour in one text, if measured.

    Args:
        compare: returns the comparison; None if the usual behaviour was not measured.
    """
    with guarded():
        found = compare()
        if found is None:
            return
        st.header(view.title(found), anchor=False)
        show_html(join(view.comparison(found), view.source(found.habits)))
        if st.session_state.get(ON_SITE):
            card = feature("model_card")
            name = "All heads at once, on the page “Model card”"
            st.page_link(card.page, label=name, icon=card.icon)


def _marked(key: str, size: int) -> int:
    """Return the selected layer or head, or the first one if the number is out of range."""
    picked = st.session_state.get(key, 0)
    return picked if isinstance(picked, int) and 0 <= picked < size else 0

"""Buttons and tabs of the fill-mask page; what costs much is computed when it is asked for."""

from collections.abc import Callable

import streamlit as st

from app.catalog import feature
from app.faces.streamlit.controls import choose, on_demand, text_line
from app.faces.streamlit.frame import Page
from app.faces.streamlit.standard import show_screen
from app.faces.streamlit.state import ON_SITE, leave_for, set_text, undo_button
from app.features.fill_mask import view, view_pair, view_surprise, view_together
from app.features.fill_mask.result import FillMaskResult
from app.features.fill_mask.task import mask_at_end
from app.features.fill_mask.task_pair import compare, read_pair
from app.features.fill_mask.task_surprise import surprise
from app.features.fill_mask.task_together import MOST_PIECES, cost, fill_together
from app.words.screen import Block, Screen

_CHEAP = 16_000  # tokens that the model reads without being asked
_ATTEND = "_attend"


def below_boxes(slug: str) -> None:
    """Offer to restore the word that was hidden last."""
    undo_button(slug, "Restore the last word")


def view_settings(page: Page, result: FillMaskResult) -> dict[str, bool]:
    """Say whether the attention page can be opened, which reads whole texts only."""
    fits = result.tokens <= page.engine.max_length
    return {"attend": bool(st.session_state.get(ON_SITE)) and fits}


def start(page: Page, result: FillMaskResult) -> None:
    """Open the attention page on the row of a mask; callbacks cannot, so the next run does."""

    def attend(number: int) -> None:
        if number in range(len(result.slots)):
            st.session_state[_ATTEND] = result.slots[number].position

    page.picks["attend"] = attend
    if _ATTEND in st.session_state:
        row = st.session_state.pop(_ATTEND)
        pinned = {"row": str(row), "cell": f"{row}.{row}"}  # a pinned cell opens that page's row
        leave_for(feature("attention"), {"text": _written(result)}, pinned)


def _written(result: FillMaskResult) -> str:
    """Return the text in its own order; the slider, which both pages have, makes the other."""
    return str(st.session_state["text"]) if result.shuffle else result.text


def missing(page: Page, result: FillMaskResult) -> list[Block]:
    """Offer a mask, and hide every piece in turn instead."""
    st.button(
        "Put [MASK] at the end",
        on_click=lambda: set_text(page.feature.slug, mask_at_end(_written(result))),
    )
    return _surprise_tab(page, result)


def _surprise_tab(page: Page, result: FillMaskResult, *_: object) -> list[Block]:
    return _computed(
        page,
        f"Hide each of {result.tokens - 2:,} pieces in turn",
        result.tokens**2,
        lambda: view_surprise.screen(surprise(page.engine, result)),
        ("_surprise", result.model, result.text),
    )


def _together_tab(page: Page, result: FillMaskResult, _: object) -> list[Block]:
    with st.container(horizontal=True, gap="medium"):
        pieces = {n: str(n) for n in range(1, MOST_PIECES + 1)}
        most = choose("Most pieces in a gap", pieces, key="pieces")
        order = choose("Order of filling", view_together.ORDER_NAMES, key="order")
    tokens = cost(result, most)
    return _computed(
        page,
        f"Search (the model reads about {tokens:,} tokens)",
        tokens,
        lambda: view_together.screen(fill_together(page.engine, result, most=most, order=order)),
        ("_together", result.model, result.text, most, order),
    )


def _computed(
    page: Page, label: str, tokens: int, make: Callable[[], Screen], about: tuple[object, ...]
) -> list[Block]:
    """Draw a screen; one for which the model reads many tokens is made when it is asked for."""
    if tokens <= _CHEAP:
        return show_screen(page, make())
    icon = ":material/play_arrow:"
    screen = on_demand(label, make, key=str(about[0]), about=about, icon=icon)
    return show_screen(page, screen) if screen else []


def _pair_tab(page: Page, result: FillMaskResult, _: object) -> list[Block]:
    typed = text_line("Two words to swap", key="pair", hint="he / she")
    if not typed.strip():
        return []
    found = compare(page.engine, result, read_pair(typed))
    titles = [view.slot_title(slot) for slot in result.slots] if len(result.slots) > 1 else []
    return show_screen(page, view_pair.screen(found, titles=titles))


TABS = {  # tabs with widgets that no other has, by their task
    "fill_mask_pair": _pair_tab,
    "fill_mask_surprise": _surprise_tab,
    "fill_mask_together": _together_tab,
}

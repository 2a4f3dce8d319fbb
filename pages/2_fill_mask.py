"""Fill-mask: what the model would write where a word is hidden."""

from itertools import cycle

import streamlit as st

from app.catalog import feature
from app.faces.streamlit import (
    Page,
    guarded,
    page_shell,
    set_text,
    show_html,
    show_picture,
    text_box,
    undo_button,
)
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, on_demand
from app.faces.streamlit.features.why import why_fold
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.fill_mask import view as view
from app.features.fill_mask import view_pair, view_surprise, view_together
from app.features.fill_mask.result import FillMaskResult
from app.features.fill_mask.task import fill_mask, mask_at_end, mask_word
from app.features.fill_mask.task_pair import compare, read_pair
from app.features.fill_mask.task_surprise import surprise
from app.features.fill_mask.task_together import MOST_PIECES, cost, fill_together
from app.words.blocks import line
from app.words.html import plain
from app.words.notes import gaps_note
from app.words.pictures import Picture
from app.words.report import Block

SLUG = "fill_mask"
PICKABLE = 120  # words; longer texts are not practical to show as buttons
CHEAP = 16_000  # tokens that the model reads without being asked
ATTEND = "_attend"


def hide(number: int) -> None:
    """Put a mask in the place of a word that was clicked."""
    if number in range(len(result.words)):
        set_text(SLUG, mask_word(result.text, result.words[number]))


def attend(number: int) -> None:
    """Open the attention page on the row of a mask; callbacks cannot, so the next run does."""
    if number in range(len(result.slots)):
        st.session_state[ATTEND] = result.slots[number].position


def append_mask() -> None:
    """Put a mask at the end of the text."""
    set_text(SLUG, mask_at_end(result.text))


def slots(result: FillMaskResult) -> None:
    """Draw the candidates of every mask, two masks side by side."""
    several = len(result.slots) > 1
    show_html(view.bars_title(result))
    columns = st.columns(2, gap="medium") if several else [st.container()]
    for slot, column in zip(result.slots, cycle(columns), strict=False):
        with column:
            if several:
                show_html(view.slot_title(slot))
            show_html(view.named_word(slot, result.vocabulary))
            show_picture(view.candidates(slot, view.slots_axis(result)))
            show_html(view.certainty(slot))
    show_html(view.calibration_note(result, result.model))


def show(*blocks: Block) -> None:
    """Draw blocks of an open tab, and keep them for the file."""
    for block in blocks:
        if isinstance(block, Picture):
            show_picture(block)
        else:
            show_html(block)
        shown.append(block)


def every_piece(page: Page, result: FillMaskResult) -> None:
    """Hide every piece in turn."""
    found = (
        surprise(page.engine, result)
        if result.tokens**2 <= CHEAP
        else on_demand(
            f"Hide each of {result.tokens - 2:,} pieces in turn",
            lambda: surprise(page.engine, result),
            key="_surprise",
            about=(result.model, result.text),
            icon=":material/play_arrow:",
        )
    )
    if found is not None:
        show(
            view_surprise.odd_line(found),
            view_surprise.surprise_picture(found),
            view_surprise.surprise_note(found),
        )


def together(page: Page, result: FillMaskResult) -> None:
    """Solve all masks together."""
    with st.container(horizontal=True, gap="medium"):
        pieces = {n: str(n) for n in range(1, MOST_PIECES + 1)}
        most = choose("Most pieces in a gap", pieces, key="pieces")
        order = choose("Order of filling", view_together.ORDER_NAMES, key="order")
    tokens = cost(result, most)
    found = (
        fill_together(page.engine, result, most=most, order=order)
        if tokens <= CHEAP
        else on_demand(
            f"Search (the model reads about {tokens:,} tokens)",
            lambda: fill_together(page.engine, result, most=most, order=order),
            key="_together",
            about=(result.model, result.text, most, order),
            icon=":material/play_arrow:",
        )
    )
    if found is not None:
        show(view_together.together_line(found), view_together.together_picture(found))


def swap(page: Page, result: FillMaskResult) -> None:
    """Compare two sentences that differ in one word."""
    typed = st.text_input(
        "Two words to swap",
        key="pair",
        bind="query-params",
        persist_state="session",
        placeholder="he / she",
    )
    if typed.strip():
        found = compare(page.engine, result, read_pair(typed))
        show(view_pair.pair_line(found), view_pair.pair_note())
        for number, slot in enumerate(result.slots):
            if len(result.slots) > 1:
                show(view.slot_title(slot))
            show(view_pair.pair_picture(found, number))


with page_shell(SLUG) as page:
    shown: list[Block] = []
    with page.give:
        text = text_box(SLUG, "Text ([MASK] or ___ hides a word)")
        undo_button(SLUG, "Restore the last word")
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        word = st.text_input(
            "How likely is this word?", key="word", bind="query-params", persist_state="session"
        )
        k = st.slider("Candidates", 1, 20, 5, key="k", bind="query-params", persist_state="session")
    result = fill_mask(page.engine, text, top_k=k, word=word)
    page.picks.update(hide=hide, attend=attend)
    if ATTEND in st.session_state:
        row = st.session_state.pop(ATTEND)
        pinned = {"row": str(row), "cell": f"{row}.{row}"}  # a pinned cell opens that page's row
        leave_for(feature("attention"), {"text": result.text}, pinned)
    show_html(view.window(result))
    if result.note:
        st.warning(plain(result.note), icon=":material/spellcheck:")
    fits = result.tokens <= page.engine.max_length
    site = bool(st.session_state.get(ON_SITE)) and fits
    sentence = view.sentence(result, result.nearby(PICKABLE), attend=site)
    show_markup(sentence, key="sentence")
    show_html(gaps_note(result.read_as))
    if result.slots:
        slots(result)
        why_fold(page, "fill_mask", result.text)
        names = [
            each.TITLE for each in (view_pair, view_surprise, view_together)
        ]  # at first the one that costs nothing
        opened = st.tabs(names, key="tab", bind="query-params")
        for tab, draw in zip(opened, (swap, every_piece, together), strict=True):
            if tab.open:
                with tab, guarded():
                    draw(page, result)
    else:
        show_html(line("Click a word to hide it."))
        st.button("Put [MASK] at the end", on_click=append_mask)
        with guarded():
            every_piece(page, result)
    page.finish(lambda: view.report(result, shown), lambda: view.snippet(result), text=result.text)

"""Attention: which piece looks at which, in every layer and head."""

from functools import partial

import streamlit as st

from app.faces.streamlit import guarded, page_shell, show_html, show_picture, text_box
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, switch
from app.faces.streamlit.features.attention import (
    choose_heads,
    choose_order,
    chosen_heads,
    heat_map,
    pinned_cell,
    take_cell,
    take_head,
)
from app.faces.streamlit.files import offer_file
from app.features.attention import view_cell as cells
from app.features.attention import view_lines as lines
from app.features.attention import view_pictures as pictures
from app.features.attention import view_text as view
from app.features.attention.result import RankedHead
from app.features.attention.result_views import (
    attention_grid,
    group_shares,
    head_view,
    strongest_links,
)
from app.features.attention.task import attention, in_words, ranked_heads
from app.features.attention.task_cell import cell_arithmetic
from app.features.attention.view import PICTURES, code, screen
from app.words.blocks import join, line
from app.words.notes import cut_note, gaps_note, shuffled_note
from app.words.pictures import Picture, numbers
from app.words.screen import Block, Screen

SLUG = "attention"


def show_head(number: int) -> None:
    """Show a head that was clicked."""
    if number in range(result.layers * result.heads):
        take_head(*divmod(number, result.heads))


def draw_cell() -> None:
    """Show how the number in the pinned cell is computed."""
    if cell is None:
        show_html(line(cells.NO_CELL))
    elif len(heads.places) > 1:
        show_html(line(cells.ONE_HEAD))
    else:
        found = cell_arithmetic(page.engine, result, heads.places[0], *cell)
        if shown.by_word:
            show_html(line(cells.FIRST_PIECES))
        show_html(cells.steps(found))
        show_picture(cells.products(found))
        show_html(cells.softmax_table(found))


def file_picture(which: str) -> Picture:
    """Draw one of the pictures that can be saved."""
    if which == "map":
        return pictures.map_picture(shown, large)
    if which == "grid":
        return pictures.grid_picture(shown, grid, ranked, shown=heads.places)
    return lines.lines_picture(shown, strongest_links(shown, large))


def offer_files() -> None:
    """Put what is shown into the Save menu: pictures on white paper, and the numbers."""
    name, title = view.file_name(large), view.name_of(large.heads, result.heads)

    def drawn(which: str) -> bytes:
        return str(file_picture(which).wide).encode()

    for which, label in PICTURES.items():
        at = name if which == "map" else f"{name}-{which}"
        offer_file(title, f"{label} (SVG)", partial(drawn, which), f"{at}.svg", "image/svg+xml")
    offer_file(title, "Matrix (CSV)", lambda: view.matrix_csv(shown, large), f"{name}.csv")


def on_paper() -> Screen:
    """Say what is shown, with the pinned cell and the shares of two texts."""
    more: list[Block] = []
    if cell is not None and len(heads.places) == 1:
        found = cell_arithmetic(page.engine, result, heads.places[0], *cell)
        more += [cells.steps(found), cells.products(found)]
    if result.is_pair:
        more.append(view.shares_line(group_shares(result, heads)))
    return screen(shown, large, ranked=ranked, more=more)


with page_shell(SLUG) as page:
    with page.give:
        text = text_box(SLUG, "Text", height=72)
        pair = text_box(SLUG, "Second text (optional)", key="text_pair", height=72)
    small = page.settings.container(key="bx-att-small")
    fold = page.settings.expander("Settings", key="set", bind="query-params")
    with fold:
        order = choose_order()
    result = attention(page.engine, text, pair, shuffle=order)
    page.picks["head"] = show_head
    show_html(
        join(
            gaps_note(result.read_as),
            shuffled_note(result.read, result.shuffle),
            cut_note(result.cut),
        )
    )
    with fold:
        by_word = switch(view.WORDS, key="words", hint=view.WORDS_HELP)
        special = switch("Show [CLS] and [SEP]", key="special", default=True)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="bx-att-bar"):
        choose_heads(result)
        how = choose("View", view.VIEW_NAMES, key="view")
    heads = chosen_heads(result)
    shown = in_words(page.engine, result) if by_word else result
    large = head_view(shown, heads, special=special)
    grid = attention_grid(shown, special=special)
    cell = pinned_cell(result)
    ranked: tuple[RankedHead, ...] = ()
    with guarded():
        ranked = ranked_heads(page.engine, result)
    with st.container(gap="xsmall"):
        show_html(view.title(result, heads))
        left, right = st.columns([11, 4], gap="medium")
        with left:
            if how == "lines":
                show_markup(lines.lines_figure(file_picture("lines")), key="head_lines")
            else:
                heat_map(
                    pictures.stage(shown, large),
                    key="head_map",
                    then=take_cell,
                    cell=cell,
                    said=view.short_headline(shown, large),
                )
            show_html(view.selection_note(shown, large))
            if result.is_pair:
                shares = group_shares(result, heads)
                show_html(view.shares_line(shares))
                show_html(numbers(view.shares_table(shares), "attention-between-texts"))
        with right:
            show_html(view.head_list(ranked, heads, result.heads))
    with small:
        show_markup(pictures.head_grid(shown, grid, large), key="bx-att-grid")
        show_html(view.grid_note(grid))
    with guarded():
        draw_cell()
    saved = st.expander("As a picture, with all numbers", key="saved", on_change="rerun",
                        bind="query-params")  # fmt: skip
    if saved.open:
        with saved:
            show_picture(file_picture("lines" if how == "lines" else "map"))
    offer_files()
    page.finish(
        on_paper,
        lambda: code(shown, large, page.engine.provenance.name),
        text=text,
        text_pair=pair,
    )

"""Attention: which piece looks at which, in every layer and head."""

import streamlit as st

from app.features.attention import view as view
from app.features.attention import view_pictures as pictures
from app.features.attention.controls import head_section
from app.features.attention.result import AttentionResult, HeadView, Selection
from app.features.attention.task import (
    attention,
    attention_grid,
    group_shares,
    head_view,
    strongest_links,
)
from app.features.attention.task_habits import compare_head
from app.streamlit_kit import examples_row, page_shell, send_row, show_html, show_table
from app.streamlit_kit.components import show_component
from app.streamlit_kit.controls import choose, level, save_csv, switch, two_parts, two_texts
from app.words.notes import cut_note


def choose_tokens(result: AttentionResult) -> Selection:
    """Ask which tokens are shown, and whether what is left is scaled up."""
    part = choose("Part", view.PART_NAMES, key="part") if result.is_pair else "all"
    special = part == "all" and switch("Show [CLS] and [SEP]", key="special", default=True)
    hides = part != "all" or not special
    scaled = hides and switch(view.SCALE_UP, key="renormalise", hint=view.SCALE_UP_HELP)
    return Selection(special=special, renormalise=scaled, part=part)


def draw_lines(result: AttentionResult, shown: HeadView) -> None:
    """Draw the lines between the words."""
    floor = level("Hide lines weaker than", (0.0, 0.5), key="floor", default=0.05)
    links = strongest_links(result, shown, floor=floor)
    show_component("attention_lines", pictures.lines_picture(result, links), key="lines")
    words = view.describe_links(links)
    show_table(view.links_table(links), alt=words, key="t_lines", title=view.LINES_TABLE)


with page_shell("attention") as page:
    examples_row("attention", page.engine)
    text, pair = two_texts("attention", "Text", "Second text, if you like", hints=view.HINTS)
    result = attention(page.engine, text, pair)
    show_html(cut_note(result.cut))
    with st.container(horizontal=True, gap="medium"):
        layer = choose("Layer, counted from 0", view.layer_names(result), key="layer")
        head = choose("Head, counted from 0", view.head_names(result), key="head")
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        how = choose("View", view.VIEW_NAMES, key="view")
        chosen = choose_tokens(result)
        with st.popover("Colours", icon=":material/palette:"):
            common = choose("Scale", view.SCALE_NAMES, key="scale") == "common"
            palette = choose("Palette", pictures.PALETTE_NAMES, key="palette")
    shown = head_view(result, layer, None if head == view.MEAN else head, chosen)
    grid = attention_grid(result, chosen)
    left, right = two_parts(stacked=len(result.tokens) > view.WIDE)
    with left:
        st.header("Every head", anchor=False)
        drawn = pictures.grid_picture(result, grid, shown, common=common, palette=palette)
        show_component("attention_grid", drawn, key="grid", picks=("layer", "head"))
        show_html(view.grid_note(grid))
        words = view.describe_grid(result)
        show_table(view.patterns_table(result), alt=words, key="t_grid", title=view.AS_NUMBERS)
    with right:
        st.header(view.name_of(layer, shown.head, result.heads), anchor=False)
        show_html(view.headline(result, shown))
        if how == "lines":
            draw_lines(result, shown)
        else:
            drawn = pictures.head_picture(result, shown, common=common, palette=palette)
            show_component("attention_heatmap", drawn, key="head_map")
        show_html(view.selection_note(shown))
        words, title = view.describe_view(result, shown), view.matrix_title(shown)
        show_table(view.matrix_table(shown), alt=words, key="t_map", title=title)
        save_csv("Save these numbers (CSV)", lambda: view.whole_matrix(shown), view.csv_name(shown))
    head_section(lambda: compare_head(page.engine, result, layer, shown.head))
    if result.is_pair:
        st.header("Between the two texts", anchor=False)
        shares = group_shares(result, shown)
        show_html(view.shares_line(shares))
        words = view.describe_shares(shares)
        show_table(view.shares_table(shares), alt=words, key="t_parts", title=view.AS_TABLE)
    send_row("attention", text, text_pair=pair)

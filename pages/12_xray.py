"""X-ray: the whole model at work, and its parts switched off."""

from dataclasses import replace
from functools import partial

import streamlit as st

from app.faces.streamlit import (
    Page,
    guarded,
    page_shell,
    show_html,
    show_picture,
    text_box,
)
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, open_tab, pick_from, text_line
from app.faces.streamlit.features.attention import heat_map
from app.faces.streamlit.features.xray import (
    ANSWER,
    SLUG,
    ask_piece,
    asked_piece,
    follow,
    forget_other_texts,
    is_ranking,
    off,
    open_zoom,
    set_ranking,
    show_patching,
    switchboard,
    zoom,
)
from app.faces.streamlit.progress import progress
from app.faces.streamlit.state import begin_with
from app.features.attention import view_pictures as pictures
from app.features.attention.result import Heads
from app.features.attention.result_views import head_view
from app.features.attention.task import attention
from app.features.attention.view_text import short_headline
from app.features.xray import view
from app.features.xray import view_overview as overview
from app.features.xray import view_switches as switches
from app.features.xray import view_words as words
from app.features.xray import view_zoom as zooms
from app.features.xray.result import Ask, XrayResult
from app.features.xray.task import offered, xray
from app.features.xray.task_ranking import rank_parts
from app.features.xray.task_run import head_notes, text_of
from app.words.blocks import join, line
from app.words.notes import gaps_note
from app.words.screen import Block, Screen

_CANCELLED = "_xray_cancelled"


def draw(page: Page) -> None:
    """Draw the page inside its frame."""
    with page.give:
        kinds = offered(page.engine)
        begin = begin_with(SLUG, "ask", "word" if "word" in kinds or not kinds else kinds[0])
        text = text_box(SLUG, "Text", height=72, first=begin["text"])
        second = st.session_state.get("text_pair", st.query_params.get("text_pair", ""))
        with st.expander("Second text", expanded=bool(second or begin["text_pair"])):
            pair = text_box(
                SLUG,
                "Second text, or the question",
                key="text_pair",
                height=72,
                first=begin["text_pair"],
            )
    forget_other_texts(text, pair)
    model = page.engine.provenance
    board = page.settings.container(key="bx-xr-board")
    rank = is_ranking()
    with page.settings, st.expander("Settings", key="set", bind="query-params"):
        mode = choose("Off means", words.MODES, key="mode")
        lens = choose("Lens", words.LENSES, key="lens")
        followed = text_line("Follow this word or label", key=ANSWER)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="bx-xr-bar"):
        asks: tuple[Ask, ...] = ("auto", *kinds)
        ask = pick_from("Ask", {key: words.ASKS[key] for key in asks}, key="ask")
        heads = {str(head): f"head {head}" for head in range(model.heads)}
        head = pick_from("Threads", {words.MEAN: "mean of heads"} | heads, key="threads")
    if st.session_state.get(_CANCELLED) == (text, pair):
        show_html(line("Cancelled. Change the text, or go on."))
        st.button("Go on", on_click=lambda: st.session_state.pop(_CANCELLED), key="go_on")
        return
    with progress(
        "X-ray",
        "steps",
        least=3,
        cancel=lambda: st.session_state.update({_CANCELLED: (text, pair)}),
    ) as report:
        result = xray(
            page.engine,
            text,
            text_pair=pair,
            ask=ask,
            at=asked_piece(len(page.engine.tokenizer.encode(text, pair))),
            answer=followed,
            off=off(model.layers, model.heads),
            mode=mode,
            lens=lens,
            progress=report,
        )
    page.picks.update(
        {
            "piece": ask_piece,
            "layer": open_zoom,
            "head": lambda number: open_zoom(*zoom(result)[:1], number),
            "back": lambda level: open_zoom(*zoom(result)[:level]),
            "follow": lambda number: follow(result, number),
        }
    )
    show_html(join(gaps_note(result.read_as), words.label_note(result)))
    opened = zoom(result)
    place = st.container(gap="xsmall", key="bx-xr-picture")
    if not opened:  # the picture comes before the ranking, which may take long
        with place:
            show_markup(overview.live(result, head), key="picture")
    with place, guarded():
        if rank:
            stop = partial(set_ranking, on=False)
            with progress("Switching off", "layers", least=1, cancel=stop) as report:
                parts = rank_parts(text_of(page.engine, result), result.question, report)
            result = replace(result, ranking=parts)
    if opened:
        with place:
            draw_zoom(page, result, opened)
    with board:
        switchboard(result, head_notes(page.engine, result))
    shown: tuple[Block, ...] = ()
    with open_tab(SLUG, ["What matters", "Patching"]) as tab, guarded():
        if tab == "Patching":
            shown = show_patching(page, result)
        else:
            draw_ranking(page, result)

    def on_paper() -> Screen:
        screen = view.screen(result, head=head)
        return replace(screen, parts=(*screen.parts, *shown))

    page.finish(
        on_paper,
        lambda: view.snippet(result, model.name),
        text=text,
        text_pair=pair,
    )


def draw_zoom(page: Page, result: XrayResult, opened: zooms.Zoom) -> None:
    """Show the way back, and the heads of a layer, or one head."""
    drawn = zooms.crumbs(opened)
    if len(opened) == 1:
        drawn = join(drawn, zooms.heads_of(result, opened[0], head_notes(page.engine, result)))
    show_markup(drawn, key="picture")  # the same element at every depth, which is replaced at once
    if len(opened) > 1:  # the page “Attention” explains the numbers
        whole = attention(page.engine, result.text, result.pair)
        here = replace(whole, attentions=result.attentions)
        shown = head_view(here, Heads.one(*opened))
        heat_map(pictures.stage(here, shown), key="xray_map", said=short_headline(here, shown))


def draw_ranking(page: Page, result: XrayResult) -> None:
    """Show which parts this answer needs."""
    if not result.ranking:
        st.button(words.MATTERS, key="_rank", on_click=set_ranking, help=switches.RANK_HELP)
        return
    show_html(switches.ranking_line(result))
    show_picture(switches.ranking_picture(result))


with page_shell(SLUG) as shell:
    draw(shell)

"""Model card: what the model is, how well it does, and whether its files are sound."""

import streamlit as st

from app.features.attention.controls import head_map
from app.features.attention.task_habits import head_habits
from app.features.model_card import view as view
from app.features.model_card import view_leanings as leanings
from app.features.model_card import view_verified as verified
from app.features.model_card.result import ModelCardResult
from app.features.model_card.task import model_card, verify_model
from app.features.model_card.view_curves import curve
from app.features.model_card.view_text import draw_section, sections
from app.streamlit_kit import Page, guarded, page_shell, show_chart, show_html
from app.streamlit_kit.about import model_facts
from app.streamlit_kit.controls import on_demand, save_csv
from app.words.html import join, plain


def draw_figures(card: ModelCardResult) -> None:
    """Draw the measured figures next to their targets."""
    st.header("How well it does", anchor=False)
    show_html(view.no_figures(card))
    if figures := card.figures:
        show_html(view.figures_table(figures))
        show_html(join(view.figures_note(card), view.meanings(figures)))
        fig, table = view.figures_chart(figures), view.frame(figures)
        show_chart(fig, alt=view.describe(figures), table=table, key="figures")
        save_csv("Save these figures (CSV)", lambda: view.frame(figures), "figures.csv")


def draw_check(page: Page, card: ModelCardResult) -> None:
    """Offer to compare the files with the stored reference, and draw the verdict."""
    st.header("Verify this model", anchor=False)
    show_html(verified.offer(card.verifiable))
    if not card.verifiable:
        return
    known = page.engine.provenance
    with guarded():
        found = on_demand(
            "Verify this model", lambda: verify_model(page.engine), key="_verify",
            about=(known.name, known.fingerprint), icon=":material/verified_user:",
        )  # fmt: skip
        if found:
            show_html(verified.report(found))


def draw_bias(card: ModelCardResult) -> None:
    """Draw which of two words the model leans towards."""
    if found := card.bias:
        st.header("What it takes for granted", anchor=False)
        show_html(join(leanings.summary(found), leanings.note(found)))
        fig, words = leanings.chart(found), leanings.describe(found)
        show_chart(fig, alt=words, table=leanings.table(found), key="bias")


def draw(page: Page) -> None:
    """Draw the page inside its frame."""
    card = model_card(page.engine)
    show_html(view.trouble(card))
    st.header("What it is", anchor=False)
    model_facts(page.engine)
    draw_figures(card)
    draw_check(page, card)
    st.header("Where its heads look", anchor=False)
    with guarded():
        head_map(head_habits(page.engine), page.engine.provenance.name)
    draw_bias(card)
    if card.pictures:
        st.header("How it learned", anchor=False)
        show_html(join(*(curve(name, svg) for name, svg in card.pictures)))
    st.header("The card in its makers' words", anchor=False)
    show_html(view.card_note(card))
    for part in sections(card.text):
        with st.expander(plain(part.title)) if part.title else st.container():
            show_html(draw_section(part))


with page_shell("model_card") as shell:
    draw(shell)

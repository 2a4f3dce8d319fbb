"""Model card: what the model is, how well it does, and whether its files are sound."""

from collections.abc import Callable

import streamlit as st

from app.faces.streamlit import Page, guarded, page_shell, show_html
from app.faces.streamlit.about import heads, identity, sizes
from app.faces.streamlit.controls import on_demand, open_tab, save_table
from app.features.model_card import view, view_biases, view_verified
from app.features.model_card.result import ModelCardResult, Verified
from app.features.model_card.task import model_card, temperatures, verify_model
from app.words.blocks import facts
from app.words.html import join
from app.words.notes import holdings


def draw_check(page: Page, card: ModelCardResult) -> None:
    """Offer to compare the files with the stored reference, and draw the verdict."""
    found: Verified | None = None
    known = page.engine.provenance
    with guarded():
        if card.verifiable:
            found = on_demand(
                "Verify this model", lambda: verify_model(page.engine), key="_verify",
                about=(known.name, known.fingerprint), icon=":material/verified_user:",
            )  # fmt: skip
    show_html(view_verified.verdict(found) if found else view_verified.offer(card.verifiable))
    if found:
        show_html(view_verified.report(found))


def draw_able(page: Page, card: ModelCardResult) -> None:
    """Draw what the model can and cannot, what it was trained for, and the text of its card."""
    show_html(view.able(card.figures))
    with st.expander("What it was trained for"):
        show_html(holdings(heads(page.engine.facts), page.engine.facts.left_over))
    show_html(view.card_text(card))


def draw_calibration(page: Page, card: ModelCardResult) -> None:
    """Draw how far the percentages of each kind of answer can be trusted."""
    errors = view.of_calibration(card.figures)
    show_html(join(view.calibration_note(errors), view.errors_table(errors)))
    show_html(view.temperatures_table(temperatures(page.engine)))


def draw_compared(page: Page, card: ModelCardResult) -> None:
    """Draw the model compared with BERT base."""
    show_html(view.compared(card.beside))


DRAWS: dict[str, Callable[[Page, ModelCardResult], None]] = {
    view.ABLE: draw_able,
    view.CALIBRATION: draw_calibration,
    view.COMPARED: draw_compared,
}

with page_shell("model_card") as shell:
    found = model_card(shell.engine)
    show_html(view.trouble(found))
    left, right = st.columns([1, 2], gap="large")
    with left, st.container(key="bx-what"):
        draw_check(shell, found)
        known = shell.engine.provenance
        rows = identity(known) + sizes(shell.engine.facts)[:1]
        show_html(facts(rows, "What this model is"))
        show_html(view_biases.short(found.bias))
    with right, open_tab("model_card", view.TABS) as now:
        DRAWS[now](shell, found)
    if found.figures:
        save_table("Figures", lambda: view.figures_table(found.figures), "figures")
    shell.finish(lambda: view.screen(found), lambda: view.snippet(found, known.name))

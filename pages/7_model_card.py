"""Model card: what the model is, how well it does, and whether its files are sound."""

import streamlit as st

from app.faces.streamlit import Page, guarded, page_shell, show_html
from app.faces.streamlit.about import heads, identity, sizes
from app.faces.streamlit.controls import on_demand, open_tab, save_table
from app.features.model_card import view, view_verified
from app.features.model_card.result import ModelCardResult, Verified
from app.features.model_card.task import model_card, temperatures, verify_model
from app.words.blocks import facts, join
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


with page_shell("model_card") as shell:
    found = model_card(shell.engine)
    show_html(view.trouble(found))
    left, right = st.columns([1, 2], gap="large")
    with left, st.container(key="bx-what"):
        draw_check(shell, found)
        known = shell.engine.provenance
        rows = identity(known) + sizes(shell.engine.facts)[:1]
        show_html(facts(rows, "What this model is"))
        show_html(view.biases(found.bias))
    with right, open_tab("model_card", view.TABS) as now:
        if now == view.ABLE:
            show_html(view.able(found.figures))
            with st.expander("What it was trained for"):
                show_html(holdings(heads(shell.engine.facts), shell.engine.facts.left_over))
            show_html(view.card_text(found))
        elif now == view.CALIBRATION:
            errors = view.of_calibration(found.figures)
            show_html(join(view.calibration_note(errors), view.errors_table(errors)))
            show_html(view.temperatures_table(temperatures(shell.engine)))
        else:
            show_html(view.compared(found.beside))
    if found.figures:
        save_table("Figures", lambda: view.figures_table(found.figures), "figures")
    shell.finish(lambda: view.screen(found), lambda: view.snippet(found, known.name))

"""Model card: what the model is, how well it does, and whether its files are sound."""

from collections.abc import Callable, Sequence

import streamlit as st

from app.faces.streamlit import Page, guarded, page_shell, show_html, show_picture
from app.faces.streamlit.about import heads, identity, sizes, version
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import on_demand, open_tab
from app.faces.streamlit.features.attention import head_map
from app.features.attention.task_habits import head_habits
from app.features.model_card import view as view
from app.features.model_card import view_leanings as leanings
from app.features.model_card import view_text, view_verified
from app.features.model_card.result import ModelCardResult, Verified
from app.features.model_card.task import model_card, temperatures, verify_model
from app.features.model_card.view_curves import curve
from app.features.model_card.view_text import Section
from app.words.blocks import facts
from app.words.html import join, plain
from app.words.notes import holdings


def draw_check(page: Page, card: ModelCardResult) -> Verified | None:
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
    return found


def draw_figures(card: ModelCardResult) -> None:
    """Draw the figures of the tasks as bars, and the table of all figures."""
    show_html(view.no_figures(card))
    shown = view.of_tasks(card.figures) or card.figures
    if shown:
        show_html(view.legend(card.figures))
        show_picture(view.figures_picture(shown, "figures"))
        with st.expander(f"All {len(card.figures)} figures"):
            show_html(view.figures_table(card.figures))
            show_html(join(view.figures_note(card), view.meanings(card.figures)))


def draw_trained(page: Page) -> None:
    """Draw what the model was trained for, and its sizes."""
    known = page.engine.facts
    show_html(holdings(heads(known), known.left_over))
    more = sizes(known) + version(page.engine.provenance)
    show_html(facts(more, "Sizes of this model", class_="bx-facts"))


def draw_calibration(page: Page, card: ModelCardResult) -> None:
    """Draw how far the percentages of each kind of answer can be believed."""
    errors = view.of_calibration(card.figures)
    show_html(view.calibration_note(errors))
    show_html(view.temperatures_table(temperatures(page.engine)))
    if errors:
        show_picture(view.figures_picture(errors, "calibration"))
        show_html(view.stated_table(errors))


def draw_leanings(card: ModelCardResult) -> None:
    """Draw which of two words the model leans towards."""
    if card.bias is None:
        show_html(leanings.unknown())
        return
    show_html(join(leanings.note(card.bias), leanings.summary(card.bias)))
    show_html(leanings.legend(card.bias))
    show_picture(leanings.chart(card.bias))


def draw_training(card: ModelCardResult) -> None:
    """Draw the learning curves, and what the card says about data and recipe."""
    for name, svg in card.pictures:
        show_markup(curve(name, svg), key=f"picture-{name}")
    draw_sections(view_text.titled(card.text, ("Data", "Training", "Recipe")))


def draw_heads(page: Page) -> None:
    """Draw where every head usually looks."""
    with guarded():
        head_map(head_habits(page.engine), page.engine.provenance.name, page.picks)


def draw_text(card: ModelCardResult) -> None:
    """Draw the card as its makers wrote it."""
    show_html(view.card_note(card))
    draw_sections(view_text.sections(card.text))


def draw_sections(parts: Sequence[Section]) -> None:
    """Draw sections of the card, each folded under its title if it has one."""
    for part in parts:
        with st.expander(plain(part.title)) if part.title else st.container():
            show_html(view_text.draw_section(part))


def draw_tabs(page: Page, card: ModelCardResult, checked: Verified | None) -> None:
    """Draw the parts of the card; only the open one is computed."""
    draws: tuple[Callable[[], None], ...] = (
        lambda: draw_figures(card),
        lambda: draw_calibration(page, card),
        lambda: draw_leanings(card),
        lambda: show_html(view_text.limits(card.text)),
        lambda: draw_training(card),
        lambda: draw_heads(page),
        lambda: draw_trained(page),
        lambda: show_html(view.beside_table(card.beside)),
        lambda: show_html(view_verified.report(checked)),
        lambda: draw_text(card),
    )
    with open_tab("model_card", view.TABS) as now:
        draws[view.TABS.index(now)]()


with page_shell("model_card") as shell:
    found = model_card(shell.engine)
    show_html(view.trouble(found))
    left, right = st.columns([1, 2], gap="large")
    with left, st.container(key="bx-what"):
        verdict = draw_check(shell, found)
        known = identity(shell.engine.provenance)
        show_html(facts(known, "What this model is"))
    with right:
        draw_tabs(shell, found, verdict)
    shell.finish(lambda: view.screen(found), lambda: view.snippet(shell.engine.provenance.name))

"""The view of an explanation, on its own page and in a fold below the answers it explains."""

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import streamlit as st

from app.catalog import FOLDER, feature
from app.engine.compute.visitor import Visit, current_visit, visiting
from app.faces.streamlit import Page, guarded, set_text, show_html, show_picture
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, pick_from
from app.faces.streamlit.progress import progress
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.why import view, view_check
from app.features.why.result import Of, WhyResult
from app.features.why.task import why
from app.features.why.task_asked import MASK, Asked, asked
from app.words.format import shortened
from app.words.html import join, plain, stylesheet
from bert_core.reading.gaps import hide_word, read_signs

SLUG = "why"
# What is shown, and what computes its test, too, for a file, as the same visitor.
Reasons = tuple[WhyResult, Callable[[], WhyResult]]
TEST = "Is this true to the model? Hide the words and see"
_STYLE = FOLDER / "why" / "style.css"
_CHEAP = 40  # tokens of a text that is explained without being asked
_KEYS = ("why_method", "why_target", "why_place")
_GO = "_why_go"  # the long text that the visitor has asked to be explained
_WHICH: dict[Of, str] = {
    "fill_mask": "Why this word?",
    "qa": "Which end of the answer?",
    "next_sentence": "Why this verdict?",
    "classification": "Why this label?",
}


def explains(slug: str) -> Of | None:
    """Return whose answer is explained below that of a page; None if it has no explanation."""
    return next((of for of in get_args(Of) if of == slug), None)


def why_fold(page: Page, of: Of, text: str, pair: str = "") -> None:
    """Draw a fold that explains the answer of a page; it computes only when it is open."""
    row = feature(SLUG)
    fold = st.expander(
        "Why this answer?", key="why", icon=row.icon, on_change="rerun", bind="query-params"
    )
    if not fold.open:
        return
    with fold, guarded():
        show_html(stylesheet(_STYLE.read_text(encoding="utf-8")))
        explain(page, of, text, pair)
    if st.session_state.get(ON_SITE) and fold.button(
        "Open as a page", key="_why_page", icon=":material/open_in_new:", type="tertiary"
    ):
        chosen = {key: st.query_params[key] for key in _KEYS if key in st.query_params}
        leave_for(row, {"text": text, "text_pair": pair}, {"of": of, **chosen})


def offer_gap(text: str) -> None:
    """Offer to hide a word of a text that has no gap, which fill-mask needs."""
    hidden, word = hide_word(read_signs(text)[0])
    if word and MASK not in read_signs(text)[0]:
        name = plain(shortened(word, 24))
        st.button(f"Hide “{name}”", key="_hide", on_click=set_text, args=(SLUG, hidden))


def explain(page: Page, of: Of, text: str, pair: str) -> Reasons | None:
    """Draw the choices and the text with its scores; below, in a fold, whether they are true.

    The test is computed when the fold is opened.

    Returns:
        What was found; None if the visitor must ask for it first, as a long text takes seconds.
    """
    top = st.container()
    one, place, target = _choose(page, of, text, pair)
    method = choose("Method", view_check.NAMES, key="why_method")
    options: dict[str, Any] = {"of": of, "target": target, "place": place, "method": method}
    compute = partial(why, page.engine, text, pair, **options)
    about = (page.engine.provenance.fingerprint, one.encoding.input_ids, one.target)
    long = len(one.encoding) > _CHEAP
    with top:
        if long and st.session_state.get(_GO) != about:
            st.button(
                f"Explain this text ({len(one.encoding)} tokens)",
                key="_why_explain",
                icon=":material/play_arrow:",
                on_click=lambda: st.session_state.update({_GO: about}),
            )
            return None
        with progress(
            "Scoring", "passes", cancel=(lambda: st.session_state.pop(_GO, None)) if long else None
        ) as report:
            result = compute(check=False, progress=report)
        show_html(join(view.before(result), view.answer(result)))
        show_markup(view.text(result), key="picture-why")
    show_html(view.sums(result))
    visit = current_visit()

    def whole() -> WhyResult:
        with visiting(Visit(visit.name, network=visit.network)):
            return compute()

    reasons = result, whole
    if not result.explained.unit:  # a score has no probability that could fall
        return reasons
    fold = st.expander(TEST, key="why_test", on_change="rerun", bind="query-params")
    if fold.open:
        with fold, guarded():
            with progress("Comparing", "passes") as report:
                result = compute(progress=report)
            assert result.check is not None
            show_markup(view_check.verdict(result.check), key="verdict")
            show_html(view_check.explanation(result.check))
            show_picture(view_check.curves(result, result.check))
    return reasons


def _choose(page: Page, of: Of, text: str, pair: str) -> tuple[Asked, int, str]:
    one, place = asked(page.engine, of, text, pair, "", 1), 1
    if len(one.named) > 1:
        names = {n: f"{n}: {name}" for n, name in enumerate(one.named, 1)}
        which = "Which mask?" if of == "fill_mask" else "Which name?"
        place = pick_from(which, names, key="why_place")
        one = asked(page.engine, of, text, pair, "", place)
    if len(one.others) < 2:
        return one, place, ""
    options = {each: plain(each) for each in dict.fromkeys((one.chosen, *one.others))}
    target = choose(_WHICH[of], options, key="why_target")
    return asked(page.engine, of, text, pair, target, place), place, target

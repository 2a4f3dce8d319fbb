"""The view of an explanation, on its own page and in a fold below the answers it explains."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import FOLDER, feature
from app.engine.compute.visitor import Visit, current_visit, visiting
from app.faces.streamlit import Page, guarded, set_text, show_html, show_picture
from app.faces.streamlit.components import show_markup
from app.faces.streamlit.controls import choose, long_work, open_tab, pick_from
from app.faces.streamlit.progress import Progress, progress
from app.faces.streamlit.state import ON_SITE, leave_for
from app.features.why import view as view
from app.features.why import view_duel
from app.features.why.result import METHODS, Method, Of, Operator, WhyResult
from app.features.why.task import Baseline, one_story, why
from app.features.why.task_asked import MASK, Asked, asked
from app.features.why.task_texts import MOST_TEXTS, Row, duels, explained_of, summary
from app.words.format import shortened
from app.words.html import join, plain, stylesheet
from bert_core.reading.gaps import hide_word, read_signs

SLUG = "why"
TEST = "Is this true to the model? Hide the words and see"
TEXTS = f"{MOST_TEXTS} texts"
TABS = ("Curves", "All methods", TEXTS, "This model")
_STYLE = FOLDER / "why" / "style.css"
_CHEAP = 40  # tokens of a text that is explained without being asked
_KEYS = ("why_method", "why_target", "why_place")
_ROWS = "_why_rows"
_METHOD_NAMES: dict[Method, str] = {
    each: (view_duel.NAMES if each == METHODS[0] else view_duel.SHORT)[each] for each in METHODS
}
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
    """Draw a fold that explains the answer of a page; it computes only when it is open.

    Args:
        page: the page of the answer.
        of: whose answer it is.
        text: the text in its first box; for question answering the passage.
        pair: the question, or the second text.
    """
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


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a page shows of an explanation.

    Attributes:
        shown: what has been computed.
        whole: computes what has not, for a file.
    """

    shown: WhyResult
    whole: Callable[[], WhyResult]


def explain(
    page: Page,
    of: Of,
    text: str,
    pair: str,
    *,
    baseline: Baseline = "[MASK]",
    operator: Operator = "mask",
) -> Reasons | None:
    """Draw the choices and the text with its scores; below, in a fold, the duel of the methods.

    Only the chosen method is computed until the fold is opened.

    Returns:
        What was found; None if the visitor must ask for it first, as a long text takes seconds.
    """
    top = st.container()
    one, place, target = _choose(page, of, text, pair)
    method = choose("Method", _METHOD_NAMES, key="why_method")
    given: dict[str, Any] = {"of": of, "target": target, "place": place, "baseline": baseline}

    def compute(told: Progress) -> WhyResult:
        found = why(page.engine, text, pair, **given, operator=operator, progress=told)
        return replace(found, method=method)

    long = len(one.encoding) > _CHEAP
    with top:
        if long:
            about = (page.engine.provenance.fingerprint, one.encoding.input_ids, one.target)
            result = long_work(
                f"Explain this text ({len(one.encoding)} tokens)",
                compute,
                key="_why_go",
                about=(*about, baseline, operator),
                things="passes",
            )
            if result is None:
                return None
            result = replace(result, method=method)
        else:
            with progress("Scoring", "passes") as told:
                result = one_story(
                    page.engine, text, pair, **given, method=method, progress=told
                )  # fmt: skip
        show_html(join(view.before(result), view.headline(result)))
        show_picture(view.text(result))
    show_html(view.sums(result))
    if not result.explained.unit:  # a score has no probability that could fall
        return Reasons(result, _for_a_file(result, compute))
    fold = st.expander(
        TEST, key="why_test", on_change="rerun", bind="query-params",
        expanded=long or "why_tab" in st.query_params,
    )  # fmt: skip
    if fold.open:
        with fold, guarded():
            if result.duel is None:
                with progress("Comparing", "passes") as told:
                    result = compute(told)
            result = _duel(page, result, operator)
    return Reasons(result, _for_a_file(result, compute))


def _for_a_file(
    result: WhyResult, compute: Callable[[Progress], WhyResult]
) -> Callable[[], WhyResult]:
    """Return a function that computes the rest when a file is asked for, as the same visitor."""
    visit = current_visit()

    def whole() -> WhyResult:
        if result.duel is not None:
            return result
        with visiting(Visit(visit.name, network=visit.network)):
            return compute(lambda *_: None)

    return whole


def _choose(page: Page, of: Of, text: str, pair: str) -> tuple[Asked, int, str]:
    """Let the visitor choose the mask or name, and the number that is explained."""
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


def _duel(page: Page, result: WhyResult, operator: Operator) -> WhyResult:
    """Draw the verdict, and the open tab; return the result with the duel over texts, if any."""
    assert result.duel is not None
    show_markup(view.verdict(result, result.duel), key="verdict")
    with open_tab(SLUG, TABS, key="why_tab") as now:
        if now == "Curves":
            show_html(view.duel_note(result.duel))
            show_picture(view_duel.curves(result, result.duel))
        elif now == "All methods":
            show_picture(view_duel.ranking(result, result.duel))
            show_picture(view.methods(result))
        elif now == TEXTS:
            many = _over_texts(page, result.of, operator)
            result = replace(result, many=summary(result.of, many) if many else None)
            if result.many is not None and result.many.texts:
                show_picture(view_duel.figures(result.many, "why-texts", result.method))
            show_html(view.many_note(result.many, result.of))
        else:
            show_html(view.measured_note(result.measured))
            if result.measured is not None:
                show_picture(view_duel.figures(result.measured, "why-measured", result.method))
    return result


def _over_texts(page: Page, of: Of, operator: Operator) -> list[Row]:
    """Draw the button that compares over shipped texts, and one that cancels; return the rows.

    Cancelling keeps the rows; the button then continues.
    """
    about = (page.engine.provenance.fingerprint, explained_of(of), operator)
    kept: tuple[object, list[Row], list[bool]] = st.session_state.get(_ROWS, (None, [], []))
    rows, ended = kept[1:] if kept[0] == about else ([], [])
    st.session_state[_ROWS] = (about, rows, ended)
    place = st.empty()
    if ended or not _begin(place, rows):
        return rows
    before = len(rows)
    with guarded():
        with place.container():
            st.button("Cancel", key="_why_texts_cancel", icon=":material/close:")
            with progress("Comparing", "texts") as told:
                for row in duels(page.engine, of, operator, told, done=tuple(rows)):
                    rows.append(row)
                    if len(rows) == MOST_TEXTS:
                        break
        ended.append(True)
    place.empty()
    if not ended and len(rows) > before:  # a limit of the site was reached
        _begin(place, rows)
    return rows


def _begin(place: DeltaGenerator, rows: list[Row]) -> bool:
    """Draw the button that begins or continues; return whether it was pressed."""
    label = f"Continue after {len(rows)}" if rows else f"Compare over {MOST_TEXTS} shipped texts"
    return place.button(label, key=f"_why_texts_{len(rows)}", icon=":material/play_arrow:")

"""The model picker: drawn on every page, kept in the address, shared by all pages."""

from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from app.catalog import FEATURES
from app.engine.models import Engine, Offer, default_offer, is_open, offers, open_engine
from app.engine.models.copies import HubId
from app.engine.models.fit import KNOWS_NOTHING, Misfit, Severity, misfits
from app.engine.models.hub import copy_here, parse_hub_id
from app.engine.models.usable import another_fitting, refusals
from app.faces.streamlit.controls import switch
from app.faces.streamlit.hub_dialog import (
    arrived,
    begin_with,
    curated_list,
    forget_answer,
    hub_dialog,
    may_download,
)
from app.faces.streamlit.show import show_html
from app.settings import Visitors, settings
from app.words.blocks import facts, fold, note, plain
from app.words.format import count
from app.words.notes import misfit_note
from bert_core.errors import BertError, InputError

MODEL = "model"  # the key of the choice, in the session and in the address

_KEPT = "_kept_model"  # the page last seen and the model chosen on it
_UNKNOWN = "_unknown_model"
_SHOWN = 60  # characters shown of a name that a visitor typed


def model_picker(page: str) -> Offer:
    """Draw the picker and return the chosen model.

    A name that is not on offer is ignored: the page says so and uses the default model.
    """
    table = offers()
    _bring_choice(page, table)
    if (name := arrived()) in table:  # the model that the visitor was waiting for
        use_model(name)
    asked = st.session_state.get(MODEL, st.query_params.get(MODEL))
    if asked is not None and asked not in table:
        _look_for(str(asked))
    first = next(iter(table))
    name = str(st.session_state.get(MODEL, asked if asked in table else first))
    refused = refusals(table)
    with st.popover(plain(name), icon=":material/deployed_code:", key="bx-model"):
        chosen: str = st.selectbox(
            "Model",
            [each for each in table if each not in refused or each in (first, name)],
            key=MODEL,
            on_change=_settle,
            filter_mode="contains",
            bind="query-params",
            persist_state="session",
        )
        if refused:
            title = f"Cannot be used: {count(len(refused), 'folder')}"
            show_html(fold(title, facts(list(refused.items()), title)))
        by_id = settings().hub is not Visitors.NONE
        if by_id and st.button("By Hub id", icon=":material/search:", key="_by_hub_id"):
            forget_answer()
            hub_dialog()
        if by_id:
            curated_list(table)
    st.session_state[_KEPT] = (page, chosen)
    return table.get(chosen, table[first])  # a forged message can name anything


def _bring_choice(page: str, table: dict[str, Offer]) -> None:
    """Carry the choice over from the previous page, in the address as well.

    Streamlit does this itself, except for a value that came from the address: it forgets that one
    at the first change of pages. Until the widget is drawn, its key in the address is free.
    """
    before, kept = st.session_state.get(_KEPT, (page, None))
    if before == page or kept not in table or MODEL in st.query_params:
        return
    st.session_state[MODEL] = kept
    if kept != next(iter(table)):
        with suppress(StreamlitAPIException):  # the widget of the page before still holds it
            st.query_params[MODEL] = kept


def _look_for(asked: str) -> None:
    wanted = _as_hub_id(asked)
    found = copy_here(wanted) if wanted else None
    if found is not None:
        st.session_state[MODEL] = found.name
        if st.query_params.get(MODEL) != found.name:
            # The widget would find the other name in the address, and take it out.
            with suppress(StreamlitAPIException):  # a widget that was drawn before still holds it
                st.query_params[MODEL] = found.name
                st.rerun()
        return
    st.session_state[_UNKNOWN] = asked
    st.session_state.pop(MODEL, None)


def _as_hub_id(asked: str) -> HubId | None:
    try:
        return parse_hub_id(asked)
    except InputError:
        return None


def unknown_model_note(used: Offer) -> None:
    """Tell the visitor if the address asked for a model that is not on offer."""
    asked = st.session_state.get(_UNKNOWN)
    if asked is None:
        return
    name = asked if len(asked) <= _SHOWN else f"{asked[:_SHOWN]}…"
    why = refusals().get(asked, "")
    st.warning(
        plain(
            f"The address asks for the model “{name}”, which this server does not offer. "
            f"{f'{why} ' if why else ''}{used.name} is used instead; your text is unchanged."
        ),
        icon=":material/travel_explore:",
    )
    wanted = _as_hub_id(asked)
    if wanted is None or settings().hub is Visitors.NONE or not may_download():
        return
    if st.button(f"Look for {plain(str(wanted))} on the Hub", key="_look_up"):
        begin_with(wanted)
        hub_dialog()


def use_model(name: str) -> None:
    """Choose a model by name; call this before the picker is drawn."""
    st.session_state[MODEL] = name
    _settle()


def open_chosen(offer: Offer) -> Engine:
    """Load a model if necessary, with a message for the waiting visitor.

    An untrained model is announced before any of its answers.

    Raises:
        BertError: it cannot be loaded; a button that leads back is drawn first.
    """
    try:
        if is_open(offer):
            engine = open_engine(offer)
        else:
            with st.spinner(f"Loading {plain(offer.name)} …", show_time=True):
                engine = open_engine(offer)
    except BertError:
        first = default_offer()
        if first.source != offer.source:
            _offer_instead(next(iter(offers())))
        raise
    if engine.facts.untrained:
        show_html(note(KNOWS_NOTHING, caution=True))
    return engine


def suits(engine: Engine, needs: tuple[str, ...]) -> bool:
    """Show the reasons against using this model here; return False if it cannot answer.

    If only training is missing, the visitor may ask to see what random weights answer.
    """
    found = misfits(engine.facts, needs)
    for misfit in found:
        noise = misfit.severity is Severity.NOISE
        show_html(misfit_note(misfit.says, misfit.names, grave=_is_grave(misfit), noise=noise))
    if not found:
        return True
    better = another_fitting(st.session_state[MODEL], needs)
    if better is not None:
        _offer_instead(better)
    elif _is_grave(found[0]):
        st.caption("No other model on this server suits this page.")
    if _is_grave(found[0]):
        curated_list(offers(), needs)
    if found[0].severity is Severity.NOISE:
        return switch("Show the answers of its random weights", key="noise")
    return found[0].severity is Severity.REMARK


def only_tabs(engine: Engine, slug: str) -> bool:
    """Return whether a model lacks the head of a page, but has that of one of its tabs."""
    rows = [row for row in FEATURES if row.needs and slug in (row.slug, row.tab_of)]
    able = {row.slug: not any(map(_is_grave, misfits(engine.facts, row.needs))) for row in rows}
    return not able.get(slug, True) and any(able.values())


def _is_grave(misfit: Misfit) -> bool:
    return misfit.severity is not Severity.REMARK


def _offer_instead(name: str) -> None:
    st.button(
        f"Use {plain(name)} instead",
        key="_use_instead",
        icon=":material/swap_horiz:",
        on_click=use_model,
        args=(name,),
    )


def _settle() -> None:
    st.session_state.pop(_UNKNOWN, None)
    forget_answer()

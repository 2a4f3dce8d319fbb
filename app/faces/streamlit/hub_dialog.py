"""The dialog for models from the Hugging Face Hub, and the progress of downloads on every page.

The dialog contacts the Hub only when its button is pressed, and downloads only when a second
button is. The process owns the download (`app.engine.models.downloads`), so pages stay usable
meanwhile.
"""

from collections.abc import Callable, Collection

import streamlit as st

from app.engine.models.copies import HubId, note
from app.engine.models.curated import CURATED
from app.engine.models.downloads import DOWNLOADS, State, Ticket
from app.engine.models.hub import copy_here, look_up, not_here, parse_hub_id
from app.engine.models.shelf import Offer
from app.faces.streamlit.show import show_html
from app.faces.streamlit.visitor import is_among
from app.settings import settings
from app.words.blocks import facts, plain
from bert_core.checkpoints.sources.cache import size_text
from bert_core.checkpoints.sources.hub import DownloadPlan
from bert_core.errors import BertError, InputError, count

_NAME = "_hub_id"
_ANSWER = "_hub_answer"
_ARRIVED = "_hub_arrived"  # the model to use now
_TICKET = "_hub_ticket"
_NOTE = "_hub_note"  # how a download ended, if not well
_ASK_EVERY = 1.0  # seconds


_Answer = str | DownloadPlan | Offer  # a refusal, what would be downloaded, or a model that is here


def may_download() -> bool:
    """Return whether this visitor may make the server download a model.

    By default only visitors on this machine may: strangers could fill its disk and connection.
    """
    return is_among(settings().hub)


def forget_answer() -> None:
    """Discard the last answer about an id."""
    st.session_state.pop(_ANSWER, None)


def arrived() -> str | None:
    """Return the name of a newly arrived model to use now, and clear it."""
    name = st.session_state.pop(_ARRIVED, None)
    return name if isinstance(name, str) else None


def begin_with(wanted: HubId) -> None:
    """Prefill the dialog before it is opened."""
    forget_answer()
    st.session_state[_NAME] = str(wanted)


@st.dialog("A model from the Hugging Face Hub")
def hub_dialog() -> None:
    """Ask for an id on the Hub, look it up, and offer to download the model if it is not here."""
    with st.form("_hub", border=False):
        name = st.text_input(
            "Id on the Hub", key=_NAME, placeholder="google-bert/bert-base-uncased", max_chars=330,
            help="A revision follows after @.",
        )  # fmt: skip
        asked = st.form_submit_button("Look it up")
    if asked:
        forget_answer()
        with st.spinner("Asking the Hub …"):
            st.session_state[_ANSWER] = _answer(name)
    _act(st.session_state.get(_ANSWER, ""), _propose)


def curated_list(table: dict[str, Offer], needs: Collection[str] = ()) -> None:
    """Offer published models that are not here yet; a click starts the download."""
    if not may_download():
        return
    missing = [
        each
        for each in CURATED
        if set(needs) <= set(each.heads) and copy_here(each.wanted, table) is None
    ]
    if not missing:
        return
    st.caption("Download from the Hugging Face Hub and use:")
    for each in missing:
        licence = each.licence or "no licence stated"
        label = f"{each.wanted.name.partition('/')[2]}: {each.can} ({each.megabytes} MB, {licence})"
        if st.button(plain(label), key=f"_get_{each.wanted.name}_{len(needs)}", type="tertiary"):
            with st.spinner("Asking the Hub …"):
                answer = _answer(str(each.wanted))
            _act(answer, _go)


def _act(answer: _Answer, download: Callable[[DownloadPlan], None]) -> None:
    """Use a model that is here, download one, or say why not."""
    if isinstance(answer, Offer):
        st.session_state[_ARRIVED] = answer.name
        forget_answer()
        st.rerun()
    elif isinstance(answer, DownloadPlan):
        download(answer)
    elif answer:
        st.info(plain(answer))


def _answer(name: str) -> _Answer:
    try:
        wanted = parse_hub_id(name)
        found = copy_here(wanted)
        if found is None and not may_download():
            return not_here(wanted)
        if found is None:
            plan = look_up(wanted)
            if plan.bytes:
                return plan
            note(plan.folder, plan.revision)  # all its files are here, under another revision
            found = copy_here(wanted)
        return found or not_here(wanted)
    except BertError as error:
        return str(error)


def _propose(plan: DownloadPlan) -> None:
    rows = [("Model", plan.name), ("Revision", plan.revision), ("Commit", plan.commit[:12])]
    rows += [("Size", f"{size_text(plan.total_bytes)} in {count(len(plan.files), 'file')}")]
    if plan.bytes < plan.total_bytes:
        rows += [("Already here", size_text(plan.total_bytes - plan.bytes))]
    show_html(facts(rows, "What would be downloaded"))
    if st.button(f"Download {size_text(plan.bytes)} and use it", key="_hub_go"):
        _go(plan)


def _go(plan: DownloadPlan) -> None:
    leave_download()
    try:
        st.session_state[_TICKET] = DOWNLOADS.join(plan)
    except InputError as error:
        st.info(plain(str(error)))
        return
    st.session_state.pop(_NOTE, None)
    forget_answer()
    st.rerun()


def download_strip() -> None:
    """Show the download this visitor is waiting for, or how it ended; nothing if there is none.

    Its place is always reserved. Otherwise the content below would move, and appear twice until
    the page is done.
    """
    with st.empty().container():
        if _TICKET in st.session_state:
            _strip()
        elif _NOTE in st.session_state:
            with st.container(key="bx-download"):
                st.info(plain(st.session_state[_NOTE]), icon=":material/cloud_off:")
                st.button(
                    "Dismiss", key="_hub_dismiss", on_click=st.session_state.pop, args=(_NOTE,)
                )


@st.fragment(run_every=_ASK_EVERY)
def _strip() -> None:
    ticket = st.session_state.get(_TICKET)
    if not isinstance(ticket, Ticket):
        st.rerun()  # cancelled, or a late timer: the page goes on without it
    status = ticket.ask()
    if status.state is State.RUNNING:
        share = min(1.0, status.done / status.total) if status.total else 0.0
        done, total = size_text(status.done), size_text(status.total)
        with st.container(
            horizontal=True, vertical_alignment="center", gap="medium", key="bx-download"
        ):
            st.progress(share, text=plain(f"Downloading {status.model}: {done} of {total}"))
            st.button("Cancel", key="_hub_cancel", on_click=leave_download)
        return
    del st.session_state[_TICKET]
    if status.state is State.DONE:
        st.session_state[_ARRIVED] = status.offer
    else:
        st.session_state[_NOTE] = status.says
    st.rerun()


def leave_download() -> None:
    """Stop waiting for a download; the last visitor to leave cancels it."""
    ticket = st.session_state.pop(_TICKET, None)
    if not isinstance(ticket, Ticket):
        return
    model = ticket.ask().model
    if ticket.leave():
        says = f"The download of {model} continues for others who are waiting for it."
    else:
        says = f"The download of {model} was cancelled; nothing was kept."
    st.session_state[_NOTE] = says

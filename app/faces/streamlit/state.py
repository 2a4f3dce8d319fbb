"""The state of a page: its texts, its values in the address, and links to other pages.

Every widget of a page is bound to the address under its own key, so that a link opens the same
page in the same state. Text boxes use the keys `text`, `text_pair`, `question` and `choices` on all
pages, which makes addresses predictable (`/fill_mask?text=...`); this module keeps them apart per
page.
"""

from collections.abc import Mapping
from urllib.parse import quote

import streamlit as st

from app.catalog import FEATURES, Feature, examples, pages
from app.compat.streamlit import by_history, read_whole_address, write_bound
from app.declared import declared
from app.declared.carried import HOME, TEXT_KEYS, UNFIT, boxes
from app.engine.compute.visitor import check_text
from app.faces.streamlit.address import read_address
from app.faces.streamlit.carrying import add_ours, arriving, carry, give, note
from app.faces.streamlit.links import KEPT, links_have_texts, texts_of_link, write_link
from app.faces.streamlit.picker import MODEL
from app.faces.streamlit.site import MOVED
from app.faces.streamlit.site import ON_SITE as ON_SITE
from app.settings import settings
from app.words.html import plain

_PAGE = "_page"
_TEXTS = "_texts"
_UNDO = "_undo"
_BEGIN = "_begin"
_UNBOUND = "_unbound"
_LONG = "_long"  # the texts of this run that are too long for the address
_FROM = "_from"  # where the texts come from: "address", "visit", or "" on later runs
_UNFIT = "_unfit"  # whether the visitor's text does not fit the page that is being opened
_LOST = "_lost"  # the boxes whose texts the address refers to, but which are gone
_LINKED = "This text is too long for the address. A link to this page works for one day."
_NOT_LINKED = "This text is too long for the address, so a link to this page will not contain it."


def enter(slug: str) -> None:
    """Restore the texts of a page: those of the link, of the history, or of the last visit.

    A short text in the address takes precedence: Streamlit reads it when the box is drawn. What
    the visitor wrote on the page before comes along where it fits.
    """
    before = st.session_state.get(_PAGE)
    if before not in (None, slug):
        st.session_state[_UNFIT] = False
        _note_left(before)
        if not by_history():
            found = arriving(slug)
            st.session_state[_UNFIT] = found == {}
            for key, value in (found or {}).items():
                put(slug, key, value)
    st.session_state[_PAGE] = slug
    st.session_state[_LONG] = {}
    st.session_state[_LOST] = []
    if by_history() and before != slug:
        read_whole_address()
    if by_history() or before != slug:
        read_address(skip=(*TEXT_KEYS, KEPT, MODEL))  # these say themselves what is lost
    by_address = before is None or by_history()
    if by_address:
        _name_texts(slug)
    st.session_state[_FROM] = "address" if by_address else "visit" if before != slug else ""
    if any(row.slug == slug and row.takes_text for row in FEATURES):
        for key in TEXT_KEYS:  # now, because the list of examples is drawn before the boxes
            _restore(slug, key, _first_text(slug, key))


def _name_texts(slug: str) -> None:
    """Call the texts of the address as the boxes are called; a second text may be a question."""
    known = declared(slug).parameters if boxes(slug) and slug != HOME else ()
    for each in known:
        for other in (each.name, *each.also):
            free = each.key in TEXT_KEYS and each.key not in st.query_params
            if other != each.key and other in st.query_params and free:
                value = st.query_params.pop(other)
                st.query_params[each.key] = st.session_state[each.key] = value


def _note_left(slug: str) -> None:
    """Remember what is in the boxes of a page that is being left.

    Its last run may not have seen what was typed just before a click on the menu; the session has.
    With Back and Forward, the session already has the texts of the page that is being opened.
    """
    texts = {key: _texts().get((slug, key), "") for key in boxes(slug)}
    if not by_history():
        texts |= {key: str(st.session_state[key]) for key in texts if key in st.session_state}
        _texts().update({(slug, key): text for key, text in texts.items()})
    note(slug, texts)


def unfit_note(slug: str) -> None:
    """Tell the visitor that the text did not come along, or that a link's page is a tab now."""
    if st.session_state.get(_UNFIT):
        st.caption(f":material/info: {UNFIT[slug]}")
    if title := st.session_state.pop(MOVED, ""):
        st.caption(f":material/info: “{title}” is now a tab of this page.")


def opened_by() -> str:
    """Return how this run opens its page: by its "address", by a "visit", or "" if it was open."""
    return str(st.session_state.get(_FROM, ""))


def leave() -> None:
    """Put what the texts of a page need into the address; call this when the boxes are drawn."""
    if not st.session_state[_LOST]:
        write_link(st.session_state[_LONG])


def _restore(slug: str, key: str, first: str) -> None:
    """Fill a box when its page is opened, from the address or from the last visit.

    If the address refers to a text that is gone, the box is empty: an example would pass for the
    text of the link.
    """
    opened_by = st.session_state.get(_FROM)
    if opened_by == "visit":
        st.session_state[key] = _texts().get((slug, key), first)
    elif opened_by == "address":
        kept = texts_of_link()
        if kept is None and key not in st.query_params:
            st.session_state[_LOST].append(key)
            st.session_state[key] = ""
        elif kept and key in kept:
            st.session_state[key] = kept[key]
        elif by_history():
            st.session_state[key] = st.query_params.get(key, first)


def text_box(
    slug: str,
    label: str,
    *,
    key: str = "text",
    height: int | None = None,
    placeholder: str = "",
    first: str | None = None,
) -> str:
    """Draw a text box that is kept in the address.

    A text too long for an address is kept for its link (see `links`), and the page says so. Without
    a first text, the box has that of the page's first example.

    Raises:
        InputError: the text is longer than the site takes.
    """
    if first is None:
        first = _first_text(slug, key)
    else:
        add_ours(first)
    _restore(slug, key, first)
    before = str(st.session_state.get(key, st.query_params.get(key, first)))
    gone = st.session_state.get(_LOST, ())
    lost = key in gone
    fits = fits_address(before) and not lost
    unbound: set[tuple[str, str]] = st.session_state.setdefault(_UNBOUND, set())
    if fits and (slug, key) in unbound:
        unbound.remove((slug, key))
        st.session_state[key] = before  # the browser did not know that the address counts again
    elif not fits:
        unbound.add((slug, key))
    text: str = st.text_area(
        label,
        value=first,
        key=key,
        height=height or "content",
        placeholder=placeholder or None,
        bind="query-params" if fits else None,
        persist_state="session",
    )
    _texts()[slug, key] = text
    if fits and opened_by() == "visit" and text != first:
        write_bound(key, text)
    if lost and key == gone[0]:
        st.caption(":material/link_off: The text of this link is no longer kept. Paste it here.")
    check_text(text)
    if not fits and not lost:
        st.session_state.setdefault(_LONG, {})[key] = text
        st.caption(_LINKED if links_have_texts() else _NOT_LINKED)
    return text


def begin_with(slug: str, key: str, value: str) -> dict[str, str]:
    """Return the texts that a page begins with if its model cannot answer the first example.

    They are those of the first example in which `key`, for example "of", has this value.
    """
    kept: dict[str, dict[str, str]] = st.session_state.setdefault(_BEGIN, {})
    if opened_by() or slug not in kept:
        rows = (row for row in examples(slug) if row.values.get(key) == value)
        row = next(rows, examples(slug)[0])
        texts = {name: str(row.values.get(name, "")) for name in ("text", "text_pair")}
        if "text" in st.query_params:
            texts["text_pair"] = ""  # a link's text has no second one of ours
        for name, text in texts.items():
            if opened_by() == "visit" and st.session_state.get(name) == _first_text(slug, name):
                put(slug, name, text)
        kept[slug] = texts
    return kept[slug]


def set_text(slug: str, text: str, *, key: str = "text") -> None:
    """Put a text into a box; call this from a widget's callback, before the box is drawn.

    `undo_button` can restore the text it replaces.
    """
    before = str(st.session_state.get(key, ""))
    st.session_state.setdefault(_UNDO, {})[slug, key] = (text, before)
    put(slug, key, text)


def undo_button(slug: str, label: str = "Undo", *, key: str = "text") -> None:
    """Offer to undo the last `set_text`, as long as its text is still in the box."""
    after, before = st.session_state.get(_UNDO, {}).get((slug, key), (None, ""))
    if after is not None and st.session_state.get(key) == after:
        st.button(
            label, key=f"_undo_{key}", icon=":material/undo:", on_click=set_text,
            args=(slug, before), kwargs={"key": key},
        )  # fmt: skip


def fits_address(text: str) -> bool:
    """Return whether a percent-encoded text is short enough to be part of an address."""
    limit = settings().address_chars
    return len(text) <= limit and len(quote(text)) <= limit


def put(slug: str, key: str, value: str | float | bool) -> None:
    """Set a widget by its key; texts are also remembered for their page."""
    st.session_state[key] = value
    if key in TEXT_KEYS:
        _texts()[slug, key] = str(value)


def send_buttons(slug: str, text: str, text_pair: str = "") -> None:
    """Offer to open a text on any other page; drawn only if those are part of the site."""
    if not st.session_state.get(ON_SITE):
        return
    with st.popover("Take this text to", icon=":material/send:", type="tertiary"):
        for row in pages():
            if row.slug == slug or not row.takes_text:
                continue
            key = f"_send_{row.slug}"
            if st.button(plain(row.title), key=key, icon=row.icon, type="tertiary"):
                carry({"text": text, "text_pair": text_pair})
                leave_for(row, {"text": text, "text_pair": text_pair})


def leave_for(
    row: Feature, texts: Mapping[str, str], address: Mapping[str, str] | None = None
) -> None:
    """Put texts into another page's boxes, by key, and go there; not from a callback.

    A box without a text of its own becomes empty: what an earlier text left in it would not
    belong to this one.
    """
    _note_left(st.session_state[_PAGE])
    give(row.slug, {key: texts.get(key, "") for key in TEXT_KEYS})
    for key in TEXT_KEYS:
        _texts()[row.slug, key] = texts.get(key, "")
    # Without a mapping Streamlit clears the address itself and refuses, because widgets are bound
    # to it; an empty one replaces it.
    st.switch_page(row.page, query_params=dict(address or {}))


def _first_text(slug: str, key: str) -> str:
    rows = examples(slug)
    return str(rows[0].values.get(key, "")) if rows else ""


def _texts() -> dict[tuple[str, str], str]:
    kept: dict[tuple[str, str], str] = st.session_state.setdefault(_TEXTS, {})
    return kept

"""A visitor's text on its way through the menu: what was written last fills each page once.

A page that shows it keeps what the visitor does there, and gets a text again when another one has
been written elsewhere. Examples are not carried; a text that was put into a box by the site, such
as a door of the home page, is not carried until the visitor changes it.
"""

from dataclasses import dataclass, field
from typing import Annotated

import streamlit as st

from app.declared.carried import Carried, Texts, boxes, boxes_for, is_ours

_KEPT = "_carried"


@dataclass(slots=True)
class _Kept:
    own: Annotated[Carried | None, "what the visitor wrote last"] = None
    number: Annotated[int, "counts what was written"] = 0
    taken: Annotated[
        dict[str, int], "for each page the number of what it was last filled with, or wrote itself"
    ] = field(default_factory=dict)
    given: Annotated[
        dict[str, tuple[Texts, Carried | None]],
        "for each page what the site put into its boxes, and what that was made from",
    ] = field(default_factory=dict)
    ours: Annotated[set[str], "texts of the site that a page's buttons put into boxes"] = field(
        default_factory=set
    )


def note(slug: str, texts: Texts) -> None:
    """Remember what is in the boxes of a page that is being left, if the visitor wrote it."""
    kept = _kept()
    mine = {key: texts.get(key, "") for key in boxes(slug)}
    if not mine.get("text", "").strip():
        return
    given, source = kept.given.get(slug, ({}, None))
    if _filled(mine) == _filled({key: given.get(key, "") for key in mine}):
        own = source
    elif mine["text"] in kept.ours or is_ours(slug, mine):
        own = None
    else:
        own = Carried.after(kept.own, mine)
    if own is None or (kept.own is not None and _filled(own.texts) == _filled(kept.own.texts)):
        return
    kept.own, kept.number = own, kept.number + 1
    kept.taken[slug] = kept.number
    if own is not source:
        kept.given.pop(slug, None)


def arriving(slug: str) -> dict[str, str] | None:
    """Return what a page gets that is visited by the menu; {} if it does not fit, else None."""
    kept = _kept()
    if kept.own is None or kept.taken.get(slug, 0) == kept.number or not boxes(slug):
        return None
    found = boxes_for(slug, kept.own)
    if found:
        give(slug, found, kept.own)
    return found


def give(slug: str, texts: Texts, source: Carried | None = None) -> None:
    """Remember what the site puts into the boxes of a page, and the text that it was made from."""
    kept = _kept()
    kept.given[slug] = dict(texts), source
    kept.taken[slug] = kept.number


def carry(texts: Texts) -> None:
    """Carry texts from here on, because the visitor said so."""
    kept = _kept()
    kept.own, kept.number = Carried.after(kept.own, texts), kept.number + 1


def add_ours(text: str) -> None:
    """Remember that a text is the site's, not the visitor's."""
    _kept().ours.add(text)


def _filled(texts: Texts) -> dict[str, str]:
    return {key: text for key, text in texts.items() if text.strip()}


def _kept() -> _Kept:
    kept: _Kept = st.session_state.setdefault(_KEPT, _Kept())
    return kept

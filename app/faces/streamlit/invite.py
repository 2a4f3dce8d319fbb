"""How others are invited to what a visitor has begun here: a link, and its QR code for phones."""

from urllib.parse import urlsplit

import streamlit as st

from app.settings import is_here
from app.words.html import Html, tag
from app.words.qr import qr

_LOOPBACK = (
    "Phones cannot use this address: on every device it means the device itself. Open the site "
    "with this computer’s network address."
)


def site_address() -> str:
    """Return the address of the site as this browser has it, ending in a slash."""
    parts = urlsplit(str(st.context.url or ""))
    return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/"


def invitation(link: str, *children: Html) -> Html:
    """Draw the QR code of a link beside what is to be said with it."""
    here = is_here(urlsplit(link).hostname or "")
    note = [tag("p", _LOOPBACK, class_="bx-line")] if here else []
    return tag("div", qr(link), tag("div", *children, *note), class_="bx-join")

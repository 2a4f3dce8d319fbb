"""Who visits, and how many pages a visitor may have open."""

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

COOKIE = "bert_explorer_visitor"
"""The cookie that tells visitors of one network address apart. It is a random number, says nothing
about anybody, is stored nowhere else, and ends with the browser."""

_NUMBER = re.compile(r"[0-9a-f]{32}")


def visitor_in(cookies: Mapping[str, str]) -> str:
    """Return the visitor's number; "" if the browser sent none that is valid."""
    number = str(cookies.get(COOKIE, ""))  # Streamlit's AppTest has a stand-in for cookies
    return number if _NUMBER.fullmatch(number) else ""


def new_cookie(*, secure: bool, framed: bool) -> str:
    """Return a cookie for a new visitor, as the value of `Set-Cookie`.

    Args:
        secure: whether the page came by https.
        framed: whether another site shows the page in a frame. Browsers then send only cookies
            that say so, and only by https.
    """
    place = "; SameSite=None; Secure; Partitioned" if framed else "; SameSite=Lax"
    end = "; Secure" if secure and not framed else ""
    return f"{COOKIE}={secrets.token_hex(16)}; Path=/; HttpOnly{place}{end}"


class Sessions:
    """Counts open pages; a page is open as long as its connection is.

    Who deletes the cookie is a new visitor, so pages are also counted by address. That limit is
    higher, because a class, or everybody behind a proxy, may have the same address.

    Args:
        by_visitor: maximum number of pages open for one visitor.
        by_address: maximum number of pages open for one network address.
    """

    def __init__(self, by_visitor: int, by_address: int) -> None:
        self._limits = {"visitor": by_visitor, "address": by_address}
        self._open: Counter[tuple[str, str]] = Counter()

    def refusal(self, visitor: str, address: str) -> str:
        """Return why one more page cannot be opened; "" if it can."""
        if visitor and self._open["visitor", visitor] >= self._limits["visitor"]:
            return f"You have {self._limits['visitor']} pages open. Close some of them."
        if self._open["address", address] >= self._limits["address"]:
            return (
                f"{self._limits['address']} pages are open from your network address. Try again "
                "when others have closed theirs. (The operator can set BERT_EXPLORER_SESSIONS.)"
            )
        return ""

    @contextmanager
    def opened(self, visitor: str, address: str) -> Iterator[None]:
        """Count a page during the block."""
        keys = [("visitor", visitor), ("address", address)]
        self._open.update(keys)
        try:
            yield
        finally:
            self._open.subtract(keys)
            for key in keys:
                if not self._open[key]:
                    del self._open[key]

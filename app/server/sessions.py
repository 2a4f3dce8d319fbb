"""The visitor's cookie, and how much a visitor may have open."""

import hashlib
import hmac
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from app.records.visitors import Visitor
from app.settings import settings
from app.shared import shared

COOKIE = "bert_explorer_visitor"
"""The cookie that tells visitors of one network address apart. It is a random number with this
server's signature, says nothing about its visitor, is not stored, and ends with the browser."""

_SIGNED = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")
_REQUESTS_OF_A_PAGE = 6  # as many as browsers have in progress with one server


class Cookies:
    """Gives visitors their numbers, and knows them again.

    `key` signs the numbers, or returns what does; servers with the same key know each other's
    visitors.
    """

    def __init__(self, key: str | Callable[[], str]) -> None:
        self._key = key

    def number_in(self, cookies: Mapping[str, str]) -> str:
        """Return the visitor's number; "" if the browser sent none that was given here."""
        found = _SIGNED.fullmatch(cookies.get(COOKIE, ""))
        known = found and hmac.compare_digest(self._signature(found[1]), found[2])
        return found[1] if found and known else ""

    def new(self, *, secure: bool, framed: bool) -> str:
        """Return a cookie for a new visitor, as the value of `Set-Cookie`.

        In a frame of another site, browsers send only cookies that say so, and only by https.
        """
        number = secrets.token_hex(16)
        place = "; SameSite=None; Secure; Partitioned" if framed else "; SameSite=Lax"
        end = "; Secure" if secure and not framed else ""
        return f"{COOKIE}={number}.{self._signature(number)}; Path=/; HttpOnly{place}{end}"

    def _signature(self, number: str) -> str:
        key = self._key if isinstance(self._key, str) else self._key()
        return hmac.new(key.encode(), number.encode(), hashlib.sha256).hexdigest()


def own_cookies() -> Cookies:
    """Return the cookies of this site, signed with the operator's key or that of its servers."""
    return Cookies(settings().key or shared().secret)


class Sessions:
    """Counts what is open: pages, each as long as its connection, and streams of answers.

    Who deletes the cookie is a new visitor, so pages are also counted by address. That limit is
    higher, because a class, or everybody behind a proxy, may have the same address. Six requests in
    progress belong to each open page of a visitor; the limit on streams is for all others.
    """

    def __init__(self, by_visitor: int, by_address: int, streams: int) -> None:
        self._limits = {"visitor": by_visitor, "address": by_address, "stream": streams}
        self._open: Counter[tuple[str, str]] = Counter()

    @property
    def pages(self) -> int:
        """How many pages are open."""
        return sum(count for (kind, _), count in list(self._open.items()) if kind == "address")

    def refusal(self, visitor: Visitor) -> str:
        """Return why one more page cannot be opened; "" if it can."""
        if visitor.number and self._is_full("visitor", visitor.number):
            return f"You have {self._limits['visitor']} pages open. Close some of them."
        if self._is_full("address", visitor.network):
            return (
                f"{self._limits['address']} pages are open from your network address. Try again "
                "when others have closed theirs. (The operator can set BERT_EXPLORER_SESSIONS.)"
            )
        return ""

    def stream_refusal(self, visitor: Visitor) -> str:
        """Return why one more request cannot be in progress; "" if it can."""
        if self._is_of_a_page(visitor) or not self._is_full("stream", visitor.network):
            return ""
        return (
            f"{self._limits['stream']} requests from your network address are in progress, as many "
            "as this server takes. Try again when some of them have ended."
        )

    def opened(self, visitor: Visitor) -> AbstractContextManager[None]:
        """Count a page during the block."""
        return self._counted(("visitor", visitor.number), ("address", visitor.network))

    def streaming(self, visitor: Visitor) -> AbstractContextManager[None]:
        """Count a request during the block."""
        of_page = self._is_of_a_page(visitor)
        return self._counted(
            ("of a page", visitor.number) if of_page else ("stream", visitor.network)
        )

    def _is_of_a_page(self, visitor: Visitor) -> bool:
        """Return whether the visitor's open pages may have one more request in progress."""
        pages = self._open["visitor", visitor.number] if visitor.number else 0
        return self._open["of a page", visitor.number] < pages * _REQUESTS_OF_A_PAGE

    def _is_full(self, kind: str, who: str) -> bool:
        return self._open[kind, who] >= self._limits[kind]

    @contextmanager
    def _counted(self, *keys: tuple[str, str]) -> Iterator[None]:
        self._open.update(keys)
        try:
            yield
        finally:
            self._open.subtract(keys)
            for key in keys:
                if not self._open[key]:
                    del self._open[key]

"""Under which names the site may be reached: the check of `Host` and `Origin`.

Two attacks begin with a page that a visitor has open elsewhere. It can connect to this server
directly; the browser then names the page in `Origin`. Or its owner lets the page's own name lead
to this machine (DNS rebinding); then the name is in `Host`.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated

from app.settings import is_here

_PORTS = {"http": "80", "https": "443"}
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?", re.I)
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of this server."""

    own: Annotated[frozenset[str], "what `Host` may be: a name, for any port, or with its port"]
    public: Annotated[frozenset[str], "what else an `Origin` may be, behind a proxy"]
    addresses: Annotated[bool, "whether `Host` may be any IP address: rebinding needs a name"]

    def admit(self, host: str, scheme: str = "http") -> bool:
        """Return whether a `Host` is this server."""
        found = _HOST.fullmatch(host)
        if not found:
            return False
        name = found["name"].lower().rstrip(".")
        port = found["port"] or _PORTS[scheme]
        return not self.own.isdisjoint({name, f"{name}:{port}"}) or (
            self.addresses and _is_address(name)
        )

    def admit_origin(self, origin: str, host: str) -> bool:
        """Return whether an `Origin` is a page of this server.

        That has the name and port in the `Host` of the same request, or a public name.
        """
        scheme, _, place = origin.lower().partition("://")
        if scheme not in _PORTS or not _HOST.fullmatch(place):
            return False
        return place == host.lower() or place in self.public


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name.strip("[]")))
    return False


def names_of(address: str, port: int, machine: str, public: Sequence[str]) -> Names:
    """Return the names of a server that listens on an address and port.

    A server that only this machine can reach is known by its exact port, so that other programs
    of this machine are not taken for it. The port of any other server may be mapped on the way to
    it, and this machine's name and addresses lead there too. `public` names are given by the
    operator, or by the Space that this is.
    """
    here = is_here(address.lower())
    listens = f"[{address}]" if ":" in address else address.lower()  # as written in a `Host`
    if here:
        own = {f"{name}:{port}" for name in (*_LOCAL, listens)}
    else:
        own = {*_LOCAL, machine.lower(), f"{machine.lower()}.local", listens}
    return Names(frozenset(own | set(public)), frozenset(public), addresses=not here)

"""Under which names the site may be reached: the check of `Host` and `Origin`.

Two attacks begin with a page that a visitor has open elsewhere. It can connect to this server
directly; the browser then names the page in `Origin`. Or its owner lets the page's own name lead
to this machine (DNS rebinding); then the name is in `Host`.
"""

import re
from collections.abc import Sequence
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

    own: Annotated[
        frozenset[str],
        "what `Host` may be, in lower case: a name, which covers every port, or a name with its "
        "port",
    ]
    public: Annotated[
        frozenset[str], "what else an `Origin` may be, because a proxy may have changed the `Host`"
    ]
    addresses: Annotated[
        bool,
        "whether `Host` may be any IP address. That is safe, because DNS rebinding needs a name, "
        "and necessary, because a container does not know its address outside",
    ]

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

        Args:
            origin: what the browser sent; a page of the same name and port, or of a public name.
            host: the `Host` of the same request.
        """
        scheme, _, place = origin.lower().partition("://")
        if scheme not in _PORTS or not _HOST.fullmatch(place):
            return False
        return place == host.lower() or place in self.public


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def names_of(address: str, port: int, machine: str, public: Sequence[str]) -> Names:
    """Return the names of a server.

    A server that only this machine can reach is known by its exact port, so that other programs
    of this machine are not taken for it. The port of any other server may be mapped on the way to
    it, and this machine's name and addresses lead there too.

    Args:
        address: the address the server listens on.
        port: the port it listens on.
        machine: the name of this machine.
        public: names given by the operator, or by the Space that this is.
    """
    here = is_here(address.lower())
    if here:
        own = {f"{name}:{port}" for name in (*_LOCAL, _bracketed(address))}
    else:
        own = {*_LOCAL, machine.lower(), f"{machine.lower()}.local", _bracketed(address)}
    return Names(
        own=frozenset(own | set(public)),
        public=frozenset(public),
        addresses=not here,
    )


def _bracketed(address: str) -> str:
    """Return an address as written in a `Host`."""
    return f"[{address}]" if ":" in address else address.lower()

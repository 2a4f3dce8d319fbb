"""Who sent a request: found by the server in front, told to the interfaces by two headers."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated

_VISITOR, _NETWORK = "x-bert-explorer-visitor", "x-bert-explorer-network"
_HOUSEHOLD = 64  # bits of an IPv6 address that a provider gives to one household


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who sent a request."""

    number: Annotated[
        str, 'from the cookie; "" if the browser sent none of this server\'s own making'
    ] = ""
    network: Annotated[str, "the network address"] = ""

    @property
    def name(self) -> str:
        """What tells this visitor from others; all without a cookie at one address are one."""
        return self.number or (f"@{self.network}" if self.network else "")

    @property
    def headers(self) -> dict[str, str]:
        """What tells the interfaces behind the gate; they overwrite what a client claims to be."""
        return {_VISITOR: self.number, _NETWORK: self.network}


def announced(headers: Mapping[str, str]) -> Visitor:
    """Return who sent a request that has passed the gate."""
    return Visitor(str(headers.get(_VISITOR, "")), str(headers.get(_NETWORK, "")))


def network_of(address: str) -> str:
    """Return what a client cannot change about its address: of IPv6 the network.

    >>> network_of("2001:db8:1:2:aaaa::1"), network_of("192.0.2.7"), network_of("::ffff:192.0.2.7")
    ('2001:db8:1:2::', '192.0.2.7', '192.0.2.7')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ip_network((found, _HOUSEHOLD), strict=False).network_address)

"""The socket of the server, or the reason why it cannot be had."""

import errno
import os
import socket

from bert_core.errors import ConfigError

EVERYWHERE = "0.0.0.0"
"""The address that visitors of other machines reach."""

_VARIABLES = ("STREAMLIT_SERVER_ADDRESS", "STREAMLIT_SERVER_PORT")
_TROUBLE: dict[int | None, str] = {
    errno.EADDRINUSE: "is in use",
    errno.EACCES: "is reserved by the system",
}


def listener(address: str, port: object, variables: tuple[str, str] = _VARIABLES) -> socket.socket:
    """Return a socket bound to an address of this machine; port 0 is any that is free.

    Raises:
        ConfigError: it cannot be had; the message says what to do, and names the variables.
    """
    if not isinstance(port, int) or not 0 <= port <= 65_535:
        raise ConfigError(
            f"The port is {str(port)[:20]!r}; expected a number from 1 to 65535, or 0 for any free "
            f"port ({variables[1]})."
        )
    found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        if os.name != "nt":  # there it would report a port in use as free
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if found.family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        found.bind((address, port))
    except (OSError, TypeError, UnicodeError) as error:  # the last two: invalid host name
        found.close()
        trouble = _TROUBLE.get(error.errno if isinstance(error, OSError) else None)
        raise ConfigError(
            f"Port {port} of {address} {trouble}. Choose another one, or 0 for any free port "
            f"({variables[1]})."
            if trouble
            else f"The address is {address!r}; expected one of this machine: 127.0.0.1 for "
            f"visitors on this machine alone, {EVERYWHERE} for others too ({variables[0]})."
        ) from None
    return found

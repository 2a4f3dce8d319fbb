"""Run a script and write down whatever it asks of the network beyond this machine.

    python -m tests.watched LOG SCRIPT

Python reports every connection, every datagram and every name that is looked up to audit hooks. The
log has one line for each that is not on the loopback.
"""

import runpy
import socket
import sys
from ipaddress import ip_address
from pathlib import Path

_EVENTS = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}


def is_here(place: object) -> bool:
    """Return whether an address, or a name that is looked up, is on the loopback."""
    host = place[0] if isinstance(place, tuple) else place
    if host is None or isinstance(place, bytes):  # the wildcard; a socket of the file system
        return True
    try:
        return ip_address(str(host)).is_loopback or str(host) in {"0.0.0.0", "::"}
    except ValueError:
        return host in {"localhost", ""}


def watch(log: Path) -> None:
    """Begin to write down."""
    log.touch()

    def heard(event: str, given: tuple[object, ...]) -> None:
        if event in _EVENTS:
            place = given[_EVENTS[event]]
            own = isinstance(given[0], socket.socket) and given[0].family == socket.AF_UNIX
            if not own and not is_here(place):
                with log.open("a", encoding="utf-8") as out:
                    out.write(f"{event} {place!r}\n")

    sys.addaudithook(heard)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")

"""The server: uvicorn with the options that a site for strangers needs."""

import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from app.serving.connections import Connection
from bert_core.errors import ConfigError

_MESSAGE = 4 * 2**20  # bytes from a page at once; all its texts together are far below that
_PING = 30  # seconds between signs of life of a page, and for its answer to one
_FAREWELL = 2  # seconds for answers that are under way when the server is stopped
_RESERVE = 150  # descriptors for everything but connections: files, libraries, threads


def run(config: uvicorn.Config, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until the process is told to stop.

    Args:
        config: see `configured`.
        listener: the socket, bound to its address.
        ready: called when the server answers.
    """
    Server(config, ready).run(sockets=[listener])


def configured(
    gate: ASGIApp, connections: int, certificate: tuple[str, str] | None = None
) -> uvicorn.Config:
    """Return the options of the server.

    Args:
        gate: the application.
        connections: maximum number of connections.
        certificate: the files of a certificate and its key, for https.
    """
    certificate_file, key_file = certificate or (None, None)
    return uvicorn.Config(
        gate,
        http=Connection,
        ws="websockets-sansio",
        ws_max_size=_MESSAGE,
        ws_ping_interval=_PING,
        ws_ping_timeout=_PING,
        ws_per_message_deflate=False,
        lifespan="on",
        log_level="error",  # levels below log addresses, which may contain a visitor's text
        access_log=False,
        use_colors=False,
        server_header=False,
        limit_concurrency=connections,
        timeout_graceful_shutdown=_FAREWELL,
        ssl_certfile=certificate_file,
        ssl_keyfile=key_file,
    )


def affordable(connections: int) -> int:
    """Return how many connections the system allows: each is an open file.

    Raises:
        ConfigError: hardly any.
    """
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _RESERVE
    if 0 <= soft < wanted:
        soft = wanted if hard < 0 else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if 0 <= soft <= _RESERVE:
        raise ConfigError(
            f"The system allows {soft} open files; expected more than {_RESERVE}. Allow more: "
            "ulimit -n 1024."
        )
    return connections if soft < 0 else min(connections, soft - _RESERVE)


class Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        self._ready()

"""The server: uvicorn with the options that a site for strangers needs."""

import os
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from app import log
from app.compat.uvicorn import Connection, Server
from app.engine.counted import at_work
from app.server.policy import Policy
from app.server.stopping import STOP
from app.settings import settings
from app.shared import shared
from bert_core.errors import ConfigError

_MESSAGE = 4 * 2**20  # bytes from a page at once; all its texts together are far below that
_PING = 30  # seconds between signs of life of a page, and for its answer to one
_LAST = 1  # seconds for answers that have begun, when the server is stopped
_HERE = "127.0.0.1,::1"
_NEAR = f"{_HERE},10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"  # a private network
_RESERVE = 150  # descriptors for everything but connections: files, libraries, threads


class _Connection(Connection):
    headers_of_refusals = Policy().refusal()


def run(
    gate: ASGIApp,
    listener: socket.socket,
    ready: Callable[[], None],
    certificate: tuple[str, str] | None = None,
) -> None:
    """Serve until the process is told to stop. From now on the log has nothing of what others say.

    `ready` is called when the server answers; `certificate` are the files of one and its key.
    """
    found = settings()
    most = affordable(found.connections)
    config = configured(gate, most, certificate, in_space=bool(found.space))
    log.begin(as_json=found.log_json)
    shared().begin()
    STOP.with_drain(found.drain, at_work)

    def answers() -> None:
        STOP.server = server
        ready()

    server = Server(config)
    server.ready = answers
    server.run(sockets=[listener])


def configured(
    gate: ASGIApp,
    connections: int,
    certificate: tuple[str, str] | None = None,
    *,
    in_space: bool = False,
) -> uvicorn.Config:
    """Return the options of the server.

    The proxy of a Space says who the visitor is. Others are believed if `FORWARDED_ALLOW_IPS` names
    them.
    """
    file, key = certificate or (None, None)
    return uvicorn.Config(
        gate,
        http=_Connection,
        ws="websockets-sansio",
        ws_max_size=_MESSAGE,
        ws_ping_interval=_PING,
        ws_ping_timeout=_PING,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,  # `app.log` is the only one
        log_level="error",
        access_log=False,
        server_header=False,
        limit_concurrency=connections,
        backlog=32,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", _NEAR if in_space else _HERE),
        timeout_graceful_shutdown=_LAST,
        ssl_certfile=file,
        ssl_keyfile=key,
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

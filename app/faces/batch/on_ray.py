"""Chunks of rows, answered on the nodes of a Ray cluster: one core of any node for each chunk.

Ray keeps the processes that answer, with their models, and answers a chunk again if its process or
its node is lost.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any

from app.cluster.nodes import connect, leave, of_site, place
from app.engine.models import Engine
from app.engine.models.shelf import Kind
from app.faces.batch.answering import Asked, answer_rows, as_line
from bert_core.errors import InputError

_TRIES = 3
_EACH = 2  # calls for each core: one is answered while the next is on its way
_TOGETHER, _ROWS = 8, 256  # chunks in a call, the last of which has the last of so many rows
_BYTES = 64 * 2**20  # of rows on their way; one call more is begun below
_KEPT = "The answers so far are kept; run the same command to continue."
_LOOK = 30.0  # seconds without an answer until the nodes are looked at


def spread_on(
    address: str, chunks: Iterator[tuple[int, Sequence[Asked]]], task: str, engine: Engine
) -> Generator[tuple[int, bytes], None, None]:
    """Answer chunks on the nodes, a few at a time, whatever the length of the file.

    Args:
        address: of the cluster; `local` starts a node here.
        chunks: with their numbers.
        task: its name.
        engine: the model, which the nodes must have, too.

    Yields:
        The number of a chunk that is done, and a line of JSON for each of its rows.

    Raises:
        InputError: the model is in a folder of this machine; Ray is not installed; or there is no
            cluster, it has other weights or another program, it lost a chunk three times, or no
            node is left.
    """
    known = engine.provenance
    if known.origin == Kind.FOLDER.value:
        raise InputError(
            f"{known.name} is a folder of this machine, which a cluster does not have. Leave out "
            "--on, or give a bundled model."
        )
    given = {"task": task, "model": known.name, "weights": known.fingerprint,
             "settings": of_site()}  # fmt: skip
    _connect(address)
    import ray

    send = ray.remote(num_cpus=1, max_retries=_TRIES)(answer_chunk).remote
    most = _EACH * max(1, int(ray.cluster_resources().get("CPU", 1)))
    busy: dict[Any, list[tuple[int, int]]] = {}  # numbers of chunks, and their rows
    sizes: dict[Any, int] = {}  # of calls, in bytes
    try:
        while True:
            while len(busy) < most and sum(sizes.values()) < _BYTES and (taken := _taken(chunks)):
                rows = [row for _, each in taken for row in each]
                asked = json.dumps({**given, "rows": rows}).encode()
                call = send(asked)
                busy[call] = [(number, len(each)) for number, each in taken]
                sizes[call] = len(asked)
            if not busy:
                return
            done = _done(list(busy))
            del sizes[done]
            lines = iter(ray.get(done).splitlines(keepends=True))
            for number, count in busy.pop(done):
                found = list(islice(lines, count))
                if len(found) < count:
                    raise InputError(f"The nodes have no {known.name} with these weights.")
                yield number, b"".join(found)
    except ray.exceptions.RayTaskError as error:
        raise InputError(
            f"A node cannot answer ({type(error.cause).__name__}). It needs the same BERT Explorer "
            f"and packages as this machine. {_KEPT}"
        ) from None
    except ray.exceptions.RayError as error:
        raise InputError(
            f"The cluster lost a chunk of rows {_TRIES} times ({type(error).__name__}). {_KEPT}"
        ) from None
    finally:
        leave()  # what has not been answered is not needed


def _connect(address: str) -> None:
    """Connect with a cluster.

    Raises:
        InputError: there is none, or Ray is not installed.
    """
    if find_spec("ray") is None:
        raise InputError("--on needs more packages: pip install -r requirements-cluster.txt.")
    found = place(address)
    for left in reversed(range(_TRIES)):
        try:
            connect(found)
            return
        except Exception as error:  # noqa: BLE001 - whatever Ray raises
            # Ray may refuse one who comes soon after another was killed.
            if isinstance(error, ConnectionAbortedError) and left:
                continue
            raise InputError(
                f"No Ray cluster answers at {address} ({type(error).__name__}). Start it, or leave "
                "out --on."
            ) from None


def _done(busy: list[Any]) -> Any:
    """Wait for a call, and return it.

    Raises:
        InputError: no node is left that could answer.
    """
    import ray

    while not (ready := ray.wait(busy, num_returns=1, timeout=_LOOK)[0]):
        if not ray.cluster_resources().get("CPU"):
            raise InputError(f"No node of the cluster is left. {_KEPT}")
    return ready[0]


def _taken(chunks: Iterator[tuple[int, Sequence[Asked]]]) -> list[tuple[int, Sequence[Asked]]]:
    """Take chunks for a call; none if there are no more."""
    taken: list[tuple[int, Sequence[Asked]]] = []
    rows = 0
    while rows < _ROWS and len(taken) < _TOGETHER and (coming := next(chunks, None)):
        taken.append(coming)
        rows += len(coming[1])
    return taken


def answer_chunk(asked: bytes) -> bytes:
    """Answer rows, on a node.

    Args:
        asked: JSON of task, model, weights, settings, rows.

    Returns:
        A line of JSON for each row; nothing if the node has other weights.
    """
    given: dict[str, Any] = json.loads(asked)
    from app.cluster.worker import prepare

    prepare(1, given["settings"])
    from app.declared.answers import engine_of

    try:
        known = engine_of(given["model"]).provenance.fingerprint
    except InputError:
        known = ""
    if known != given["weights"]:
        return b""
    answers = answer_rows(given["task"], given["model"], given["rows"])
    return b"".join(map(as_line, answers))

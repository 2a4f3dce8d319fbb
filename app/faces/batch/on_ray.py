"""Chunks of rows, answered on the nodes of a Ray cluster: one core of any node for each chunk.

Ray keeps the processes that answer, with their models, and answers a chunk again if its process or
its node is lost.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from app.cluster.nodes import connect, leave, of_site, place
from app.engine.models import Engine
from app.engine.models.shelf import Kind
from app.faces.batch.answering import Asked, answer_rows, as_line
from bert_core.errors import InputError

_TRIES = 3
_EACH = 2  # calls for each core: one is answered while the next is on its way
_TOGETHER = 8  # chunks in a call


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
        InputError: the model is in a folder of this machine; or there is no cluster, it has other
            weights, or it lost a chunk three times.
    """
    known = engine.provenance
    if known.origin == Kind.FOLDER.value:
        raise InputError(
            f"{known.name} is a folder of this machine, which a cluster does not have. Leave out "
            "--on, or give a bundled model."
        )
    given = {"task": task, "model": known.name, "weights": known.fingerprint,
             "settings": of_site()}  # fmt: skip
    try:
        connect(place(address))
    except Exception as error:  # noqa: BLE001 - whatever Ray raises
        raise InputError(
            f"No Ray cluster answers at {address} ({type(error).__name__}). Start it, or leave out "
            "--on."
        ) from None
    import ray

    send = ray.remote(num_cpus=1, max_retries=_TRIES)(answer_chunk).remote
    most = _EACH * max(1, int(ray.cluster_resources().get("CPU", 1)))
    busy: dict[Any, list[tuple[int, int]]] = {}  # numbers of chunks, and their rows
    try:
        while True:
            while len(busy) < most and (taken := list(islice(chunks, _TOGETHER))):
                rows = [row for _, each in taken for row in each]
                asked = json.dumps({**given, "rows": rows}).encode()
                busy[send(asked)] = [(number, len(each)) for number, each in taken]
            if not busy:
                return
            done = ray.wait(list(busy), num_returns=1)[0][0]
            lines = iter(ray.get(done).splitlines(keepends=True))
            for number, count in busy.pop(done):
                found = list(islice(lines, count))
                if len(found) < count:
                    raise InputError(f"The nodes have no {known.name} with these weights.")
                yield number, b"".join(found)
    except ray.exceptions.RayError as error:
        raise InputError(
            f"The cluster lost a chunk of rows {_TRIES} times ({type(error).__name__}). What is "
            "answered is kept, and the same command goes on."
        ) from None
    finally:
        leave()  # what has not been answered is not needed


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

"""Chunks of rows, answered on the nodes of a Ray cluster: a process for each of its cores."""

import os
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from app.engine.models import Engine
from app.engine.models.shelf import Kind
from app.faces.batch.answering import Asked, answer_chunk, answer_rows, one_thread_each
from bert_core.errors import InputError

_SETTINGS = ("PUBLIC", "TEXT", "WINDOWS")  # the settings of this machine that hold on the nodes


def spread_on(
    address: str, chunks: Iterator[tuple[int, Sequence[Asked]]], task: str, engine: Engine
) -> Generator[tuple[int, bytes], None, None]:
    """Answer chunks on the nodes, one at a time in each process.

    Chunks have numbers, and the nodes must have the model of `engine`, too.

    Yields:
        The number of a chunk that is done, and a line of JSON for each of its rows.

    Raises:
        InputError: the model is in a folder of this machine; Ray is not installed; or there is no
            cluster, it has other weights or another program, or it lost a chunk.
    """
    known = engine.provenance
    if known.origin == Kind.FOLDER.value:
        raise InputError(
            f"{known.name} is a folder of this machine, which a cluster does not have. Leave out "
            "--on, or give a bundled model."
        )
    if find_spec("ray") is None:
        raise InputError("--on needs more packages: pip install -r requirements-cluster.txt.")
    import ray
    from ray.util.multiprocessing import Pool

    named = (f"BERT_EXPLORER_{name}" for name in _SETTINGS)
    own = {name: value for name in named if (value := os.environ.get(name))}
    try:
        ray.init(address, logging_level="ERROR", log_to_driver=False)
    except Exception as error:  # noqa: BLE001 - whatever Ray raises
        raise InputError(
            f"No Ray cluster answers at {address} ({type(error).__name__}). Start it, or leave out "
            "--on."
        ) from None
    busy: deque[tuple[int, Any]] = deque()
    try:
        pool = Pool(initializer=_prepare, initargs=(own,))
        most = 2 * int(ray.cluster_resources().get("CPU", 1))
        while True:
            while len(busy) < most and (coming := next(chunks, None)):
                given = (task, known.name, known.fingerprint, coming[1])
                busy.append((coming[0], pool.apply_async(answer_on_node, given)))
            if not busy:
                return
            number, call = busy.popleft()
            if not (lines := call.get()):
                raise InputError(f"The nodes have no {known.name} with these weights.")
            yield number, lines
    except ray.exceptions.RayError as error:
        raise InputError(
            f"A node was lost, or cannot answer ({type(error).__name__}); it needs the same BERT "
            "Explorer and packages as this machine. The answers so far are kept; run the same "
            "command to continue."
        ) from None
    finally:
        ray.shutdown()  # what has not been answered is not needed


def _prepare(settings: Mapping[str, str]) -> None:
    """Set what holds in a process on a node, before PyTorch is imported."""
    os.environ.update(settings)
    one_thread_each()


def answer_on_node(task: str, model: str, weights: str, rows: Sequence[Asked]) -> bytes:
    """Answer rows, on a node; with nothing if the node has other weights."""
    from app.declared.answers import engine_of

    try:
        same = engine_of(model).provenance.fingerprint == weights
    except InputError:
        same = False
    return answer_chunk(partial(answer_rows, task, model), rows) if same else b""

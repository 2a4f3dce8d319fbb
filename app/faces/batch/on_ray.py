"""Chunks of rows, answered on the nodes of a Ray cluster: a process for each of its cores."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec

from app.engine.models import Engine
from app.engine.models.shelf import Kind
from app.faces.batch import answering
from app.faces.batch.answering import Asked, Chunks, Lines
from bert_core.errors import InputError

_SETTINGS = ("PUBLIC", "TEXT", "WINDOWS")  # the settings of this machine that hold on the nodes


def spread_on(address: str, chunks: Chunks, task: str, engine: Engine) -> Lines:
    """Answer chunks on the nodes, which must have the model of `engine`, too.

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
    try:
        pool = Pool(initializer=_prepare, initargs=(own,))
        ask = partial(pool.apply_async, answer_on_node)
        given = task, known.name, known.fingerprint
        most = 2 * int(ray.cluster_resources().get("CPU", 1))
        for number, lines in answering.in_order(chunks, lambda rows: ask((*given, rows)).get, most):
            if not lines:
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
    answering.one_thread_each()


def answer_on_node(task: str, model: str, weights: str, rows: Sequence[Asked]) -> bytes:
    """Answer rows, on a node; with nothing if the node has other weights."""
    from app.declared.answers import engine_of

    try:
        same = engine_of(model).provenance.fingerprint == weights
    except InputError:
        same = False
    return (
        answering.answer_chunk(partial(answering.answer_rows, task, model), rows) if same else b""
    )

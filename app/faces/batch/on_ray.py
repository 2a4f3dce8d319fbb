"""Chunks of rows, answered on the nodes of a Ray cluster: a process for each of its cores."""

import os
from collections.abc import Callable, Sequence

from app.engine.models import Engine
from app.faces.batch.answering import Asked, Chunks, Lines, answer_rows, in_order
from bert_core.errors import InputError

# The settings of this machine that hold on the nodes.
_SETTINGS = [f"BERT_EXPLORER_{name}" for name in ("PUBLIC", "TEXT", "WINDOWS", "THREADS", "RUNS")]


def spread_on(address: str, chunks: Chunks, task: str, engine: Engine) -> Lines:
    """Answer chunks on the nodes; Ray repeats what a process was doing when it was ended.

    Raises:
        InputError: Ray is not installed; or there is no cluster, it has other weights or another
            program, or it lost a chunk.
    """
    own = {name: os.environ[name] for name in _SETTINGS if name in os.environ}
    try:
        import ray

        ray.init(address, runtime_env={"env_vars": own}, logging_level=50, log_to_driver=False)
    except Exception as error:  # noqa: BLE001 - whatever Ray raises
        raise InputError(
            f"No Ray cluster answers at {address} ({type(error).__name__}). Start it, and here "
            "pip install -r requirements-cluster.txt; or leave out --on."
        ) from None
    ask, known = ray.remote(answer_on_node).remote, engine.provenance

    def submit(rows: Sequence[Asked]) -> Callable[[], bytes]:
        answered = ask(task, known.name, known.fingerprint, rows)
        return lambda: bytes(ray.get(answered))

    try:
        yield from in_order(chunks, submit, 2 * int(ray.cluster_resources().get("CPU", 1)))
    except ray.exceptions.RayError as error:
        raise InputError(
            f"A node was lost, or cannot answer ({getattr(error, 'cause', type(error).__name__)}). "
            "It needs the same BERT Explorer and packages as this machine. The answers so far are "
            "kept; run the same command to continue."
        ) from None
    finally:
        ray.shutdown()  # what has not been answered is not needed


def answer_on_node(task: str, model: str, weights: str, rows: Sequence[Asked]) -> bytes:
    """Answer rows, on a node; InputError: it has no such model, or other weights."""
    from app.declared.answers import engine_of

    if engine_of(model).provenance.fingerprint != weights:
        raise InputError(f"it has no {model} with these weights")
    return answer_rows(task, model, rows)

"""What Ray runs on a node: one process, which keeps the models for all who ask.

Ray imports this module by its name, so nothing slow is imported before the settings are known.
"""

import json
import os
import threading
import time

import ray

_UNSEEN = 120.0  # seconds after which a worker that no site asks for ends
_UNWANTED = 30.0  # seconds after which an answer that no one looks at is cancelled
_EVERY = 2.0  # seconds

SIDE = "side"
"""The threads for what answers at once, and never waits behind answers."""


class Worker:
    """The worker of a node. Arguments and results are bytes; see `app.cluster.answering`.

    Args:
        told: JSON of the node's cores, the settings of the site, and which code it has.
    """

    def __init__(self, told: bytes) -> None:
        given = json.loads(told)
        prepare(int(given["cores"]), given["settings"])
        from app.cluster.answering import Answers

        self._answers = Answers()
        self._seen = time.monotonic()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def hello(self) -> bytes:
        """Say that the worker is there; a site asks every few seconds."""
        self._seen = time.monotonic()
        return b"here"

    def answer(self, ticket: bytes, request: bytes) -> bytes:
        """Answer a request."""
        return self._answers.answer(ticket, request)

    def look(self, ticket: bytes) -> bytes:
        """Say how far an answer is, and note that someone waits for it."""
        return self._answers.look(ticket)

    def stop(self, ticket: bytes) -> bytes:
        """Cancel an answer that no one waits for any more."""
        self._answers.stop(ticket)
        return b""

    def _watch(self) -> None:
        """Cancel what no one looks at; end when no site has asked for this worker in a while."""
        while time.monotonic() - self._seen < _UNSEEN:
            time.sleep(_EVERY)
            self._answers.stop_unseen(_UNWANTED)
        ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


for each in (Worker.hello, Worker.look, Worker.stop):
    ray.method(concurrency_group=SIDE)(each)


def prepare(cores: int, settings: dict[str, str]) -> None:
    """Set what holds in a process on a node, before PyTorch is imported."""
    from app.waiting import limit_waiting

    limit_waiting()
    threads = max(1, min(4, cores // 2))
    here = {"COMPUTE": "", "THREADS": str(threads), "RUNS": str(max(1, cores // threads))}
    os.environ.update({f"BERT_EXPLORER_{name}": value for name, value in here.items()})
    os.environ.update(settings)
    os.environ.pop("OMP_NUM_THREADS", None)  # Ray's; each pass sets its own

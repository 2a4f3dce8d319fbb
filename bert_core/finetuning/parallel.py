"""Several threads computing the parts of one step, each with gradients of its own.

On a processor this beats giving all threads to one matrix product: threads that share a product
wait for the slowest of them hundreds of times a step, here they meet once. On two cores that did
other work too, two threads in every product took 11 to 15 seconds a step where one thread alone
took 4.
"""

import copy
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from bert_core.model.bert import BertPreTrainedModel

Work = Callable[["BertPreTrainedModel", Any], dict[str, float]]


class Replicas:
    """A model and copies of it that share its parameters but not its gradients.

    Args:
        model: the model that is trained.
        count: models in all, the original included.
    """

    def __init__(self, model: "BertPreTrainedModel", count: int) -> None:
        self.models = [model]
        for _ in range(count - 1):
            replica = copy.deepcopy(model)
            pairs = zip(replica.parameters(), model.parameters(), strict=True)
            for own, shared in pairs:
                own.data = shared.data
            self.models.append(replica)

    def run(self, work: Work, parts: Sequence[Any]) -> list[dict[str, float]]:
        """Call `work` on every part and gather all gradients in the original model.

        Args:
            work: gets a model and a part, runs its backward pass, returns figures.
            parts: whoever is free takes the next one.

        Returns:
            What `work` returned, in the order of the parts.
        """
        if len(self.models) == 1:
            return [work(self.models[0], part) for part in parts]
        results: list[dict[str, float]] = [{} for _ in parts]
        failures: list[BaseException] = []
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(len(parts)):
            waiting.put(index)

        def take_parts(model: "BertPreTrainedModel") -> None:
            torch.set_num_threads(1)  # of this thread alone
            while not failures:
                try:
                    index = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    results[index] = work(model, parts[index])
                except Exception as failure:  # noqa: BLE001 - raised again by the caller's thread
                    failures.append(failure)

        threads = [threading.Thread(target=take_parts, args=(model,)) for model in self.models]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        self._gather()
        return results

    def _gather(self) -> None:
        """Add the gradients of the copies to those of the original."""
        for replica in self.models[1:]:
            for own, shared in zip(replica.parameters(), self.models[0].parameters(), strict=True):
                if own.grad is None:
                    continue
                shared.grad = own.grad if shared.grad is None else shared.grad.add_(own.grad)
                own.grad = None

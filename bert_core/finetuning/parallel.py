"""Computing the parts of one step in several threads, each with its own gradients.

On a CPU this is faster than using all threads for one matrix product: threads that share products
wait for the slowest of them hundreds of times per step, here only once. On two cores that were also
doing other work, a step took 11 to 15 seconds with two threads per product, and 4 seconds with a
single thread.
"""

import copy
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from bert_core.model.pretrained import BertPreTrainedModel

Work = Callable[["BertPreTrainedModel", Any], dict[str, float]]


class Replicas:
    """A model and copies of it that share its parameters but have their own gradients."""

    def __init__(self, model: "BertPreTrainedModel", count: int) -> None:
        self.models = [model]
        for _ in range(count - 1):
            replica = copy.deepcopy(model)
            pairs = zip(replica.parameters(), model.parameters(), strict=True)
            for own, shared in pairs:
                own.data = shared.data
            self.models.append(replica)

    def zero_grad(self) -> None:
        """Clear the gradients of the model and its copies."""
        for model in self.models:
            model.zero_grad()

    def run(self, work: Work, parts: Sequence[Any]) -> list[dict[str, float]]:
        """Call `work` on every part and add up all gradients in the original model.

        Args:
            work: (model, part) -> named values to report; runs forward and backward pass.
            parts: parts of one step; each idle thread takes the next one.

        Returns:
            The results of `work`, in the order of the parts.
        """
        if len(self.models) == 1:
            return [work(self.models[0], part) for part in parts]
        results: list[dict[str, float]] = [{} for _ in parts]
        failures: list[BaseException] = []
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(len(parts)):
            waiting.put(index)

        def take_parts(model: "BertPreTrainedModel") -> None:
            torch.set_num_threads(1)  # applies to this thread only
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

"""Solutions of sheet 4."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

MASK, log_chance, BertForMaskedLM = 0, float, object  # the sheet has them


# %% blank without_head
@contextmanager
def without_head(model: BertForMaskedLM, layer: int, head: int) -> Iterator[None]:
    """Take a head out for the block of a `with`, and put it back after it, whatever happens."""
    size = model.config.hidden_size // model.config.num_attention_heads
    weight = model.bert.encoder.layer[layer].attention.output.dense.weight
    columns = weight.detach()[:, head * size : (head + 1) * size]
    kept = columns.clone()
    try:
        columns.zero_()
        yield
    finally:
        columns.copy_(kept)


# %% blank gradient_x_input
def gradient_x_input(model: BertForMaskedLM, ids: list[int], at: int, piece: int) -> Tensor:
    """Return for each token the gradient of the log-probability by its word vector, times it."""
    kept = []

    def keep(module: object, given: object, words: Tensor) -> Tensor:
        kept.append(words.detach().clone().requires_grad_())
        return kept[0] * 1  # the embeddings add to it in place

    hook = model.bert.embeddings.word_embeddings.register_forward_hook(keep)
    try:
        chance = model(torch.tensor([ids]))[0, at].log_softmax(-1)[piece]
    finally:
        hook.remove()
    (gradient,) = torch.autograd.grad(chance, kept[0])
    return (gradient * kept[0]).sum(-1)[0]


# %% blank fall
def fall(
    model: BertForMaskedLM, ids: list[int], at: int, piece: int, order: list[int], count: int
) -> float:
    """Hide the first `count` places of an order by [MASK], together; return how far log p falls."""
    hidden = [MASK if n in order[:count] else each for n, each in enumerate(ids)]
    return log_chance(model, ids, at, piece) - log_chance(model, hidden, at, piece)


# %% blank chance_of_it
def chance_of_it(own: float, random: list[float]) -> float:
    """Return how often a random order does at least as well as ours, counted as one more."""
    return (1 + sum(each >= own for each in random)) / (1 + len(random))

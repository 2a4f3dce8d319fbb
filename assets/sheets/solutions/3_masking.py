"""Solutions of sheet 3."""

import torch
from torch import Tensor


# %% blank choose
def choose(special: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Choose tokens at random: (B, T) true or false, from special (B, T)."""
    return (torch.rand(special.shape, generator=generator) < rate) & ~special


# %% blank corrupt
def corrupt(
    input_ids: Tensor, chosen: Tensor, mask_id: int, size: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return what the model reads, and the labels: the old ids where chosen, -100 elsewhere."""
    fate = torch.rand(input_ids.shape, generator=generator)
    others = torch.randint(size, input_ids.shape, generator=generator)
    given = torch.where(chosen & (fate < 0.8), mask_id, input_ids)
    given = torch.where(chosen & (fate >= 0.9), others, given)
    return given, torch.where(chosen, input_ids, -100)


# %% blank masked_loss
def masked_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of the tokens with a label."""
    kept = labels != -100
    chances = logits[kept].log_softmax(-1)
    return -chances.gather(1, labels[kept][:, None]).mean()


# %% blank floor_of_guessing
def floor_of_guessing(train: Tensor, test: Tensor, size: int) -> float:
    """Return the loss on `test` of a guesser who knows how often each id is in `train`."""
    counts = torch.bincount(train, minlength=size) + 1
    return -float((counts / counts.sum()).log()[test].mean())

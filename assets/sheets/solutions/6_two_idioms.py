"""Solutions of sheet 6."""

from collections.abc import Callable

import torch
from torch import Tensor

Batch = tuple  # the sheet has it


# %% blank freeze
def freeze(model: torch.nn.Module, layers: int) -> None:
    """Freeze the embeddings and so many of the first layers, in either idiom."""
    first = ("embeddings.", *(f"encoder.layer.{n}." for n in range(layers)))
    for name, each in model.named_parameters():
        if any(part in name for part in first):
            each.requires_grad_(False)


# %% blank fine_tune
def fine_tune(
    model: torch.nn.Module, batches: list[Batch], logits: Callable[..., Tensor], rate: float
) -> list[float]:
    """Train one step of AdamW on each batch, in order; return the loss before each step."""
    free = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(free, lr=rate, weight_decay=0.0)
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits(model, batch), batch[2])
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


# %% blank baseline
def baseline(trained: list[int], held: list[int]) -> float:
    """Return the share of held-out labels that always the most frequent trained one gets right."""
    from collections import Counter

    frequent = Counter(trained).most_common(1)[0][0]
    return held.count(frequent) / len(held)


# %% blank over_seeds
def over_seeds(shares: list[float]) -> tuple[float, float, float]:
    """Return the mean of three runs, and both ends of its 95 % interval (Student's t: 4.303)."""
    mean = sum(shares) / len(shares)
    variance = sum((each - mean) ** 2 for each in shares) / (len(shares) - 1)
    half = 4.303 * (variance / len(shares)) ** 0.5
    return mean, mean - half, mean + half

"""Solutions of sheet 5."""

import torch
from torch import Tensor

Row, BertForSequenceClassification = tuple, torch.nn.Module  # the sheet has them


# %% blank split
def split(rows: list[Row], share: float, generator: torch.Generator) -> tuple[list[Row], list[Row]]:
    """Divide rows at random: some to train on, and `share` of each label held out (rounded)."""
    trained, held = [], []
    for label in sorted({label for _, label in rows}):
        own = [row for row in rows if row[1] == label]
        order = torch.randperm(len(own), generator=generator).tolist()
        count = round(len(own) * share)
        held += [own[number] for number in order[:count]]
        trained += [own[number] for number in order[count:]]
    return trained, held


# %% blank train_step
def train_step(
    model: BertForSequenceClassification, ids: Tensor, labels: Tensor,
    optimizer: torch.optim.Optimizer,
) -> float:  # fmt: skip
    """Train one step on ids (B, T) and labels (B,), with dropout; return the loss before it."""
    model.train()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(ids), labels)
    loss.backward()
    optimizer.step()
    return float(loss.detach())


# %% blank accuracy
def accuracy(model: BertForSequenceClassification, rows: list[Row]) -> float:
    """Return the share of rows whose label has the largest logit; texts may differ in length."""
    model.eval()
    with torch.no_grad():
        return sum(int(model(torch.tensor([ids])).argmax()) == y for ids, y in rows) / len(rows)


# %% blank interval
def interval(right: int, number: int) -> tuple[float, float]:
    """Return both ends of the 95 % interval of a share (Wilson 1927; z = 1.96)."""
    z, share = 1.96, right / number
    middle = share + z * z / (2 * number)
    spread = z * (share * (1 - share) / number + z * z / (4 * number * number)) ** 0.5
    return tuple((middle + sign * spread) / (1 + z * z / number) for sign in (-1, 1))


# %% blank better_by_chance
def better_by_chance(only_a: int, only_b: int) -> float:
    """Return the p-value of a sign test with two tails."""
    from math import comb

    count = only_a + only_b
    tail = sum(comb(count, k) for k in range(max(only_a, only_b), count + 1))
    return min(1.0, 2 * tail / 2**count)

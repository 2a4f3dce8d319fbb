"""# 5. Fine-tuning with a held-out set and an interval

A model that knows its rows by heart has shown nothing about new ones. You hold rows back,
train a step by hand, measure on what was held back, and say how far a figure can be trusted.
Page: *Lab*, tab *Fine-tuning*. Reading: Devlin et al. 2019, section 4.1; Wilson 1927; Dror et al.
2018, sections 3 and 4.
"""

# %%
import torch
from torch import Tensor

from bert_core import BertConfig, BertForSequenceClassification

Row = tuple[list[int], int]
"""The ids of a text, and its label."""


def tiny(seed: int) -> BertForSequenceClassification:
    """Return a small model with random weights and dropout."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=37, max_position_embeddings=16,
    )  # fmt: skip
    return BertForSequenceClassification(config, 2)


# %% blank split 2
def split(rows: list[Row], share: float, generator: torch.Generator) -> tuple[list[Row], list[Row]]:
    """Divide rows at random: some to train on, and `share` of each label held out (rounded)."""
    raise NotImplementedError


# %% check split
rows = [([number], int(number >= 30)) for number in range(40)]
trained, held = split(rows, 0.2, torch.Generator().manual_seed(0))
numbers = [each[0][0] for each in trained], [each[0][0] for each in held]
assert not set(numbers[0]) & set(numbers[1]), "A row is in both. What is trained on cannot measure."
assert sorted(numbers[0] + numbers[1]) == list(range(40)), "Every row is in one of the two, once."
assert len(held) == 8, f"Held out are 20 % of 40 rows, 8; found {len(held)}."
labels = [each[1] for each in held]
seeds = [split(rows, 0.2, torch.Generator().manual_seed(n))[1] for n in range(6)]
assert all(sum(each[1] for each in found) == 2 for found in seeds), (
    "Hold out the same share of each label: 6 of 30 and 2 of 10."
)
assert len({tuple(sorted(each[0][0] for each in found)) for found in seeds}) > 1, (
    "The rows are always the same. Draw them at random, with the generator."
)


# %% blank train_step 3
def train_step(
    model: BertForSequenceClassification, ids: Tensor, labels: Tensor,
    optimizer: torch.optim.Optimizer,
) -> float:  # fmt: skip
    """Train one step on ids (B, T) and labels (B,), with dropout; return the loss before it.

    `model(ids)` gives logits (B, C).
    """
    raise NotImplementedError


# %% check train_step
ids = torch.randint(5, 50, (6, 8), generator=torch.Generator().manual_seed(1))
labels = torch.tensor([0, 1, 0, 1, 1, 0])
mine, reference = tiny(0), tiny(0)
optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (mine, reference)]
start = {name: each.clone() for name, each in mine.state_dict().items()}
mine.eval()
for number in range(2):
    torch.manual_seed(number)
    reference.train()
    optimizers[1].zero_grad()
    wanted = torch.nn.functional.cross_entropy(reference(ids), labels)
    wanted.backward()
    optimizers[1].step()
    wanted = float(wanted.detach())
    torch.manual_seed(number)
    found = train_step(mine, ids, labels, optimizers[0])
    assert mine.training, "Train with dropout: `model.train()` first."
    if not number:
        moved = any(bool((start[name] != each).any()) for name, each in mine.state_dict().items())
        assert moved, "No weight has changed: `backward()`, then `optimizer.step()`."
        assert abs(found - wanted) < 1e-5, (
            f"Expected the loss before the step, {wanted:.5f}; found {found:.5f}."
        )
    pairs = zip(mine.parameters(), reference.parameters(), strict=True)
    far = max(float((one - other).detach().abs().max()) for one, other in pairs)
    assert far < 1e-5, (
        "The first step is right, the second is not: gradients add up until `zero_grad()`."
        if number
        else "The step differs. Is the loss the mean cross-entropy, and is there one step?"
    )


# %% blank accuracy 2
def accuracy(model: BertForSequenceClassification, rows: list[Row]) -> float:
    """Return the share of rows whose label has the largest logit; texts may differ in length."""
    raise NotImplementedError


# %% check accuracy
model = tiny(3).train()
draw = torch.Generator().manual_seed(2)
rows = [(torch.randint(5, 50, (4 + n % 3,), generator=draw).tolist(), n % 2) for n in range(30)]
model.eval()
with torch.no_grad():
    guesses = [int(model(torch.tensor([given])).argmax()) for given, _ in rows]
rows = [(given, guess if n % 5 else 1 - guess) for n, ((given, _), guess) in
        enumerate(zip(rows, guesses, strict=True))]  # fmt: skip
model.train()
found = [accuracy(model, rows) for _ in range(3)]
assert len(set(found)) == 1, (
    "It gives another result each time: `model.eval()` switches dropout off."
)
assert found[0] <= 1, f"A share is at most 1; found {found[0]}. Divide by the number of rows."
assert abs(found[0] - 0.2) > 1e-6, "You count the rows that are wrong."
assert abs(found[0] - 0.8) < 1e-6, f"Expected 24 of 30 rows, 0.8; found {found[0]:.3f}."


# %% blank interval 2
def interval(right: int, number: int) -> tuple[float, float]:
    """Return both ends of the 95 % interval of a share (Wilson 1927; z = 1.96)."""
    raise NotImplementedError


# %% check interval
low, high = interval(12, 12)
assert (low, high) != (1.0, 1.0), (
    "12 of 12 proves no certainty: p ± z·sqrt(p(1-p)/n) has no width at the ends."
)
low, high = interval(10, 12)
assert low < 10 / 12 < high, "The interval contains the share that was found."
p, z = 10 / 12, 1.96
assert abs(low - (p - z * (p * (1 - p) / 12) ** 0.5)) > 1e-6, (
    "That is Wald's interval, not Wilson's."
)
assert abs(low - 0.5520) < 5e-4 and abs(high - 0.9530) < 5e-4, (
    f"10 of 12: expected 55 % to 95 %; found {low:.1%} to {high:.1%}."
)


# %% blank better_by_chance 1
def better_by_chance(only_a: int, only_b: int) -> float:
    """Return the p-value of a sign test: A alone was right in so many rows, B alone in so many.

    If both are equally good, each such row is a coin. Count both tails, at most 1.
    """
    raise NotImplementedError


# %% check better_by_chance
found = better_by_chance(6, 1)
assert abs(found - 0.0625) > 1e-6, "That is one tail. B could have been the better one: two tails."
assert abs(found - 0.125) < 1e-6, f"6 against 1: expected 0.125, found {found:.4f}."
assert better_by_chance(3, 3) <= 1, "A probability is at most 1."

# %% [markdown]
# Not graded: train the bundled model on forty rows of your own (page *Lab*, tab *Fine-tuning*), ten
# of them held out, with three seeds. Which is wider: the interval, or the spread of the seeds?

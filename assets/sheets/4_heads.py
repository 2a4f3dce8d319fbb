"""# 4. A head taken out and put back; an attribution, and a fair test of it

What does the answer need? Take a part away and look, put it back, and test an explanation against
chance. Pages: *X-ray*, *Why?*. Reading: Michel et al. 2019, section 3; Sundararajan et al. 2017,
section 2; DeYoung et al. 2020, section 4.
"""

# %%
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from bert_core import BertForMaskedLM, BertTokenizer
from bert_core.analysis.attribution import attribute
from bert_core.analysis.effects import head_effects
from bert_core.analysis.targets import Target

tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")
model = BertForMaskedLM.from_pretrained("explorer-mini-uncased").eval()
MASK = tokenizer.vocab["[MASK]"]
encoding = tokenizer.encode("The keys to the cabinet [MASK] made of iron.")
ids = encoding.input_ids
at, piece = encoding.tokens.index("[MASK]"), tokenizer.vocab["are"]


def log_chance(model: BertForMaskedLM, ids: list[int], at: int, piece: int) -> float:
    """Return the log-probability of a piece at a place."""
    with torch.no_grad():
        return float(model(torch.tensor([ids]))[0, at].log_softmax(-1)[piece])


# %% [markdown]
# The output of a layer's heads, side by side, is multiplied by one matrix: `output.dense.weight`
# (D, H * K). Head h writes through K of its columns; without them it writes nothing.


# %% blank without_head 3
@contextmanager
def without_head(model: BertForMaskedLM, layer: int, head: int) -> Iterator[None]:
    """Take a head out for the block of a `with`, and put it back after it, whatever happens."""
    raise NotImplementedError
    yield


# %% check without_head
kept = {name: each.clone() for name, each in model.state_dict().items()}


def unchanged() -> bool:
    """Return whether the model is as it was."""
    return all(bool((kept[name] == each).all()) for name, each in model.state_dict().items())


wanted = head_effects(model, encoding, Target.token(at, piece), "zero")
before = log_chance(model, ids, at, piece)
try:
    with without_head(model, 4, 10):
        effect = log_chance(model, ids, at, piece) - before
    assert unchanged(), "After the block the model must be what it was: keep the columns first."
    assert abs(effect) > 1e-6, "Nothing changed in the block. Are the weights changed in place?"
    assert abs(effect - wanted[4, 10]) < 1e-4, (
        f"The effect should be {wanted[4, 10]:.4f}, found {effect:.4f}. A head has K columns of "
        "`bert.encoder.layer[layer].attention.output.dense.weight`, from head * K; not rows."
    )
    try:
        with without_head(model, 0, 1):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert unchanged(), "If the block ends with an error, the head is not put back: use `finally`."
finally:
    model.load_state_dict(kept)


# %% blank gradient_x_input 3
def gradient_x_input(model: BertForMaskedLM, ids: list[int], at: int, piece: int) -> Tensor:
    """Return for each token the gradient of the log-probability by its word vector, times it (T,).

    `model.bert.embeddings.word_embeddings` makes the word vectors; a hook can keep them.
    """
    raise NotImplementedError


# %% check gradient_x_input
wanted = attribute(model, encoding, Target.token(at, piece), method="gradient_x_input")
found = gradient_x_input(model, ids, at, piece).detach()
assert found.shape == (len(ids),), f"Expected one number for each token, ({len(ids)},)."
free = torch.tensor([n not in wanted.frozen for n in range(len(ids))])
target = torch.tensor(wanted.scores.copy(), dtype=found.dtype)
assert not bool((found >= 0).all()), (
    "All are positive. The scores have a sign: sum the products, and take no length of them."
)
ratio = float((found * target)[free].sum() / (target * target)[free].sum())
close = (found - ratio * target)[free].abs().max() < 1e-4 * target.abs().max()
assert not close or abs(ratio - 1) < 1e-3, (
    f"Your scores are {ratio:.3f} times the right ones: the target is the log-probability, neither "
    "the probability nor its negative."
)
assert (found - target)[free].abs().max() < 1e-3 * target.abs().max(), (
    "The scores differ. Are it the word vectors alone, before positions and LayerNorm, and is it "
    "the log-probability, not the logit?"
)
assert all(each.grad is None for each in model.parameters()), (
    "Gradients are left on the weights of the model: ask `torch.autograd.grad` for those of the "
    "word vectors alone."
)


# %% blank fall 2
def fall(
    model: BertForMaskedLM, ids: list[int], at: int, piece: int, order: list[int], count: int
) -> float:
    """Hide the first `count` places of an order by [MASK], together; return how far log p falls.

    A larger fall is a better order. `log_chance` and `MASK` may be used.
    """
    raise NotImplementedError


# %% check fall
same = list(ids)
order = [2, 8, 4, 7]
found = fall(model, ids, at, piece, order, 2)
assert ids == same, "The ids that came in are changed. Work on a copy."
hidden = [MASK if n in order[:2] else each for n, each in enumerate(ids)]
wanted_fall = log_chance(model, ids, at, piece) - log_chance(model, hidden, at, piece)
singly = [[MASK if n == place else each for n, each in enumerate(ids)] for place in order[:2]]
alone = sum(
    log_chance(model, ids, at, piece) - log_chance(model, each, at, piece) for each in singly
)
assert abs(found + wanted_fall) > 1e-5, "A fall is positive where the answer becomes less likely."
assert abs(found - alone) > 1e-5, "Hide them together: one sentence with two places hidden."
assert abs(found - wanted_fall) < 1e-5, f"Expected {wanted_fall:.5f}, found {found:.5f}."


# %% blank chance_of_it 2
def chance_of_it(own: float, random: list[float]) -> float:
    """Return how often a random order does at least as well as ours, which is counted as one more.

    That is a p-value of a permutation test: (1 + number at least as large) / (1 + number of all).
    """
    raise NotImplementedError


# %% check chance_of_it
found = chance_of_it(3.0, [1.0, 2.0, 3.0, 0.0])
assert chance_of_it(9.0, [1.0] * 9) > 0, (
    "No finite number of random orders makes it 0: count the order that is tested with them."
)
assert abs(found - 0.2) > 1e-6, "What is exactly as good counts as well: “at least as large”."
assert found < 0.9, "Count the random orders that do better, not those that do worse."
assert abs(found - 0.4) < 1e-6 and abs(chance_of_it(9.0, [1.0] * 9) - 0.1) < 1e-6, (
    f"Of 3 against 1, 2, 3 and 0 it is 2 of 5; found {found:.3f}."
)

# %% [markdown]
# Not graded: is gradient x input better than chance on this sentence? And on twenty of your own?
# Write them down before you look. What would you conclude from one sentence?

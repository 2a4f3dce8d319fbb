"""# 2. Attention, LayerNorm and their gradients by hand

You write two of the formulas of a layer, then their gradients without automatic
differentiation, and compare both with the bundled model to five digits. Pages: *Attention*,
*X-ray*. Reading: Vaswani et al. 2017, section 3.2; Ba et al. 2016, section 3.

T tokens, D numbers in a vector, H heads, K = D / H.
"""

# %%
import torch
from torch import Tensor

from bert_core import BertModel, BertTokenizer

tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")
model = BertModel.from_pretrained("explorer-mini-uncased").eval()
layer = model.encoder.layer[0]
ids = torch.tensor([tokenizer.encode("The keys to the cabinet are made of iron.").input_ids])
with torch.no_grad():
    hidden = model.embeddings(ids)[0]  # (T, D)
    query, key, value = (
        part[0] for part in layer.attention.self.project(hidden[None])
    )  # (H, T, K)


def close(found: Tensor, wanted: Tensor) -> bool:
    """Return whether two tensors have one shape and agree to 1e-5."""
    return found.shape == wanted.shape and bool((found - wanted).abs().max() < 1e-5)


# %% blank layer_norm 2
def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Normalise each vector of x (T, D) by its own mean and variance."""
    raise NotImplementedError


# %% check layer_norm
torch.manual_seed(0)
norm = layer.output.LayerNorm
x = 0.3 * torch.randn(5, norm.weight.shape[0]) + 1
with torch.no_grad():
    wanted, found = norm(x), layer_norm(x, norm.weight, norm.bias, norm.eps)
    assert found.shape == x.shape, (
        f"Expected the shape {tuple(x.shape)}, found {tuple(found.shape)}."
    )
    z = (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + norm.eps).sqrt()
    assert not close(found, z * norm.weight + norm.bias), (
        "Divide the sum of squares by D, not by D - 1: `var(..., unbiased=False)`."
    )
    assert not close(layer_norm(x, norm.weight, 0 * norm.bias, norm.eps), wanted), (
        "The bias is added at the end."
    )
    tiny = 1e-3 * torch.randn(2, 4)
    one, none = torch.ones(4), torch.zeros(4)
    wide = torch.nn.functional.layer_norm(tiny, (4,), eps=0.5)
    assert close(layer_norm(tiny, one, none, 0.5), wide), (
        "`eps` is added to the variance, under the root."
    )
    assert close(found, wanted), "It differs from the model. Mean and variance are of each row."


# %% blank attention 3
def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the context (H, T, K) and the probabilities (H, T, T).

    Keys whose mask (T,) is 0 get no attention.
    """
    raise NotImplementedError


# %% check attention
everything = torch.ones(query.shape[1])
context, shares = attention(query, key, value, everything)
assert shares.shape == (query.shape[0], query.shape[1], query.shape[1]), "Expected (H, T, T)."
assert torch.allclose(shares.sum(-1), torch.ones(shares.shape[:2]), atol=1e-5), (
    "Each row is one query, and sums to 1: take the softmax over the keys, the last axis."
)
with torch.no_grad():
    scores = query @ key.transpose(-1, -2)
    assert not close(shares, scores.softmax(-1)), "Divide the scores by the square root of K."
    reference = torch.nn.functional.scaled_dot_product_attention(query, key, value)
assert close(context, reference), (
    "The probabilities are right; the context is their product with value."
)
hidden_one = everything.clone()
hidden_one[3] = 0
context, shares = attention(query, key, value, hidden_one)
assert bool((shares[:, :, 3] == 0).all()), (
    "A masked key gets no attention: its score becomes -inf before the softmax."
)
assert torch.allclose(shares.sum(-1), torch.ones(shares.shape[:2]), atol=1e-5), (
    "The other keys share the whole: mask before the softmax, not after it."
)

# %% [markdown]
# Now backwards. `g` is the gradient of some loss by the result; write those by what went in,
# without `backward()` or `autograd`.


# %% blank layer_norm_gradient 3
def layer_norm_gradient(x: Tensor, weight: Tensor, eps: float, g: Tensor) -> Tensor:
    """Return the gradient by x (T, D), given that by the result of `layer_norm`."""
    raise NotImplementedError


# %% check layer_norm_gradient
torch.manual_seed(1)
x, g = torch.randn(4, 6, requires_grad=True), torch.randn(4, 6)
weight = torch.randn(6)
out = torch.nn.functional.layer_norm(x, (6,), weight, None, 1e-5)
(wanted,) = torch.autograd.grad(out, x, g)
with torch.no_grad():
    found = layer_norm_gradient(x.detach(), weight, 1e-5, g)
    spread = (x.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    assert not close(found, g * weight / spread), (
        "The mean and the variance depend on x as well: two more terms."
    )
    centred = (g * weight - (g * weight).mean(1, keepdim=True)) / spread
    assert not close(found, centred), "That is the way through the mean; add that of the variance."
    assert close(found, wanted), "It differs. Each row of the right gradient sums to 0."


# %% blank attention_gradient 2
def attention_gradient(
    query: Tensor, key: Tensor, value: Tensor, g: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients by query, key and value (H, T, K); nothing is masked."""
    raise NotImplementedError


# %% check attention_gradient
torch.manual_seed(2)
q, k, v = (each.clone().requires_grad_() for each in (query, key, value))
g = torch.randn(value.shape)
out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
wanted = torch.autograd.grad(out, (q, k, v), g)
dq, dk, dv = attention_gradient(query, key, value, g)
assert close(dv, wanted[2]), (
    "By value it is the probabilities, turned round (keys by queries), times g."
)
assert not close(dq, wanted[0] * query.shape[-1] ** 0.5), "The scale counts backwards, too."
assert close(dq, wanted[0]), (
    "By query: a softmax gives P * (dP - the sum of P * dP in each row), then the scale, then key."
)
assert close(dk, wanted[1]), "By key it is the same as by query, with the scores turned round."

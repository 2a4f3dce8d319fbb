"""Solutions of sheet 2."""

from torch import Tensor


# %% blank layer_norm
def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Normalise each vector of x (T, D) by its own mean and variance."""
    centred = x - x.mean(-1, keepdim=True)
    return weight * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() + bias


# %% blank attention
def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the context (H, T, K) and the probabilities (H, T, T)."""
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    shares = scores.masked_fill(mask == 0, float("-inf")).softmax(-1)
    return shares @ value, shares


# %% blank layer_norm_gradient
def layer_norm_gradient(x: Tensor, weight: Tensor, eps: float, g: Tensor) -> Tensor:
    """Return the gradient by x (T, D), given that by the result of `layer_norm`."""
    spread = (x.var(-1, unbiased=False, keepdim=True) + eps).sqrt()
    z, own = (x - x.mean(-1, keepdim=True)) / spread, g * weight
    return (own - own.mean(-1, keepdim=True) - z * (own * z).mean(-1, keepdim=True)) / spread


# %% blank attention_gradient
def attention_gradient(
    query: Tensor, key: Tensor, value: Tensor, g: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients by query, key and value (H, T, K); nothing is masked."""
    scale = query.shape[-1] ** -0.5
    shares = (scale * query @ key.transpose(-1, -2)).softmax(-1)
    by_share = g @ value.transpose(-1, -2)
    scores = scale * shares * (by_share - (shares * by_share).sum(-1, keepdim=True))
    return scores @ key, scores.transpose(-1, -2) @ query, shares.transpose(-1, -2) @ g

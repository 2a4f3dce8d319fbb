"""What sums up where a head looks, from its attention; one definition for texts and corpora.

Every function takes the attention (H, T, T) of one layer for one input, whose rows look, whose
columns are looked at and whose rows sum to 1, and answers for each head with a mean over rows, in
the number type it was given. The measures are those of Clark et al. 2019, "What Does BERT Look
At?", section 3.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Attention = NDArray[Any]


def to_neighbour(layer: Attention, offset: int) -> Attention:
    """Return the mean attention to the token `offset` places further on: (H,).

    Tokens that have no such token do not count; 0 is the token itself. At least one token must.
    """
    means: Attention = np.diagonal(layer, offset, -2, -1).mean(axis=-1)
    return means


def to_places(layer: Attention, places: NDArray[np.bool_]) -> Attention:
    """Return the mean over all rows of the attention to chosen columns (T,) together: (H,)."""
    means: Attention = layer[:, :, places].sum(axis=-1).mean(axis=-1)
    return means


def entropies(layer: Attention) -> Attention:
    """Return the mean entropy in bits of the rows: (H,); 0 is one token alone, log2(T) all alike.

    One head after another, because its 1 MiB at 512 tokens stays in the processor's cache; in
    numpy, whose logarithm takes a third of the time of PyTorch's.
    """
    tiny = np.finfo(layer.dtype).tiny  # 0 times the logarithm of this is 0
    scratch = np.empty(layer.shape[1:], dtype=layer.dtype)
    found = np.empty(len(layer), dtype=layer.dtype)
    for head, weights in enumerate(layer):
        np.add(weights, tiny, out=scratch)
        np.log2(scratch, out=scratch)
        found[head] = -np.einsum("ij,ij->i", weights, scratch).mean()  # vecdot needs numpy 2
    return found

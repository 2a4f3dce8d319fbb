"""What each position sees in BERT, GPT and ELMo: computed, by what moves its guess.

One layer of each kind with random weights; the words whose vectors have a gradient are seen. No
trained weights are needed: what can be seen follows from how the layers are connected.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from app.features.variants.result import Sees

WORDS = ("the", "keys", "to", "it", "are", "old")
_SIZE = 8


@cache
def sees() -> tuple[Sees, ...]:
    """Return for each model which words the guess at each position sees, (T, T)."""
    count = len(WORDS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(_SIZE, 2, _SIZE, dropout=0.0, batch_first=True)
        reader, backward = (nn.LSTM(_SIZE, _SIZE, batch_first=True) for _ in range(2))
    future = torch.ones(count, count).triu(1).bool()
    bert = _reached(layer, 0)
    gpt = _reached(lambda x: layer(x, src_mask=future), -1)
    left = _reached(lambda x: reader(x)[0], -1)
    right = _reached(lambda x: backward(x.flip(1))[0].flip(1), 1)
    return (
        Sees("BERT", WORDS, "one reader sees both sides of [MASK]", (bert,)),
        Sees("GPT", WORDS, "one reader sees what is before", (gpt,)),
        Sees("ELMo", WORDS, "two readers, each of one side, joined only at the end", (left, right)),
    )


def _reached(layer: Callable[[Tensor], Tensor], read: int) -> tuple[tuple[bool, ...], ...]:
    """Return which words move the guess at each position, which is read so many places on."""
    count = len(WORDS)
    x = torch.randn(1, count, _SIZE, generator=torch.Generator().manual_seed(1))
    moved = torch.autograd.functional.jacobian(layer, x)
    seen = (moved[0, :, :, 0].abs().amax((1, 3)) > 0).tolist()  # (T, T): of y by x
    places = [row + read for row in range(count)]
    return tuple(
        tuple(0 <= at < count and seen[at][column] and column != row for column in range(count))
        for row, at in enumerate(places)
    )

"""Where each head looks, averaged over many texts: plain numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """Where every head looks on average over a set of texts.

    Every array is (L, H): layer, head of the unpruned model; a head that was pruned holds NaN.
    A share lies between 0 and 1: of the attention that a token gives away (which is 1 in all), how
    much goes to the named place. Every token of every text counts once as the one that looks,
    [CLS] and [SEP] included, so long texts weigh more; pairs are read as pairs. Places overlap
    (the previous token may be [CLS] or a comma), so the shares of a head do not sum to 1. The
    measures are those of Clark et al. 2019, "What Does BERT Look At?", section 3.

    Attributes:
        to_previous: to the token before it; the first token has none and does not count.
        to_next: to the token after it; the last token has none and does not count.
        to_itself: to the same token, itself.
        to_repeats: to the other places where the same piece stands; only tokens count that have
            such a place, and never the added [CLS] and [SEP].
        to_cls: to the added [CLS].
        to_sep: to the added [SEP], both of them in a pair.
        to_punctuation: to pieces of the text that are punctuation.
        entropy: spread of the attention in bits; 0 is one token alone.
        entropy_limit: what `entropy` would be if every token looked at all alike, in bits: the mean
            of log2(T).
        texts: how many inputs were read, pairs included.
        pairs: how many of them are pairs.
        tokens: how many tokens looked, the added ones included.
        repeats: how many of them have another place with the same piece.
        truncated: tokens that did not fit the model's longest input and were left out.
        text_sha256: of the texts, see `text_digest`; 64 hexadecimal digits.
        weights_sha256: of the model's weights; "" where they come from no folder.
        vocabulary_sha256: of its vocabulary file; "" where it comes from no folder.
    """

    to_previous: Shares
    to_next: Shares
    to_itself: Shares
    to_repeats: Shares
    to_cls: Shares
    to_sep: Shares
    to_punctuation: Shares
    entropy: Shares
    entropy_limit: float
    texts: int
    pairs: int
    tokens: int
    repeats: int
    truncated: int
    text_sha256: str
    weights_sha256: str = ""
    vocabulary_sha256: str = ""

    @property
    def layers(self) -> int:
        """L, the number of layers."""
        return int(self.entropy.shape[0])

    @property
    def heads(self) -> int:
        """H, the number of heads in each layer before pruning."""
        return int(self.entropy.shape[1])

"""Windows over a text that is longer than the model, and which of them reads which place.

Neighbouring windows overlap, so most places are held by several. Each place, a token or a stretch
of tokens, is read by one: the window in which its distance to the nearest cut is greatest, the
earlier one of equals. The beginning and the end of the text are no cuts, because nothing is missing
there. (The reference implementation of BERT asks the same of the first token of an answer alone,
and so takes the ends of answers from a window that may break off right behind them.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bert_core.text.encoding import Encoding, Span, window_bounds
from bert_core.text.tokenizer import BertTokenizer

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Windows:
    """A text of N tokens, or the second one of a pair, as inputs of the model.

    Attributes:
        inputs: one input or several overlapping ones, in the order of the text.
        bounds: for each the first token of the text that it holds and the one after its last.
    """

    inputs: Sequence[Encoding]
    bounds: Sequence[Span]

    @property
    def shared(self) -> int:
        """How many tokens neighbours share; 0 for a single input."""
        return self.bounds[0][1] - self.bounds[1][0] if len(self.bounds) > 1 else 0


def cut_windows(
    tokenizer: BertTokenizer, whole: Encoding, *, fits: int, size: int, stride: int
) -> Windows:
    """Cut an input that is too long into windows; one that fits is left whole.

    Args:
        tokenizer: that made the encoding.
        whole: a text, or a pair of which the second text is cut.
        fits: the most tokens of an input that is not cut, [CLS] and [SEP] included.
        size: the most tokens of a window, likewise.
        stride: how many tokens of the text neighbours share.

    Raises:
        InputError: no window would move forward.
    """
    held = len(whole) - first_of_text(whole) - 1  # [SEP] ends every input
    if len(whole) <= fits:
        return Windows((whole,), ((0, held),))
    inputs = tokenizer.encode_windows(whole.text, whole.text_pair, max_length=size, stride=stride)
    room = size - first_of_text(whole) - 1
    return Windows(inputs, window_bounds(held, size=room, stride=stride))


def first_of_text(encoding: Encoding) -> int:
    """Return the position in every window of the first token of the text that is cut."""
    return 1 if encoding.text_pair is None else encoding.token_type_ids.index(1)


def readers(bounds: Sequence[Span], longest: int = 1) -> tuple[Numbers, Numbers]:
    """Choose for every stretch of a text the window that reads it, by the rule of this module.

    Row i, column d of what is returned is the stretch from token i to token i + d.

    Args:
        bounds: first token of each window and the one after its last, covering the N tokens of the
            text without a gap.
        longest: tokens of the longest stretch, M.

    Returns:
        (N, M) the number of the window; -1 where no window holds the stretch whole.
        (N, M) the distance to the nearest cut there; N where there is no cut, -1 as before.

    >>> readers([(0, 4), (2, 6)])[0].ravel().tolist()
    [0, 0, 0, 1, 1, 1]
    """
    tokens = bounds[-1][1]
    number = np.full((tokens, longest), -1, dtype=np.int32)
    room = np.full((tokens, longest), -1, dtype=np.int32)
    for window, (first, end) in enumerate(bounds):
        left = np.arange(end - first, dtype=np.int32)[:, None]  # (n, 1)
        right = left[::-1] - np.arange(longest, dtype=np.int32)  # (n, M); below 0: not held whole
        nearest = np.minimum(left if first else tokens, right if end < tokens else tokens)
        here = np.where(right < 0, -1, nearest)
        better = here > room[first:end]
        np.copyto(number[first:end], window, where=better)
        np.copyto(room[first:end], here, where=better)
    return number, room

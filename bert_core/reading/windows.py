"""Cut a text that is too long for the model into windows, and choose which window reads what.

Neighbouring windows overlap, so several windows may contain the same token or stretch of tokens.
Each is read by exactly one: the window in which it is farthest from the nearest cut, the earlier
one in a tie. The start and end of the text are not cuts, because no context is missing there. (The
reference implementation of BERT applies this rule only to the first token of an answer, so the
window it uses may be cut right after the answer's end.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bert_core.text.batches import TextTokenizer
from bert_core.text.encoding import Encoding, Span, window_bounds

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Windows:
    """A text of N tokens, or the second text of a pair, as model inputs."""

    inputs: Annotated[Sequence[Encoding], "one or several overlapping ones, in text order"]
    bounds: Annotated[Sequence[Span], "first text token of each input, and that after its last"]

    @property
    def shared(self) -> int:
        """Number of tokens that neighbours share; 0 for a single input."""
        return self.bounds[0][1] - self.bounds[1][0] if len(self.bounds) > 1 else 0


def cut_windows(
    tokenizer: TextTokenizer, whole: Encoding, *, fits: int, size: int, stride: int
) -> Windows:
    """Cut an input into windows if it is too long.

    Args:
        tokenizer: the tokenizer that made the encoding.
        whole: a text, or a pair whose second text is cut.
        fits: maximum tokens of an uncut input, including [CLS] and [SEP].
        size: maximum tokens of a window, including [CLS] and [SEP].
        stride: number of text tokens that neighbours share.

    Raises:
        InputError: the windows would not advance.
    """
    held = len(whole) - first_of_text(whole) - 1  # [SEP] ends every input
    if len(whole) <= fits:
        return Windows((whole,), ((0, held),))
    inputs = tokenizer.encode_windows(whole.text, whole.text_pair, max_length=size, stride=stride)
    room = size - first_of_text(whole) - 1
    return Windows(inputs, window_bounds(held, size=room, stride=stride))


def first_of_text(encoding: Encoding) -> int:
    """Return the position, in every window, of the first token of the text being cut."""
    if encoding.text_pair is None:
        return 1
    return len(encoding) - 1 - encoding.sequence_ids.count(1)  # one added token ends it


def readers(bounds: Sequence[Span], longest: int = 1) -> tuple[Numbers, Numbers]:
    """Choose the window that reads each stretch of a text; see the module docstring for the rule.

    Row i, column d of the results is the stretch from token i to token i + d.

    Args:
        bounds: first token of each window and the index after its last, covering the N tokens of
            the text without gaps.
        longest: M, the length of the longest stretch in tokens.

    Returns:
        (N, M) number of the window; -1 where no window contains the whole stretch.
        (N, M) distance to the nearest cut in that window; N where there is no cut, -1 as above.

    >>> readers([(0, 4), (2, 6)])[0].ravel().tolist()
    [0, 0, 0, 1, 1, 1]
    """
    tokens = bounds[-1][1]
    number = np.full((tokens, longest), -1, dtype=np.int32)
    room = np.full((tokens, longest), -1, dtype=np.int32)
    for window, (first, end) in enumerate(bounds):
        left = np.arange(end - first, dtype=np.int32)[:, None]  # (n, 1)
        right = left[::-1] - np.arange(longest, dtype=np.int32)  # (n, M); < 0: not contained
        nearest = np.minimum(left if first else tokens, right if end < tokens else tokens)
        here = np.where(right < 0, -1, nearest)
        better = here > room[first:end]
        np.copyto(number[first:end], window, where=better)
        np.copyto(room[first:end], here, where=better)
    return number, room

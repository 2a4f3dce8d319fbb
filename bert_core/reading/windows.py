"""Cut a text that is too long for the model into windows, and choose which window reads what.

A token or stretch that several windows contain is read by the one in which it is farthest from the
nearest cut, the earlier one in a tie. The start and end of the text are not cuts. (BERT's reference
implementation applies this rule only to the first token of an answer.)
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
    """Cut a text, or the second of a pair, into windows of `size` tokens unless it `fits`.

    Both count [CLS] and [SEP]; neighbours share `stride` tokens of the text.
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

    `bounds` has the first token of each window and the index after its last. Row i, column d of the
    results is the stretch from token i to token i + d: (N, `longest`) number of the window, and
    distance to the nearest cut in it (N where there is none); -1 where no window contains the whole
    stretch.

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

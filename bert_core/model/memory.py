"""Large blocks of memory, used again instead of given back and fetched anew.

The attention probabilities of six layers of 512 tokens take 75 MB. Fresh memory of that size
comes from the system in pages of 4 kB, each of them cleared first: that took a quarter of the
pass, and several times the pass where a virtual machine had to ask its host for it. Blocks from
here come in large pages, and return when nobody holds a view of them any more.
"""

import math
import weakref
from collections import deque

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_SMALL = 2**18  # numbers; for less the ordinary allocator is quicker
_STEP = 2**19
"""Blocks hold a multiple of this many numbers, 2 MiB, so that texts of about the same length
serve each other; on Linux that is also one large page."""


class Blocks:
    """A bounded store of blocks that nobody uses at the moment, safe in any number of threads.

    Args:
        keep: unused blocks kept at most; the one unused for longest goes back to the system.
    """

    def __init__(self, keep: int) -> None:
        # No lock: a block may return while the garbage collector interrupts any line of ours,
        # and a deque takes and gives its ends in one step.
        self._free: deque[NDArray[np.float32]] = deque(maxlen=keep)

    def empty(self, shape: tuple[int, ...]) -> Tensor:
        """Return float32 memory on the CPU whose values are whatever was there before."""
        size = math.prod(shape)
        if size < _SMALL:
            return torch.empty(shape)
        block = self._fitting(size)
        if block is None:
            # numpy asks the system for large pages, PyTorch would not.
            block = np.empty(-(-size // _STEP) * _STEP, dtype=np.float32)
        # Every view of the memory, a tensor's or an array's, holds this one array. (Views of
        # the block itself would hold the block.)
        root = np.frombuffer(block.data, dtype=np.float32, count=size)
        weakref.finalize(root, self._free.append, block).atexit = False
        return torch.from_numpy(root.reshape(shape))

    def _fitting(self, size: int) -> NDArray[np.float32] | None:
        """Take an unused block that is large enough and not much too large."""
        for _ in range(len(self._free)):
            try:
                block = self._free.popleft()
            except IndexError:  # another thread took the last one
                return None
            if size <= block.size < 2 * size + _STEP:
                return block
            self._free.append(block)
        return None

    def __len__(self) -> int:
        """Unused blocks at the moment."""
        return len(self._free)


BLOCKS = Blocks(keep=24)
"""Two passes of BERT's base size: 24 layers, 302 MB at 512 tokens."""

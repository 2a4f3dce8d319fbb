"""Large blocks of memory, used again instead of given back and fetched anew.

The attention probabilities of six layers of 512 tokens take 75 MB. Fresh memory of that size
comes from the system in pages of 4 kB, each of them cleared first: that took a quarter of the
pass, and several times the pass where a virtual machine had to ask its host for it. Blocks from
here come in large pages, and return when nobody holds a view of them any more.
"""

import math
import mmap
import weakref
from collections import deque

import numpy as np
import torch
from torch import Tensor

_SMALL = 2**20  # bytes; below this the ordinary allocator is quicker
_ITEM = 4  # bytes of a float32


class Blocks:
    """A bounded store of blocks that nobody uses at the moment, safe in any number of threads.

    Args:
        keep: unused blocks kept at most; the one unused for longest goes back to the system.
    """

    def __init__(self, keep: int) -> None:
        # No lock: a block may return while the garbage collector interrupts any line of ours,
        # and a deque takes and gives its ends in one step.
        self._free: deque[mmap.mmap] = deque(maxlen=keep)

    def empty(self, shape: tuple[int, ...]) -> Tensor:
        """Return float32 memory on the CPU whose values are whatever was there before."""
        size = math.prod(shape) * _ITEM
        if size < _SMALL:
            return torch.empty(shape)
        block = self._fitting(size) or _fetch(size)
        root = np.frombuffer(block, dtype=np.float32, count=size // _ITEM)
        # Every view of the memory, a tensor's or an array's, holds this one array.
        weakref.finalize(root, self._free.append, block).atexit = False
        return torch.from_numpy(root.reshape(shape))

    def _fitting(self, size: int) -> mmap.mmap | None:
        """Take an unused block that is large enough and not twice too large."""
        for _ in range(len(self._free)):
            try:
                block = self._free.popleft()
            except IndexError:  # another thread took the last one
                return None
            if size <= len(block) < 2 * size:
                return block
            self._free.append(block)
        return None

    def __len__(self) -> int:
        """Unused blocks at the moment."""
        return len(self._free)


def _fetch(size: int) -> mmap.mmap:
    """Ask the system for a block, in large pages where it has them."""
    block = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            block.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a kernel built without them
            return block
    return block


BLOCKS = Blocks(keep=12)
"""One pass of BERT's base size: 12 layers, 151 MB at 512 tokens."""

"""The four places of a layer where an analysis reads or replaces what was computed.

An `Edit` is called with (site, layer number) and the tensor, and what it returns is used instead:

    "head"           the heads' contexts, softmax(...) V, side by side, (B, T, H * K)
    "attention"      what attention adds to its input, before dropout, (B, T, D)
    "feed_forward"   what feed-forward adds to its input, before dropout, (B, T, D)
    "layer"          the layer's output, (B, T, D)
"""

from collections.abc import Callable

from torch import Tensor

SITES = ("head", "attention", "feed_forward", "layer")
Site = tuple[str, int]
"""A name from the table above and a layer number, from 0: ("head", 3)."""
Edit = Callable[[Site, Tensor], Tensor]
"""What an analysis passes: (site, tensor) -> the tensor to use."""
LayerEdit = Callable[[str, Tensor], Tensor]
"""The same within one layer, which does not know its number: (name, tensor) -> the tensor."""


def unchanged(site: str, tensor: Tensor) -> Tensor:
    """Return a tensor as it is: the edit of a plain forward pass."""
    return tensor


def in_layer(edit: Edit, number: int) -> LayerEdit:
    """Return an edit that adds the number of a layer to the name of the site."""
    return lambda site, tensor: edit((site, number), tensor)

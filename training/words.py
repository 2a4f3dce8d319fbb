"""Tell content words from function words."""

import torch
from torch import Tensor

_SMALL = (
    "a about above after again against all almost along already also although always am among "
    "an and another any are as at away be became because become been before behind being "
    "below between both but by can could did do does doing don done down during each either "
    "else enough ever every few for from further get gets getting got had has have having he "
    "her here hers herself him himself his how however i if in into is isn it its itself just "
    "least less ll m many may me might mine more most much must my myself near neither never "
    "no nor not now of off often on once one only onto or other others our ours ourselves out "
    "over own per perhaps quite rather re s same shall she should since so some still such t "
    "than that the their theirs them themselves then there these they this those though "
    "through thus to too toward towards under until up upon us ve very was we well were what "
    "when where whether which while who whom whose why will with within without would yet you "
    "your yours yourself"
)
FUNCTION_WORDS = frozenset(_SMALL.split())


def content_pieces(vocab: dict[str, int]) -> Tensor:
    """Return (V,) bool: whether a piece begins a content word.

    >>> content_pieces({"the": 0, "dog": 1, "##s": 2, ".": 3, "7": 4}).tolist()
    [False, True, False, False, False]
    """
    found = torch.zeros(max(vocab.values()) + 1, dtype=torch.bool)
    for token, index in vocab.items():
        found[index] = len(token) > 1 and token.isalpha() and token not in FUNCTION_WORDS
    return found

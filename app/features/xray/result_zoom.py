"""One head, and one number of it, in the model as it is switched."""

from dataclasses import dataclass
from typing import Annotated

from app.records.results import CellArithmetic


@dataclass(frozen=True, slots=True)
class HeadNote:
    """What one head does in the text."""

    name: Annotated[str, "its pattern, see `bert_core.analysis.head_statistics.HeadName`"]
    score: Annotated[float, "the share of attention that gave the name"]


@dataclass(frozen=True, slots=True, eq=False)
class CellPath:
    """One number of a head, and what comes of it."""

    arithmetic: Annotated[CellArithmetic, "from query and key to the number"]
    value: Annotated[float, "length of the value vector of the piece that is looked at"]
    added: Annotated[
        float, "length of what this cell adds to the piece that looks, after the output projection"
    ]
    head: Annotated[float, "length of what the whole head adds to this piece"]
    block: Annotated[float, "length of what all heads together add to it, with the biases"]

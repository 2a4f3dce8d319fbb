"""One head, and one number of it, in the model as it is switched."""

from dataclasses import dataclass

from app.records.results import CellArithmetic


@dataclass(frozen=True, slots=True)
class HeadNote:
    """What one head does in the text.

    Attributes:
        name: its pattern, see `bert_core.analysis.head_statistics.HeadName`.
        score: the share of attention that gave the name.
    """

    name: str
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class CellPath:
    """One number of a head, and what comes of it.

    Attributes:
        arithmetic: from query and key to the number.
        value: length of the value vector of the piece that is looked at.
        added: length of what this cell adds to the piece that looks, after the output projection.
        head: length of what the whole head adds to this piece.
        block: length of what all heads together add to it, with the biases.
    """

    arithmetic: CellArithmetic
    value: float
    added: float
    head: float
    block: float

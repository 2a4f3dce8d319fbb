"""The result of scoring many pairs at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PairScore:
    """One pair and the model's answer.

    Attributes:
        first: the first sentence.
        second: the second one.
        follows: probability that the second follows the first.
        logits: raw scores, "follows" first.
        cut: number of tokens that were cut because the pair was too long.
        unread: whether the vocabulary cannot read some of it.
    """

    first: str
    second: str
    follows: float
    logits: tuple[float, float]
    cut: int
    unread: bool


@dataclass(frozen=True, slots=True)
class PairsResult:
    """Many pairs of sentences and the model's answers.

    Attributes:
        rows: the pairs, in order; at least one.
    """

    rows: tuple[PairScore, ...]

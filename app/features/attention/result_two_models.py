"""A head beside a head of another model."""

from dataclasses import dataclass

from app.records.two_answers import TwoAnswers


@dataclass(frozen=True, slots=True)
class TwoHeads(TwoAnswers):
    """Where a head looks, beside the most similar head of another model.

    Attributes:
        models: the names of both.
        answers: the two heads, as layer and head counted from 0.
        rows: for each part of the text, what gets most of its attention.
        overlap: the share of attention that both give to the same parts, mean over all parts.
    """

    overlap: float

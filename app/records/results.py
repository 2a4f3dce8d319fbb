"""Records shared by several results: what was not read, calibration, measures, cells of heads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from bert_core import Encoding
from bert_core.reading.unread import Unread as Unread

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cut:
    """The pieces removed by longest-first truncation, and how many were kept."""

    ANSWER: ClassVar = ("limit", "found", "lengths", "kept")

    limit: Annotated[int, "the longest input in tokens, including added special tokens"]
    found: Annotated[int, "tokens of the uncut input, including added special tokens"]
    lengths: Annotated[tuple[int, int], "pieces of the first and of the second text before cutting"]
    kept: Annotated[
        tuple[int, int], "pieces of the first and of the second text that the model read"
    ]
    lost: Annotated[
        tuple[tuple[str, ...], tuple[str, ...]],
        "the pieces taken from the end of the first and of the second text",
    ]

    @property
    def anything(self) -> bool:
        """Whether any piece was removed."""
        return self.kept != self.lengths

    @classmethod
    def of(cls, whole: Encoding, encoding: Encoding, *, limit: int) -> "Cut":
        """Compare an uncut input with the part that was kept."""
        return cls.between(whole.pieces, whole.sequence_ids, encoding.sequence_ids, limit=limit)

    @classmethod
    def between(
        cls,
        tokens: Sequence[str],
        sequence_ids: Sequence[int | None],
        kept_ids: Sequence[int | None],
        *,
        limit: int,
    ) -> "Cut":
        """Compare the whole input with the part that was kept; only ends of texts are cut.

        `sequence_ids` are 0 or 1 for each token, None for added special tokens.

        >>> cut = Cut.between(["[CLS]", "a", "b", "[SEP]"], [None, 0, 0, None],
        ...                   [None, 0, None], limit=3)
        >>> cut.kept, cut.lost
        ((1, 0), (('b',), ()))
        """
        sides = [
            tuple(token for token, side in zip(tokens, sequence_ids, strict=True) if side == which)
            for which in (0, 1)
        ]
        kept = [sum(side == which for side in kept_ids) for which in (0, 1)]
        return cls(
            limit=limit,
            found=len(tokens),
            lengths=(len(sides[0]), len(sides[1])),
            kept=(kept[0], kept[1]),
            lost=(sides[0][kept[0] :], sides[1][kept[1] :]),
        )


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entry of the vocabulary that is near a piece."""

    token: Annotated[str, "its spelling"]
    id: Annotated[int, "its row in the word table"]
    cosine: Annotated[float, "1 for the same direction"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How logits became probabilities: softmax(logits / temperature)."""

    temperature: Annotated[float, "T; 1 leaves the logits as they are"] = 1.0
    named: Annotated[
        bool, "whether the model's configuration gives it; if not, none was fitted"
    ] = False
    fitted_on: Annotated[
        str, 'the data it was fitted on, according to the configuration; "" if not given'
    ] = ""
    errors: Annotated[
        tuple[float, ...],
        "the calibration errors that were measured with it, each on other data; () if none are "
        "stored with the weights",
    ] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a head: something it may look at, or how widely it looks."""

    key: Annotated[str, "name in URLs and tables"]
    name: Annotated[str, "display name"]
    meaning: Annotated[str, "one sentence on what the number means"]
    is_share: Annotated[bool, "True for a share between 0 and 1, False for a number of bits"] = True


PLACES = (  # what is measured, by the names of `bert_core.analysis.head_statistics`
    Measure("to_previous", "Previous token", "Share of attention that goes to the token before."),
    Measure("to_next", "Next token", "Share of attention that goes to the token after."),
    Measure("to_itself", "Same token", "Share of attention that a token gives to itself."),
    Measure(
        "to_repeats",
        "Same piece elsewhere",
        "Share of attention that goes to the same piece at other places, for tokens that have one.",
    ),
    Measure("to_cls", "[CLS]", "Share of attention that goes to [CLS]."),
    Measure("to_sep", "[SEP]", "Share of attention that goes to [SEP], both of them in a pair."),
    Measure("to_punctuation", "Punctuation", "Share of attention that goes to punctuation."),
    Measure(
        "entropy",
        "Spread",
        "Entropy in bits: 0 is one token alone, each bit more is twice as many tokens looked at.",
        is_share=False,
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class CellArithmetic:
    """How one head computes one number, from the model's own query and key."""

    place: Annotated[tuple[int, int], "layer and head, both counted from 0"]
    row: Annotated[int, "position of the piece that looks"]
    column: Annotated[int, "position of the piece that is looked at"]
    tokens: Annotated[tuple[str, ...], "the pieces of the whole input"]
    query: Annotated[Floats, "(K,), of the piece that looks"]
    key: Annotated[Floats, "(K,), of the piece that is looked at"]
    scores: Annotated[
        Floats, "(T,), query times the key of every piece, divided by the square root of K"
    ]
    value: Annotated[float, "the attention in this cell, as the model computed it"]

    @property
    def products(self) -> Floats:
        """(K,), query times key, number by number."""
        return self.query * self.key

    @property
    def exponentials(self) -> NDArray[np.float64]:
        """(T,), e to the power of every score, minus the largest score."""
        scores = self.scores.astype(np.float64)
        found: NDArray[np.float64] = np.exp(scores - scores.max())
        return found

    @property
    def computed(self) -> float:
        """The softmax of the scores at this cell; equals `value` up to rounding."""
        each = self.exponentials
        return float(each[self.column] / each.sum())

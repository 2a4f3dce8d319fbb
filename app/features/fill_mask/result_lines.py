"""The guesses in many gaps, and how many are the wanted words."""

from dataclasses import dataclass

from app.records.counted import Reliability, Share
from app.records.results import Calibration


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap of one of many sentences.

    Attributes:
        line: number of its line, counted from 1.
        number: of the gap in the sentence, counted from 1.
        text: the sentence, with [MASK] for every sign of a gap.
        guess: what the model would write, before everything else.
        probability: of the guess, 0 to 1.
        wanted: the words that count as right, with a bar between them; "" for none.
        wanted_probability: of the likeliest of them; null if a gap can hold none of them.
        rank: of that word; 1 if the model expects no word more.
        right: whether the guess is one of them; null if that cannot be said.
    """

    line: int
    number: int
    text: str
    guess: str
    probability: float
    wanted: str
    wanted_probability: float | None
    rank: int | None
    right: bool | None


@dataclass(frozen=True, slots=True)
class GapsResult:
    """The guesses in many gaps.

    Attributes:
        rows: one for each gap, in order; at least one.
        share: how many guesses are the wanted word, of the gaps whose wanted word is one piece.
        reliability: how sure the model was of these guesses; null if there are none.
        calibration: how scores became probabilities.
    """

    rows: tuple[Gap, ...]
    share: Share
    reliability: Reliability | None
    calibration: Calibration

"""A run of the lab: what it starts from, and how it looked at each moment.

The lab trains in the visitor's browser (`live/lab.js`). Recorded runs are written by the same code
and read by the task (`python -m tools.lab`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

Guess = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """Something to be learned, measured with gaps in sentences that are never trained on."""

    name: Annotated[str, "as shown"]
    floor: Annotated[float, "the share right if one always says the most frequent word of the gap"]
    ceiling: Annotated[float | None, "the largest share anyone can get right; None if unknown"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the first batch."""

    pieces: Annotated[tuple[str, ...], "before hiding"]
    seen: Annotated[tuple[str, ...], "what the model sees"]
    fates: Annotated[tuple[str, ...], 'for each piece "", "masked", "replaced" or "kept"']
    segments: Annotated[tuple[int, ...], "0 or 1 for each piece"]
    follows: Annotated[bool | None, "whether the second sentence follows; None if there is one"]


@dataclass(frozen=True, slots=True)
class Start:
    """What a run starts from; nothing here changes while it trains."""

    settings: Annotated[Mapping[str, str | int | float | bool], "of the run"]
    sentences: Annotated[int, "number of sentences to train on"]
    words: Annotated[int, "number of different words"]
    vocabulary: Annotated[int, "number of pieces"]
    parameters: Annotated[int, "of the model"]
    log_v: Annotated[float, "loss of a guesser for whom all pieces are equally probable, in nats"]
    unigram: Annotated[float, "loss of a guesser who knows only how frequent each piece is"]
    phenomena: Annotated[tuple[Phenomenon, ...], "what is measured"]
    watched: Annotated[tuple[tuple[str, str], ...], "the gaps that are shown, with their answers"]
    rows: Annotated[tuple[Row, ...], "rows of the first batch"]


@dataclass(frozen=True, slots=True)
class Point:
    """How a run looked after some step."""

    step: Annotated[int, "number of steps done"]
    learning_rate: Annotated[float, "of the last step"]
    loss: Annotated[float, "mean loss of the hidden words since the last point, in nats"]
    held_out: Annotated[float, "loss of hidden words in sentences that are never trained on"]
    accuracy: Annotated[tuple[float, ...], "share of right first guesses, by phenomenon"]
    guesses: Annotated[tuple[Guess, ...], "by gap, the most probable words and probabilities"]
    next_sentence: Annotated[float | None, "loss of the second task; None if it is off"] = None

    def way(self, phenomena: tuple[Phenomenon, ...]) -> float:
        """Return the way from guessing to the best possible, 0 to 1, over all phenomena together.

        A phenomenon without a known ceiling counts up to 1.
        """
        floor = sum(each.floor for each in phenomena)
        ceiling = sum(1.0 if each.ceiling is None else each.ceiling for each in phenomena)
        return min(1.0, (sum(self.accuracy) - floor) / (ceiling - floor))


@dataclass(frozen=True, slots=True)
class LabResult:
    """One run from its start to its end."""

    start: Annotated[Start, "what it starts from"]
    points: Annotated[tuple[Point, ...], "how it looked at each moment, the newest last"]
    diverged: Annotated[str, 'why it ended early; "" if it did not']

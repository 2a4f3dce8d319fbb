"""What the lab shows: what a run starts from, what it looked like at each moment, where it is."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from app.features.lab.result_corpus import Phenomenon, Probe
from app.features.lab.result_settings import LabSettings
from bert_core.pretraining import Join

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MaskedRow:
    """One row of the first batch, as the model receives it.

    Attributes:
        pieces: before hiding.
        given: what the model sees.
        fates: for each piece "", "masked", "replaced" or "kept"; only pieces with a fate are
            predicted.
        segments: 0 or 1 for each piece.
        real: whether each piece is part of the row, not padding.
        follows: whether the second sentence follows the first; None if there is only one.
    """

    pieces: tuple[str, ...]
    given: tuple[str, ...]
    fates: tuple[str, ...]
    segments: tuple[int, ...]
    real: tuple[bool, ...]
    follows: bool | None


@dataclass(frozen=True, slots=True)
class Start:
    """What a run starts from; nothing here changes while it trains.

    Attributes:
        settings: of the run.
        sentences: number of sentences to train on.
        examples: the first of them.
        joins: the joins that made the vocabulary, in order.
        vocabulary: number of pieces.
        words: number of different words.
        rows: rows of the first batch.
        parameters: of the model.
        log_v: loss of a guesser for whom all pieces are equally probable.
        unigram: loss of a guesser who knows only how frequent each piece is.
        phenomena: what is measured, without its sentences.
        watched: the gaps that are shown while it trains.
        attended: pieces of the sentence whose attention is shown.
        shown: words whose vectors are shown.
    """

    ANSWER: ClassVar = (
        "settings", "sentences", "words", "vocabulary", "parameters", "log_v", "unigram",
        "phenomena", "watched",
    )  # fmt: skip

    settings: LabSettings
    sentences: int
    examples: tuple[str, ...]
    joins: tuple[Join, ...]
    vocabulary: int
    words: int
    rows: tuple[MaskedRow, ...]
    parameters: int
    log_v: float
    unigram: float
    phenomena: tuple[Phenomenon, ...]
    watched: tuple[Probe, ...]
    attended: tuple[str, ...]
    shown: tuple[str, ...]


Guess = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Point:
    """How a run looked after some step.

    Attributes:
        step: number of steps done.
        seconds: computing time so far.
        loss: mean loss of the masked words since the last point.
        next_sentence: the same of the second task; None if it is off.
        held_out: loss of masked words in sentences that are never trained on.
        accuracy: share of right first guesses, for each phenomenon.
        guesses: for each watched gap, the three most probable fillings and their probabilities.
        attention: (L, H, T, T) of the sentence in `Start.attended`.
        vectors: (n, 2), the vectors of `Start.shown` on two axes that turn as little as possible.
        learning_rate: of the last step.
        steps_a_second: since the last point, of computing time.
        tokens_a_second: the same.
        left: seconds of computing until the end.
    """

    ANSWER: ClassVar = (
        "step", "learning_rate", "loss", "next_sentence", "held_out", "accuracy", "guesses"
    )  # fmt: skip

    step: int
    seconds: float
    loss: float
    next_sentence: float | None
    held_out: float
    accuracy: tuple[float, ...]
    guesses: tuple[Guess, ...]
    attention: NDArray[np.float16]
    vectors: Floats
    learning_rate: float
    steps_a_second: float
    tokens_a_second: float
    left: float

    def way(self, phenomena: tuple[Phenomenon, ...]) -> float:
        """Return the way from guessing to the ceilings, 0 to 1, over all phenomena together.

        A phenomenon without a known ceiling counts up to 1.
        """
        floor = sum(each.floor for each in phenomena)
        ceiling = sum(1.0 if each.ceiling is None else each.ceiling for each in phenomena)
        return (sum(self.accuracy) - floor) / (ceiling - floor)


class State(Enum):
    """Where a lab is."""

    WAITING = "waits for its turn"
    RUNNING = "trains"
    PAUSED = "paused"
    STOPPED = "stopped, because its page was closed"
    DONE = "done"
    DIVERGED = "the loss is no longer a number"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Status:
    """A lab at one moment.

    Attributes:
        state: where it is.
        before: number of labs that are before it in line.
        says: why it failed or ended early; "" otherwise.
        watchers: number of visitors who watch it by a link.
    """

    state: State
    before: int = 0
    says: str = ""
    watchers: int = 0


@dataclass(frozen=True, slots=True)
class LabResult:
    """One run, so far or to its end.

    Attributes:
        start: what it started from.
        points: how it looked at each moment, the newest last.
        diverged: why it ended early; "" if it did not.
        python: the lines of Python that repeat it; they read the texts from "corpus.txt".
        kept: the name under which the trained model is on offer; "" if it was not to be kept.
        teacher: of a student, the loss of new sentences that its teacher has; None for others.
    """

    start: Start
    points: tuple[Point, ...]
    diverged: str
    python: str
    kept: str = ""
    teacher: float | None = None

    def at(self, step: int) -> Point:
        """Return the point that is nearest to a step."""
        return min(self.points, key=lambda point: abs(point.step - step))

    def until(self, step: int) -> "LabResult":
        """Return the run as it was after some step; its first point is always there."""
        kept = tuple(point for point in self.points if point.step <= step) or self.points[:1]
        return replace(self, points=kept, diverged="", kept="")

"""The results of the model card: what is known about a model, and what was measured on it."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Reached(Enum):
    """What a figure has reached of what was set."""

    GOAL = "goal reached"
    FLOOR = "floor reached"
    NOTHING = "not reached"
    NO_AIM = "nothing set"


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure: a share from 0 to 1, with what was to be reached.

    Attributes:
        task: what was asked.
        measured_on: which texts.
        meaning: what the share is a share of.
        share: the figure.
        low: lower end of its 95 % interval.
        high: upper end.
        cases: number of cases.
        floor: what has to be reached at least; None where nothing was set.
        goal: what was hoped for; None where nothing was set.
        chance: the share of a blind guess; None where that says nothing.
        lower_is_better: the figure counts errors.
        reached: what it reaches.
    """

    task: str
    measured_on: str
    meaning: str
    share: float
    low: float
    high: float
    cases: int
    floor: float | None
    goal: float | None
    chance: float | None
    lower_is_better: bool
    reached: Reached


@dataclass(frozen=True, slots=True)
class Lean:
    """Towards which of two words a model leans in sentences about an occupation.

    Attributes:
        occupation: which.
        log_odds: mean over the sentences, in nats; above 0 the first word is likelier.
        low: lower end of its 95 % interval.
        high: upper end.
    """

    occupation: str
    log_odds: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Leanings:
    """How one-sided a model is about occupations.

    Attributes:
        words: the two words that are compared.
        templates: how many kinds of sentences were used.
        rows: every occupation.
        skew: mean of the absolute log-odds, in nats, with its interval.
        neutral: the log-odds for a person of no occupation.
    """

    words: tuple[str, str]
    templates: int
    rows: tuple[Lean, ...]
    skew: Lean
    neutral: float


@dataclass(frozen=True, slots=True)
class ModelCardResult:
    """What stands in a model's folder besides its weights.

    Attributes:
        text: the card as it was written, front matter left out; "" where there is none.
        text_bytes: what the whole card has; more than what is shown where it is very long.
        whole: all of it is in `text`.
        figures: what was measured; () where nothing is known.
        left_out: figures beyond those.
        leanings: its bias, where that was measured.
        pictures: names and contents of its learning curves.
        verifiable: something is stored beside the weights that they can be compared with.
        problems: what stands there and cannot be read, one sentence each.
    """

    text: str
    text_bytes: int
    whole: bool
    figures: tuple[Measured, ...]
    left_out: int
    leanings: Leanings | None
    pictures: tuple[tuple[str, bytes], ...]
    verifiable: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """One file of a model: SHA-256 of its bytes as stored and as found, "" where there was none."""

    path: str
    expected: str
    found: str
    ok: bool


@dataclass(frozen=True, slots=True)
class CheckedOutput:
    """One output, computed again.

    Attributes:
        class_name: the class of the library.
        output: its name in the library.
        texts: numbers of the stored texts it was computed for, counted from 0.
        compared: how many numbers were compared.
        largest: the largest absolute value among the stored ones.
        tolerance: the largest difference that counts as the same.
        difference: the largest one found, in the output's own unit; None where it could not be
            computed.
        ok: it agrees.
    """

    class_name: str
    output: str
    texts: tuple[int, ...]
    compared: int
    largest: float
    tolerance: float
    difference: float | None
    ok: bool


@dataclass(frozen=True, slots=True)
class Verified:
    """What came out when a model's files were compared with what is stored beside them.

    Attributes:
        ok: everything agrees.
        model: whose files.
        fingerprint: that of the weights this program has loaded; the verdict is about the files.
        loaded: the files are those that were loaded.
        began: when reading them began.
        seconds: how long it took.
        files: every file that decides what the model computes.
        texts: how many stored texts were cut into tokens again.
        wrong_texts: those that were cut otherwise.
        outputs: every stored output.
        failure: why something could not be computed; "" where all could.
    """

    ok: bool
    model: str
    fingerprint: str
    loaded: bool
    began: datetime
    seconds: float
    files: tuple[CheckedFile, ...]
    texts: int
    wrong_texts: tuple[str, ...]
    outputs: tuple[CheckedOutput, ...]
    failure: str

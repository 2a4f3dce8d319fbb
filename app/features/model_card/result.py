"""The results of the model card: what is known about a model, and what was measured on it."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias
from bert_core.verification import VerificationReport


class Reached(Enum):
    """What a figure has reached of what was set."""

    GOAL = "goal reached"
    FLOOR = "floor reached"
    NOTHING = "not reached"
    NO_AIM = "nothing set"


def reached(figure: Figure) -> Reached:
    """Say what a figure has reached; a goal without the floor below it counts as neither."""
    if figure.reaches_floor is None and figure.reaches_goal is None:
        return Reached.NO_AIM
    if figure.reaches_floor is not False and figure.reaches_goal:
        return Reached.GOAL
    return Reached.FLOOR if figure.reaches_floor else Reached.NOTHING


@dataclass(frozen=True, slots=True)
class ModelCardResult:
    """What stands in a model's folder besides its weights.

    Attributes:
        text: the card as it was written, front matter left out; "" where there is none.
        text_bytes: what the whole card has; more than what is shown where it is very long.
        whole: all of it is in `text`.
        figures: what was measured; () where nothing is known.
        left_out: figures beyond those.
        bias: towards which words it leans, where that was measured.
        pictures: names and contents of its learning curves.
        verifiable: something is stored beside the weights that they can be compared with.
        problems: what stands there and cannot be read, one sentence each.
    """

    text: str
    text_bytes: int
    whole: bool
    figures: tuple[Figure, ...]
    left_out: int
    bias: Bias | None
    pictures: tuple[tuple[str, bytes], ...]
    verifiable: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """What came out when a model's files were compared with what is stored beside them.

    Attributes:
        report: everything that was compared; it names the model as visitors do.
        fingerprint: that of the weights in the files now; the verdict is about these.
        loaded: the files are those that this program has loaded.
        began: when reading them began.
        seconds: how long it took.
    """

    report: VerificationReport
    fingerprint: str
    loaded: bool
    began: datetime
    seconds: float

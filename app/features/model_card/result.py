"""The results of the model card: what is known about a model and what was measured on it."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from app.records.results import Calibration
from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias
from bert_core.verification import VerificationReport


@dataclass(frozen=True, slots=True)
class Beside:
    """One thing in which a model can differ from BERT base.

    Attributes:
        what: the thing.
        here: this model's.
        base: that of BERT base, by its authors or by Clark et al. (2019).
    """

    what: str
    here: str
    base: str


@dataclass(frozen=True, slots=True)
class ModelCardResult:
    """What a model's folder contains besides the weights.

    Attributes:
        text: the card as written, without front matter; "" if there is none.
        text_bytes: size of the whole card; a very long card is not shown in full.
        whole: whether `text` holds the whole card.
        figures: the measured figures; () if there are none.
        left_out: number of further figures that are not in `figures`.
        bias: which words the model leans towards, if measured.
        beside: this model compared with BERT base.
        verifiable: whether the folder stores something to verify the weights against.
        problems: one sentence for each file that cannot be read.
    """

    ANSWER: ClassVar = (
        "text",
        "text_bytes",
        "whole",
        "figures",
        "left_out",
        "bias",
        "beside",
        "verifiable",
        "problems",
    )

    text: str
    text_bytes: int
    whole: bool
    figures: tuple[Figure, ...]
    left_out: int
    bias: Bias | None
    beside: tuple[Beside, ...]
    verifiable: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Temperature:
    """How the percentages of one kind of answer are made.

    Attributes:
        answers: the kind of answer.
        calibration: its temperature, and what that was fitted on.
    """

    answers: str
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of comparing a model's files with the records stored alongside them.

    Attributes:
        report: everything that was compared; it uses the model's public name.
        fingerprint: fingerprint of the weights now in the files, which the verdict is about.
        loaded: whether the files are those that this program has loaded.
        began: when reading the files began.
        seconds: how long the verification took.
    """

    report: VerificationReport
    fingerprint: str
    loaded: bool
    began: datetime
    seconds: float

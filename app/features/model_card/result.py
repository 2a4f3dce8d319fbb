"""The results of the model card: what is known about a model and what was measured on it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar

from app.records.results import Calibration
from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias
from bert_core.verification import VerificationReport


@dataclass(frozen=True, slots=True)
class Beside:
    """One thing in which a model can differ from BERT base."""

    what: Annotated[str, "the thing"]
    here: Annotated[str, "this model's"]
    base: Annotated[str, "that of BERT base, by its authors or by Clark et al. (2019)"]


@dataclass(frozen=True, slots=True)
class ModelCardResult:
    """What a model's folder contains besides the weights."""

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

    text: Annotated[str, 'the card as written, without front matter; "" if there is none']
    text_bytes: Annotated[int, "size of the whole card; a very long card is not shown in full"]
    whole: Annotated[bool, "whether `text` holds the whole card"]
    figures: Annotated[tuple[Figure, ...], "the measured figures; () if there are none"]
    left_out: Annotated[int, "number of further figures that are not in `figures`"]
    bias: Annotated[Bias | None, "which words the model leans towards, if measured"]
    beside: Annotated[tuple[Beside, ...], "this model compared with BERT base"]
    verifiable: Annotated[bool, "whether the folder stores something to verify the weights against"]
    problems: Annotated[tuple[str, ...], "one sentence for each file that cannot be read"]


@dataclass(frozen=True, slots=True)
class Temperature:
    """How the percentages of one kind of answer are made."""

    answers: Annotated[str, "the kind of answer"]
    calibration: Annotated[Calibration, "its temperature, and what that was fitted on"]


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of comparing a model's files with the records stored alongside them."""

    report: Annotated[
        VerificationReport, "everything that was compared; it uses the model's public name"
    ]
    fingerprint: Annotated[
        str, "fingerprint of the weights now in the files, which the verdict is about"
    ]
    loaded: Annotated[bool, "whether the files are those that this program has loaded"]
    began: Annotated[datetime, "when reading the files began"]
    seconds: Annotated[float, "how long the verification took"]

"""Which words an answer depends on, and whether that is true to the model."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from app.records.results import Cut
from bert_core import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    Encoding,
)
from bert_core.model.pretrained import BertPreTrainedModel

Of = Literal["fill_mask", "qa", "ner", "next_sentence", "classification"]
"""The pages whose answers can be explained."""

HEADS: dict[Of, type[BertPreTrainedModel]] = {
    "fill_mask": BertForMaskedLM,
    "qa": BertForQuestionAnswering,
    "ner": BertForTokenClassification,
    "next_sentence": BertForNextSentencePrediction,
    "classification": BertForSequenceClassification,
}
"""The class whose head answers."""

Method = Literal["integrated_gradients", "occlusion", "shapley", "attention"]

METHODS: tuple[Method, ...] = Method.__args__  # type: ignore[attr-defined]
SIGNED: tuple[Method, ...] = METHODS[:3]
"""Methods whose scores say whether a word speaks for the answer or against it."""

COMPLETE: tuple[Method, ...] = ("integrated_gradients", "shapley")
"""Methods whose scores sum to what all words together change."""

LEAST = 0.005
"""The smallest fall of a probability that is not printed as 0.00."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one of the texts."""

    sequence: Annotated[int, "0 for the first text that the model reads, 1 for the second"]
    start: Annotated[int, "its first character"]
    end: Annotated[int, "the character after its last"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the input."""

    text: Annotated[str, "as typed"]
    place: Annotated[Place, "where it is"]
    pieces: Annotated[tuple[int, ...], "positions of its pieces among the tokens"]


@dataclass(frozen=True, slots=True)
class Explained:
    """The number of the answer that is explained."""

    answer: Annotated[str, "the answer, such as a word or a label"]
    own: Annotated[bool, "whether it is the model's own answer; if not, a visitor asked for it"]
    number: Annotated[str, "what the number is, in words"]
    target: Annotated[str, "the value of the parameter `target` that asks for it"]
    places: Annotated[
        tuple[Place, ...], "where the answer is in the text; () for an answer about the whole text"
    ]
    others: Annotated[tuple[str, ...], "other values of `target`"]
    named: Annotated[
        tuple[str, ...],
        "how many masks or names the text has, the likeliest reading of each; () if the answer is "
        "about the whole text",
    ]
    code: Annotated[str, "the same in Python, a `Target` of `bert_core.analysis`"]
    unit: Annotated[
        str, 'of the number and of scores with a sign: "nats" (natural logarithms), or ""'
    ]
    value: Annotated[float, "the number"]
    empty: Annotated[float, "the number when every word is hidden"]
    probability: Annotated[
        float, "probability of the answer before calibration; not a number for a score"
    ]
    calibrated: Annotated[
        float | None,
        "the same after calibration, as the page of the answer shows it; null if there is none",
    ]


@dataclass(frozen=True, slots=True)
class Story:
    """The scores that a method gives the words."""

    method: Annotated[Method, "its name"]
    scores: Annotated[
        tuple[float, ...],
        "one for each word, for methods with a sign above 0 if it speaks for the answer and below "
        "0 if against it",
    ]
    gap: Annotated[
        float | None,
        "of a method whose scores sum to `value` minus `empty`: how far they are from it, as a "
        "share of it; else null",
    ]
    steps: Annotated[int, "points of the path, or orders of the words; 0 if the method has none"]
    passes: Annotated[int, "texts that the model read for it"]


@dataclass(frozen=True, slots=True)
class Curve:
    """What happens to the probability when pieces are hidden in some order."""

    deletion: Annotated[
        tuple[float, ...], "probability without the most important 0, 10, ..., 100 % of the pieces"
    ]
    insertion: Annotated[
        tuple[float, ...], "probability with only the most important 0, 10, ..., 100 %"
    ]
    comprehensiveness: Annotated[
        float,
        "fall of the probability without the most important 10 to 50 %, averaged; higher is better",
    ]
    sufficiency: Annotated[float, "fall when only these are left; lower is better"]


@dataclass(frozen=True, slots=True)
class Check:
    """Whether scores are true to the model: pieces are hidden in their order, and at random."""

    shown: Annotated[Curve, "hidden in the order of the scores"]
    mean: Annotated[Curve, "mean of 20 random orders"]
    low: Annotated[Curve, "5 % of the random orders are lower"]
    high: Annotated[Curve, "5 % of the random orders are higher"]

    @property
    def survives(self) -> bool | None:
        """Whether the order of the scores finds what matters better than 95 % of random orders.

        None if hiding words, these or random ones, changes nothing that is printed.
        """
        fall, chance = self.shown.comprehensiveness, self.high.comprehensiveness
        return fall > chance if max(abs(fall), abs(chance)) >= LEAST else None


@dataclass(frozen=True, slots=True)
class WhyResult:
    """Which words an answer depends on, and a test of that."""

    ANSWER: ClassVar = ("model", "of", "explained", "words", "story", "check",
                        "untrained", "part", "read_as")  # fmt: skip

    model: Annotated[str, "the name of the model"]
    of: Annotated[Of, "whose answer is explained"]
    explained: Annotated[Explained, "the answer"]
    words: Annotated[tuple[Word, ...], "the words of the input"]
    story: Annotated[Story, "their scores"]
    check: Annotated[
        Check | None,
        "whether the scores are true to the model; null if that was not asked for, or of a score",
    ]
    untrained: Annotated[
        tuple[str, ...], "parameters of the head that no file supplied: the answer is noise"
    ]
    encoding: Annotated[Encoding, "the input"]
    cut: Annotated[
        Cut | None,
        "what was cut from an input that was too long; null if only a part around the answer was "
        "read, or everything",
    ]
    part: Annotated[bool, "whether the model read only the part of the text around the answer"]
    read_as: Annotated[
        tuple[str, ...], 'the signs that were read as [MASK], such as "___", without repetition'
    ] = ()

"""Which words an answer depends on, and whether that is true to the model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from app.records.results import Cut
from bert_core import Encoding

Of = Literal["fill_mask", "qa", "ner", "next_sentence", "classification"]
"""The pages whose answers can be explained."""

Method = Literal["integrated_gradients", "occlusion", "shapley", "attention"]
Operator = Literal["mask", "attention"]
"""How pieces are hidden; see `bert_core.analysis.masking`."""

METHODS: tuple[Method, ...] = Method.__args__  # type: ignore[attr-defined]
SIGNED: tuple[Method, ...] = METHODS[:3]
"""Methods whose scores say whether a word speaks for the answer or against it."""

COMPLETE: tuple[Method, ...] = ("integrated_gradients", "shapley")
"""Methods whose scores sum to what all words together change."""

LEAST = 0.005
"""The smallest fall of a probability that is not printed as 0.00."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one of the texts.

    Attributes:
        sequence: 0 for the first text that the model reads, 1 for the second.
        start: its first character.
        end: the character after its last.
    """

    sequence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the input.

    Attributes:
        text: as typed.
        place: where it is.
        pieces: positions of its pieces among the tokens.
    """

    text: str
    place: Place
    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """The number of the answer that is explained.

    Attributes:
        answer: the answer, such as a word or a label.
        own: whether it is the model's own answer; if not, a visitor asked for it.
        number: what the number is, in words.
        target: the value of the parameter `target` that asks for it.
        places: where the answer is in the text; () for an answer about the whole text.
        others: other values of `target`.
        named: how many masks or names the text has, the likeliest reading of each; () if the
            answer is about the whole text.
        code: the same in Python, a `Target` of `bert_core.analysis`.
        unit: of the number and of scores with a sign: "nats" (natural logarithms), or "".
        value: the number.
        empty: the number when every word is hidden.
        probability: probability of the answer, not calibrated; not a number for a score.
        calibrated: whether other pages show a calibrated one.
    """

    answer: str
    own: bool
    number: str
    target: str
    places: tuple[Place, ...]
    others: tuple[str, ...]
    named: tuple[str, ...]
    code: str
    unit: str
    value: float
    empty: float
    probability: float
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Story:
    """The scores that a method gives the words.

    Attributes:
        method: its name.
        scores: one for each word, for methods with a sign above 0 if it speaks for the answer and
            below 0 if against it.
        gap: of a method whose scores sum to `value` minus `empty`: how far they are from it, as a
            share of it; else null. Integrated gradients with another baseline than [MASK] sum to
            the difference from that baseline.
        steps: points of the path, or orders of the words; 0 if the method has none.
        passes: texts that the model read for it.
    """

    method: Method
    scores: tuple[float, ...]
    gap: float | None
    steps: int
    passes: int


@dataclass(frozen=True, slots=True)
class Curve:
    """What happens to the probability when pieces are hidden in some order.

    Attributes:
        deletion: probability without the most important 0, 10, ..., 100 % of the pieces.
        insertion: probability with only the most important 0, 10, ..., 100 %.
        comprehensiveness: fall of the probability without the most important 10 to 50 %, averaged;
            higher is better.
        sufficiency: fall when only these are left; lower is better.
    """

    deletion: tuple[float, ...]
    insertion: tuple[float, ...]
    comprehensiveness: float
    sufficiency: float


@dataclass(frozen=True, slots=True)
class Check:
    """Whether scores are true to the model: pieces are hidden in their order, and at random.

    Attributes:
        operator: how a piece is hidden: replaced by [MASK], or removed from attention.
        shown: hidden in the order of the scores.
        mean: mean of 20 random orders.
        low: 5 % of the random orders are lower.
        high: 5 % of the random orders are higher.
    """

    operator: Operator
    shown: Curve
    mean: Curve
    low: Curve
    high: Curve

    @property
    def survives(self) -> bool | None:
        """Whether the order of the scores finds what matters better than 95 % of random orders.

        None if hiding words, these or random ones, changes nothing that is printed.
        """
        fall, chance = self.shown.comprehensiveness, self.high.comprehensiveness
        return fall > chance if max(abs(fall), abs(chance)) >= LEAST else None


@dataclass(frozen=True, slots=True)
class WhyResult:
    """Which words an answer depends on, and a test of that.

    Attributes:
        model: the name of the model.
        of: whose answer is explained.
        explained: the answer.
        baseline: what integrated gradients compare words with.
        words: the words of the input.
        story: their scores.
        check: whether the scores are true to the model; null if that was not asked for, or of a
            score.
        untrained: parameters of the head that no file supplied: the answer is noise.
        encoding: the input.
        cut: what was cut from an input that was too long; null if only a part around the answer
            was read, or everything.
        part: whether the model read only the part of the text around the answer.
        read_as: the signs that were read as [MASK], such as "___", without repetition.
    """

    ANSWER: ClassVar = (
        "model",
        "of",
        "explained",
        "baseline",
        "words",
        "story",
        "check",
        "untrained",
        "part",
        "read_as",
    )

    model: str
    of: Of
    explained: Explained
    baseline: str
    words: tuple[Word, ...]
    story: Story
    check: Check | None
    untrained: tuple[str, ...]
    encoding: Encoding
    cut: Cut | None
    part: bool
    read_as: tuple[str, ...] = ()

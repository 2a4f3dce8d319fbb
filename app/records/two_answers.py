"""Two models asked the same: both answers, place by place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says at one place.

    Attributes:
        text: in words; "" for nothing.
        share: how probable it is, or how sure the model, 0 to 1; null where that says nothing.
    """

    text: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Both:
    """What both models say at one place.

    Attributes:
        place: the word, or the part of the text.
        first: what the first model says.
        second: what the second one says.
        differs: whether that counts as a difference; probabilities alone never do.
    """

    place: str
    first: Said
    second: Said
    differs: bool


@dataclass(frozen=True, slots=True)
class TwoAnswers:
    """The answers of two models to the same question.

    Attributes:
        models: the names of both.
        answers: what is asked above all, such as the first guess in each gap.
        rows: everything that is compared, in the order of the page.
    """

    models: tuple[str, str]
    answers: tuple[Both, ...]
    rows: tuple[Both, ...]
